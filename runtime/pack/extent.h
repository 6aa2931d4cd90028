/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI says of the size and the extents of a datatype. */
#ifndef ASPEN_RUNTIME_PACK_EXTENT_H
#define ASPEN_RUNTIME_PACK_EXTENT_H

#include <mpi.h>
#include <stdbool.h>

/* In bytes. */
struct aspx_extent {
    MPI_Count size, lb, extent, true_lb, true_extent;
};

/* False: MPI failed. Threads: as MPI. */
bool aspx_extent_get(MPI_Datatype type, struct aspx_extent *extent);

/* Are elements data without gaps, from their address on? */
static inline bool aspx_extent_is_dense(const struct aspx_extent *e)
{
    return e->lb == 0 && e->true_lb == 0 && e->extent == e->size &&
           e->true_extent == e->size;
}

#endif
