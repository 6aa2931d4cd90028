/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of fixed size, indexed by the communicator's handle and then by the
 * arguments. A communicator loses its slot when it is freed, before MPI may
 * give its handle away again. */
#include "config.h"

#include "straight.h"

#include "eligible.h"

#include "runtime/mpi/handle.h"

_Atomic MPI_Comm aspx_straight_comms[ASPX_STRAIGHT_SLOTS];
struct aspx_straight_place
    aspx_straight_places[ASPX_STRAIGHT_SLOTS * ASPX_STRAIGHT_PLACES];

/* Calls that nobody makes, and that never go straight. */
static void empty(size_t slot)
{
    static struct asp_decide_line none;
    struct aspx_straight_place *places = aspx_straight_places +
                                         slot * ASPX_STRAIGHT_PLACES;

    for (int i = 0; i < ASPX_STRAIGHT_PLACES; i++)
        places[i] = (struct aspx_straight_place){
            .nrecv = -1, .recv_type = MPI_DATATYPE_NULL, .line = &none};
}

/* Has the communicator its slot? It may be the first to have it. */
static bool claim(MPI_Comm comm, size_t slot)
{
    MPI_Comm there = 0;

    if (atomic_load(&aspx_straight_comms[slot]) == comm)
        return true;
    return atomic_compare_exchange_strong(&aspx_straight_comms[slot], &there,
                                          comm);
}

static bool is_basic(MPI_Datatype type)
{
    return type == 0 || aspx_handle_basic_size(type) > 0;
}

void aspx_straight_keep(const struct aspx_coll_call *call, uint32_t rank,
                        struct asp_decide_line *line)
{
    size_t slot = aspx_straight_slot_of(call->comm);

    if (asp_coll_has_counts(call->op) || !is_basic(call->send_type) ||
        !is_basic(call->recv_type) || !claim(call->comm, slot))
        return;
    *aspx_straight_place_of(
        slot, call, call->send == MPI_IN_PLACE) = (struct aspx_straight_place){
        .nsend = call->nsend,
        .nrecv = call->nrecv,
        .send_type = call->send_type,
        .recv_type = call->recv_type,
        .reduction = call->reduction,
        .root = call->root,
        .is_root = (uint32_t) call->root == rank,
        .alias = aspx_coll_alias(call, rank),
        .line = line,
    };
}

void aspx_straight_start(void)
{
    for (size_t slot = 0; slot < ASPX_STRAIGHT_SLOTS; slot++)
        empty(slot);
}

void aspx_straight_forget(MPI_Comm comm)
{
    size_t slot = aspx_straight_slot_of(comm);

    if (atomic_load(&aspx_straight_comms[slot]) != comm)
        return;
    empty(slot);
    atomic_store(&aspx_straight_comms[slot], 0);
}
