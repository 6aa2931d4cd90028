/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI would refuse of MPI_Alltoallv, as MPICH's checks have it. */
#include "config.h"

#include "alltoallv_args.h"

#include "runtime/coll/call/blocks.h"

#include "types.h"

/* NULL is MPI_BOTTOM, which MPICH takes for none where neither the type nor the
 * displacement has an address. */
static bool is_missing(const struct aspx_coll_blocks *blocks, uint32_t r)
{
    return !blocks->data && aspx_coll_block_count(blocks, r) > 0 &&
           aspx_coll_block_displ(blocks, r) == 0 && blocks->size > 0 &&
           !aspx_coll_has_address(blocks->type);
}

/* The bytes of all blocks; false: MPI will not have this. */
static bool add_up(const struct aspx_coll_comm *comm,
                   const struct aspx_coll_blocks *blocks, uint64_t *bytes_p)
{
    MPI_Count elements = 0;

    if (blocks->size < 0)
        return false;

    for (uint32_t r = 0; r < comm->size; r++) {
        MPI_Count count = aspx_coll_block_count(blocks, r);

        if (count < 0 || is_missing(blocks, r))
            return false;
        elements += count;
    }
    *bytes_p = (uint64_t) elements * (uint64_t) blocks->size;
    return true;
}

static bool has_arguments(const struct aspx_coll_comm *comm,
                          const struct aspx_coll_call *call)
{
    return call->send != MPI_IN_PLACE && call->recv != MPI_IN_PLACE &&
           call->send_counts && call->send_displs && call->counts &&
           call->displs && aspx_coll_is_type(comm, call->send_type) &&
           aspx_coll_is_type(comm, call->recv_type);
}

/* As MPICH sees it: one array of counts for both, not equal ones. */
static bool is_alias(const struct aspx_coll_call *call)
{
    return call->send == call->recv && call->send_type == call->recv_type &&
           call->send_counts == call->counts;
}

bool aspx_coll_alltoallv_is_right(const struct aspx_coll_comm *comm,
                                  const struct aspx_coll_call *call,
                                  struct asp_tune_args *args_p)
{
    struct aspx_coll_blocks from, to;
    uint64_t sent, received;

    if (!has_arguments(comm, call) || is_alias(call))
        return false;
    from = aspx_coll_sent(call);
    to = aspx_coll_received(call);
    if (!add_up(comm, &from, &sent) || !add_up(comm, &to, &received))
        return false;
    args_p->bytes = sent > received ? sent : received;
    return true;
}
