/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Pack and MPI_Unpack of derived types. */
#ifndef ASPEN_RUNTIME_PACK_CALLS_H
#define ASPEN_RUNTIME_PACK_CALLS_H

/* Before MPI_Init: stand in front of MPI's in aspx_real. They are MPI's until
 * aspx_pack_is_ready(). */
void aspx_pack_calls_prepare(void);

#endif
