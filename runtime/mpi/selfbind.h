/* SPDX-License-Identifier: BSD-3-Clause */
/* libmpich calls its own MPI_X and PMPI_X through its PLT, where our entries
 * would answer. */
#ifndef ASPEN_RUNTIME_MPI_SELFBIND_H
#define ASPEN_RUNTIME_MPI_SELFBIND_H

/* Bind libmpich's references to MPI functions to libmpich itself, as if it had
 * been linked with -Bsymbolic. Idempotent. After aspx_real_resolve(); while no
 * other thread is inside MPI. */
void aspx_selfbind(void);

#endif
