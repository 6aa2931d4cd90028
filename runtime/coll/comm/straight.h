/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls whose decision is MPI's own choice go straight to MPI: a call with the
 * arguments of an earlier one needs no more than to be counted
 * (common/tune/decide.h, struct asp_decide_line), on all ranks alike.
 *
 *   communicator -> slot; operation, MPI_IN_PLACE, count -> place -> line
 *
 * What is compared is all that made the earlier call what it was: the counts,
 * types, operation and root, with types that are built in, whose size is in
 * their handle. Buffers must be as right as aspx_coll_is_eligible() wants them.
 *
 * Slots are static, so a look into one is never one into memory that was freed;
 * what is in a slot belongs to the calls of its communicator, which MPI orders.
 * Two communicators that share a slot: the first one has it. */
#ifndef ASPEN_RUNTIME_COLL_COMM_STRAIGHT_H
#define ASPEN_RUNTIME_COLL_COMM_STRAIGHT_H

#include "runtime/coll/call/call.h"

#include "common/coll/schedule/forms.h"
#include "common/tune/decide.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ASPX_STRAIGHT_SLOT_BITS = 5,
    ASPX_STRAIGHT_SLOTS = 1 << ASPX_STRAIGHT_SLOT_BITS,
    ASPX_STRAIGHT_CONFIG_BITS = 2, /* of the places of calls of one operation */
    ASPX_STRAIGHT_PLACES = 2 * ASP_COLL_OPS << ASPX_STRAIGHT_CONFIG_BITS,
};

/* A call. What an operation lacks is 0. */
struct aspx_straight_place {
    _Alignas(64) MPI_Count nsend; /* a line of the cache */
    MPI_Count nrecv;
    MPI_Datatype send_type, recv_type;
    MPI_Op reduction;
    int root;
    bool is_root;   /* this rank */
    MPI_Aint alias; /* aspx_coll_alias() */
    struct asp_decide_line *line;
};

/* By slot: its communicator, 0 (no handle of MPI): free; and its places, which
 * in a free slot are no call's: a program may pass 0 as a communicator. */
extern _Atomic MPI_Comm aspx_straight_comms[ASPX_STRAIGHT_SLOTS];
extern struct aspx_straight_place
    aspx_straight_places[ASPX_STRAIGHT_SLOTS * ASPX_STRAIGHT_PLACES];

static inline size_t aspx_straight_hash(MPI_Count number, int bits)
{
    return (uint32_t) number * UINT32_C(0x9e3779b1) >> (32 - bits);
}

static inline size_t aspx_straight_slot_of(MPI_Comm comm)
{
    return aspx_straight_hash(comm, ASPX_STRAIGHT_SLOT_BITS);
}

static inline __attribute__((always_inline)) struct aspx_straight_place *
aspx_straight_place_of(size_t slot, const struct aspx_coll_call *call,
                       bool in_place)
{
    size_t set = 2 * (size_t) call->op + in_place;

    return aspx_straight_places + slot * ASPX_STRAIGHT_PLACES +
           (set << ASPX_STRAIGHT_CONFIG_BITS) +
           aspx_straight_hash(call->nrecv, ASPX_STRAIGHT_CONFIG_BITS);
}

/* Is it the same call? What two sides have in common is on both. */
static inline __attribute__((always_inline)) bool aspx_straight_is(
    const struct aspx_straight_place *at, const struct aspx_coll_call *call)
{
    const struct asp_coll_form *form = &asp_coll_forms[call->op];

    if (at->nrecv != call->nrecv || at->recv_type != call->recv_type)
        return false;
    if (form->reduces
            ? at->reduction != call->reduction
            : at->nsend != call->nsend || at->send_type != call->send_type)
        return false;
    return !form->root || at->root == call->root;
}

/* NULL, or MPI_IN_PLACE, by one comparison. */
static inline bool aspx_straight_is_special(const void *buffer)
{
    _Static_assert(sizeof(uintptr_t) == sizeof(MPI_IN_PLACE), "a pointer");
    return (uintptr_t) buffer + 1 <= 1;
}

/* Are the buffers right that are about something on this rank? What is sent is
 * neither NULL nor MPI_IN_PLACE, or it is MPI_IN_PLACE on all. */
static inline __attribute__((always_inline)) bool aspx_straight_buffers(
    const struct aspx_coll_call *call, bool in_place,
    const struct aspx_straight_place *at)
{
    const struct asp_coll_form *form = &asp_coll_forms[call->op];
    bool receives = asp_coll_gets(form, at->is_root);
    bool sends = !in_place && asp_coll_gives(form, at->is_root);

    if (receives && __builtin_expect(aspx_straight_is_special(call->recv), 0))
        return false;
    if (form->root == ASP_COLL_ROOT_SENDS && sends &&
        aspx_straight_is_special(call->send))
        return false;
    return !sends || !receives ||
           (uintptr_t) call->send - (uintptr_t) call->recv !=
               (uintptr_t) at->alias;
}

static inline __attribute__((always_inline)) bool aspx_straight_count(
    const struct aspx_coll_call *call, bool in_place)
{
    size_t slot = aspx_straight_slot_of(call->comm);
    const struct aspx_straight_place *at;

    if (atomic_load_explicit(&aspx_straight_comms[slot],
                             memory_order_relaxed) != call->comm)
        return false;
    at = aspx_straight_place_of(slot, call, in_place);
    return aspx_straight_is(at, call) &&
           aspx_straight_buffers(call, in_place, at) &&
           asp_decide_pass(at->line);
}

/* May this call go straight to MPI? It is then counted. Threads: as calls of
 * its communicator. */
static inline __attribute__((always_inline)) bool aspx_goes_straight(
    const struct aspx_coll_call *call)
{
    const struct asp_coll_form *form = &asp_coll_forms[call->op];

    /* What is not the root's may be NULL where the root sends. */
    if (!form->in || form->root == ASP_COLL_ROOT_SENDS ||
        __builtin_expect(!aspx_straight_is_special(call->send), 1))
        return aspx_straight_count(call, false);
    return call->send == MPI_IN_PLACE && aspx_straight_count(call, true);
}

/* Calls like this one are of that line from now on. Nothing is kept of calls
 * with types of the program's own.
 *   rank  this rank's */
void aspx_straight_keep(const struct aspx_coll_call *call, uint32_t rank,
                        struct asp_decide_line *line);

/* Once, before there are calls. */
void aspx_straight_start(void);

/* No call of the communicator goes straight any more. Before MPI can give its
 * handle to another. */
void aspx_straight_forget(MPI_Comm comm);

#endif
