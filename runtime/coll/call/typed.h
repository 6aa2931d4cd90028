/* SPDX-License-Identifier: BSD-3-Clause */
/* Data with gaps, packed and unpacked by MPI. */
#ifndef ASPEN_RUNTIME_COLL_CALL_TYPED_H
#define ASPEN_RUNTIME_COLL_CALL_TYPED_H

#include <mpi.h>

/* Pack count elements at data into bytes, or unpack them from there; `size` is
 * all that they have. As MPI_Pack_c and MPI_Unpack_c, but data may be
 * MPI_BOTTOM where the type has addresses. Errors are those of comm; they are
 * returned. Threads: any, as far as MPI may be called by them. */
int aspx_coll_pack(const void *data, MPI_Count count, MPI_Datatype type,
                   void *bytes, MPI_Count size, MPI_Comm comm);
int aspx_coll_unpack(const void *bytes, MPI_Count size, void *data,
                     MPI_Count count, MPI_Datatype type, MPI_Comm comm);

#endif
