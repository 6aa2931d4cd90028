/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns counts of elements into bytes and displacements into offsets, in memory
 * that the communicator has for them, and deals a vector out to the ranks in
 * equal shares. */
#include "config.h"

#include "counts.h"

#include "runtime/mpi/handle.h"

MPI_Count aspx_coll_count(const struct aspx_coll_call *call, uint32_t rank)
{
    return call->large ? ((const MPI_Count *) call->counts)[rank]
                       : ((const int *) call->counts)[rank];
}

MPI_Aint aspx_coll_displ(const struct aspx_coll_call *call, uint32_t rank)
{
    return call->large ? ((const MPI_Aint *) call->displs)[rank]
                       : ((const int *) call->displs)[rank];
}

uint64_t aspx_coll_take_counts(const struct aspx_coll_comm *comm,
                               const struct aspx_coll_call *call, uint64_t size)
{
    uint64_t sum = 0;

    for (uint32_t r = 0; r < comm->size; r++) {
        MPI_Count count = aspx_coll_count(call, r);

        if (count < 0)
            return 0;
        comm->counts[r] = (uint64_t) count * size;
        sum += comm->counts[r];
    }
    return sum;
}

static bool lies_before(const struct aspx_coll_comm *comm,
                        const struct aspx_coll_call *call)
{
    for (uint32_t r = 0; r < comm->size; r++)
        if (aspx_coll_displ(call, r) < 0)
            return true;
    return false;
}

bool aspx_coll_take_offsets(const struct aspx_coll_comm *comm,
                            const struct aspx_coll_call *call, bool packed)
{
    size_t size = aspx_handle_basic_size(call->recv_type), at = 0;

    packed = packed || (call->displs && lies_before(comm, call));
    for (uint32_t r = 0; r < comm->size; r++) {
        comm->offsets[r] = packed || !call->displs
                               ? at
                               : (size_t) aspx_coll_displ(call, r) * size;
        at += comm->counts[r];
    }
    return packed;
}

const size_t *aspx_coll_alike(const struct aspx_coll_comm *comm, size_t bytes)
{
    for (uint32_t r = 0; r < comm->size; r++)
        comm->counts[r] = bytes;
    return comm->counts;
}

const size_t *aspx_coll_shares(const struct aspx_coll_comm *comm,
                               uint64_t bytes, size_t element_size)
{
    uint64_t elements = bytes / element_size, before = 0;

    for (uint32_t r = 0; r < comm->size; r++) {
        uint64_t to = elements * (r + 1) / comm->size;

        comm->shares[r] = (to - before) * element_size;
        before = to;
    }
    return comm->shares;
}
