/* SPDX-License-Identifier: BSD-3-Clause */
/* Three calls of MPI, whose forms with MPI_Count hold for types of any size. */
#include "config.h"

#include "extent.h"

#include "runtime/mpi/real.h"

bool aspx_extent_get(MPI_Datatype type, struct aspx_extent *e)
{
    return aspx_real.MPI_Type_size_x(type, &e->size) == MPI_SUCCESS &&
           aspx_real.MPI_Type_get_extent_x(type, &e->lb, &e->extent) ==
               MPI_SUCCESS &&
           aspx_real.MPI_Type_get_true_extent_x(type, &e->true_lb,
                                                &e->true_extent) == MPI_SUCCESS;
}
