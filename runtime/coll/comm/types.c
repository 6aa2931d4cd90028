/* SPDX-License-Identifier: BSD-3-Clause */
/* No function of MPI tells whether a type is committed, but MPI_Pack_size()
 * refuses one that is not. Its errors are those of a communicator, so it is
 * asked about our own, whose errors are returned. */
#include "config.h"

#include "types.h"

#include "runtime/mpi/handle.h"

bool aspx_coll_is_type(const struct aspx_coll_comm *comm, MPI_Datatype type)
{
    int bytes;

    if (aspx_handle_basic_size(type) > 0)
        return true;
    return aspx_handle_is(type, ASPX_HANDLE_DATATYPE) &&
           (comm->own == MPI_COMM_NULL ||
            aspx_coll_behind.MPI_Pack_size(0, type, comm->own, &bytes) ==
                MPI_SUCCESS);
}

bool aspx_coll_has_address(MPI_Datatype type)
{
    MPI_Aint low = 0, extent;

    if (aspx_handle_basic_size(type) == 0)
        aspx_coll_behind.MPI_Type_get_true_extent(type, &low, &extent);
    return low != 0;
}
