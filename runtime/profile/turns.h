/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting, told from working by the turns of MPI's progress loop: a turn that
 * polled the network, found nothing and took no longer than such turns take was
 * waiting. Seen from the one call that every turn makes, ucp_worker_progress();
 * what happens between two of them is MPI's shared memory, which says nothing,
 * and shows by the time it takes.
 *
 * Reading a clock costs as much as a poll, and what arrives soon should not be
 * delayed. So the first empty turns in a row are only counted, at what a turn
 * usually takes. */
#ifndef ASPEN_RUNTIME_PROFILE_TURNS_H
#define ASPEN_RUNTIME_PROFILE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

struct aspx_turns {
    uint32_t empty; /* in a row; no further than aspx_turns_counted + 1 */
    uint64_t mark;  /* from here on the clock has not been read */
    uint64_t end;   /* of the last empty turn */
    uint64_t idle;  /* ticks of waiting so far */
};

/* How many empty turns are only counted; at least 1. Set at start, mostly to
 * this: some 3 us. */
enum { ASPX_TURNS_COUNTED = 32 };
extern uint32_t aspx_turns_counted;

/* Learn what the clock costs. After aspx_clock_start(). */
void aspx_turns_start(uint32_t counted);

/* What a reading of the clock costs, in ticks. */
uint64_t aspx_turns_clock_cost(void);

/* What an empty turn takes, in ticks. */
uint64_t aspx_turns_usual(void);

/* The clocked turns. */
void aspx_turns_look(struct aspx_turns *t);
void aspx_turns_empty(struct aspx_turns *t);

/* Before a poll. */
static inline void aspx_turns_before(struct aspx_turns *t)
{
    if (t->empty >= aspx_turns_counted)
        aspx_turns_look(t);
}

/* Waiting is over: something was found. */
static inline void aspx_turns_found(struct aspx_turns *t)
{
    if (t->empty < aspx_turns_counted)
        t->idle += t->empty * aspx_turns_usual();
    t->empty = 0;
}

/* After it. Returns true when the clock has begun to be read. */
static inline bool aspx_turns_after(struct aspx_turns *t, unsigned found)
{
    if (found) {
        if (t->empty)
            aspx_turns_found(t);
        return false;
    }
    if (t->empty <= aspx_turns_counted)
        t->empty++;
    if (t->empty < aspx_turns_counted)
        return false;
    aspx_turns_empty(t);
    return t->empty == aspx_turns_counted;
}

/* All since the last poll was waiting: the CPU was given away, or other threads
 * polled. */
void aspx_turns_rested(struct aspx_turns *t);

/* The end of the loop. Returns the ticks of waiting, and begins anew. */
uint64_t aspx_turns_finish(struct aspx_turns *t);

#endif
