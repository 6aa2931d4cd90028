/* SPDX-License-Identifier: BSD-3-Clause */
/* What the users of a node and their leader, its first ghost, tell each other
 * behind the bells of the arena: each user its pulse, the leader what it thinks
 * of every user of the job. (The papers' level-2 cache; there is no level 1, as
 * everybody reads these bytes where they lie.) All zeros is a right beginning.
 *
 *   struct aspx_notes | seats, by user of the node | a byte by world rank */
#ifndef ASPEN_RUNTIME_ADAPT_NOTES_H
#define ASPEN_RUNTIME_ADAPT_NOTES_H

#include "trace.h"

#include "runtime/profile/pulse.h"

#include <stdatomic.h>
#include <stdint.h>

/* Who should carry out Puts and Gets for a user. */
enum aspx_view {
    ASPX_VIEW_UNSAID,
    ASPX_VIEW_GHOSTS,
    ASPX_VIEW_ITSELF,
};

typedef _Atomic unsigned char aspx_view_byte;

struct aspx_seat {
    struct aspx_pulse pulse;  /* the user writes */
    _Atomic uint32_t edition; /* of the trace; odd while it is written */
    _Atomic int32_t percent;  /* of the time in MPI, when it was last judged */
    _Atomic uint64_t since;   /* ticks of the last decision */
    struct aspx_trace trace;  /* of the byte; the user's until its pulse beats,
                                 then the leader's */
};

struct aspx_notes {
    _Alignas(64) _Atomic uint32_t interval_us; /* between two judgements, now */
    struct aspx_seat seats[];
};

static inline uint64_t aspx_notes_bytes(uint32_t nusers, uint32_t size_all)
{
    return sizeof(struct aspx_notes) + nusers * sizeof(struct aspx_seat) +
           size_all;
}

static inline aspx_view_byte *aspx_notes_views(struct aspx_notes *notes,
                                               uint32_t nusers)
{
    return (aspx_view_byte *) &notes->seats[nusers];
}

#endif
