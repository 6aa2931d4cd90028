/* SPDX-License-Identifier: BSD-3-Clause */
/* The page in the arena in which the users of a node and their leader, its
 * first ghost, tell each other: each user its time in MPI and what it did, the
 * leader the target state of every user of the job. Everybody reads it where it
 * lies. It begins zeroed.
 *
 *   struct aspx_node_status_page | slots, by user of the node | target states,
 *   by world rank */
#ifndef ASPEN_RUNTIME_ADAPT_NODE_STATUS_PAGE_H
#define ASPEN_RUNTIME_ADAPT_NODE_STATUS_PAGE_H

#include "runtime/adapt/decide/decision.h"
#include "runtime/adapt/decide/workload.h"
#include "runtime/adapt/decide/trace.h"

#include "runtime/profile/mpi_time_shared.h"
#include "runtime/base/message_counts.h"

#include <stdatomic.h>
#include <stdint.h>

/* Who handles Puts and Gets to a user, and what it wishes at legal points. */
enum aspx_target_state {
    ASPX_TARGET_UNKNOWN,
    ASPX_TARGET_BY_GHOSTS,
    ASPX_TARGET_BY_ITSELF,
};

typedef _Atomic unsigned char aspx_target_byte;

/* What a user has done with windows so far, for adapt=auto: operations that its
 * target or a ghost carries out. */
struct aspx_issued {
    _Alignas(64) _Atomic uint64_t ops[ASPX_KINDS], bytes[ASPX_KINDS];
    _Atomic uint64_t redirected; /* of these, to ghosts */
    _Atomic uint64_t waits;      /* flushes and the like that had to wait */
    struct aspx_message_counts posted; /* large messages, while counted */
};

struct aspx_rank_slot {
    struct aspx_mpi_time mpi_time; /* the user writes */
    struct aspx_issued issued;     /* likewise */
    _Atomic uint32_t edition;      /* of the trace; odd while it is written */
    _Atomic int32_t percent; /* of the time in MPI, at the last decision */
    _Atomic uint64_t since;  /* ticks of the last decision */
    _Atomic uint64_t pid_namespace; /* the user's, and its pid there */
    _Atomic int32_t pid;
    struct aspx_trace trace; /* of the byte; the user's until it publishes,
                                then the leader's */
};

/* Is a user there, with a clock that can be compared with ours? */
static inline bool aspx_rank_slot_live(const struct aspx_rank_slot *slot)
{
    return atomic_load_explicit(&slot->mpi_time.clock, memory_order_acquire) ==
           aspx_mpi_time_clock();
}

/* Decisions for all ranks, on the node of the first user. */
struct aspx_shared_decisions {
    _Atomic uint32_t n, more; /* n: that can be read */
    struct aspx_decision list[ASPX_DECISIONS];
};

struct aspx_node_status_page {
    _Alignas(64) _Atomic uint32_t interval_us; /* of predictors, now */
    _Atomic int32_t order; /* enum aspx_order: in force now */
    _Atomic int32_t help;  /* enum aspx_help: likewise */
    struct aspx_shared_decisions decisions;
    struct aspx_rank_slot slots[];
};

static inline uint64_t aspx_status_page_bytes(uint32_t nusers,
                                              uint32_t size_all)
{
    return sizeof(struct aspx_node_status_page) +
           nusers * sizeof(struct aspx_rank_slot) + size_all;
}

static inline aspx_target_byte *aspx_status_page_targets(
    struct aspx_node_status_page *page, uint32_t nusers)
{
    return (aspx_target_byte *) &page->slots[nusers];
}

#endif
