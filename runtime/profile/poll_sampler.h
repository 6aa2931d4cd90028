/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells waiting from working by the polls of MPI's progress loop.
 *
 * A poll, here, is one iteration of that loop: from one call of
 * ucp_worker_progress() to the next. It is empty if the call handled no event.
 * An empty poll that takes no longer than usual is waiting; all else is work.
 * (What arrives through MPI's shared memory is not reported by the call, but
 * shows by the time that it takes.)
 *
 * To read the clock costs as much as a poll, and would delay what arrives. So:
 *
 *   COUNTED   the first empty polls in a row; each stands for a typical poll
 *      |      (48 in a row)
 *   TIMED     one poll, with the clock read before and after its call
 *      |  ^   (after that one poll; after the batch)
 *   BATCHED   the next 32 to 63 polls, measured together
 *
 * and a poll that handled something leads back to COUNTED. A batch that took as
 * long as its polls usually take was waiting. What it took beyond that is split
 * into work and waiting like the long times in recent TIMED polls. */
#ifndef ASPEN_RUNTIME_PROFILE_POLL_SAMPLER_H
#define ASPEN_RUNTIME_PROFILE_POLL_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

enum aspx_poll_phase {
    ASPX_POLLS_COUNTED,
    ASPX_POLLS_BATCHED,
    ASPX_POLLS_TIMED,
};

/* The waits of one thread, one after the other. All 0 to begin with; all times
 * in ticks (base/clock.h). */
struct aspx_poll_sampler {
    uint32_t done;  /* empty polls of this phase that are over */
    uint32_t limit; /* of done: the next one may end the phase */
    enum aspx_poll_phase phase;
    bool clock_read;        /* since the last finish */
    uint64_t counted;       /* empty polls of counted phases that are over */
    uint64_t idle;          /* waiting so far, without what is counted only */
    uint64_t mark;          /* idle is complete up to here; not while COUNTED */
    uint64_t since;         /* when the clock began to be read, */
    uint64_t idle_at_since; /* and idle at that time */
    uint32_t batch_left;    /* of a batch that the last wait did not finish */
    uint32_t random;
    uint64_t before_call; /* of a TIMED poll: up to its call; 0: took long */
    uint64_t mean;        /* of TIMED polls that did not take long */
    uint64_t long_waited; /* time beyond that in empty calls, */
    uint64_t long_worked; /* and elsewhere; both of the last 200 us */
};

/* How many empty polls in a row are counted only; at least 1. 48 are some 4 us.
 * MPI libraries, and tests/yield.c, yield after some 30 polls. */
enum { ASPX_POLLS_COUNTED_FIRST = 48 };
extern uint32_t aspx_polls_counted_first;

/* Learn what the clock costs. After aspx_clock_start().
 *   counted_first  sets aspx_polls_counted_first */
void aspx_poll_sampler_start(uint32_t counted_first);

/* Ticks of one reading of the clock. */
uint64_t aspx_poll_sampler_clock_cost(void);

/* Ticks of a typical empty poll: the shortest measured in this process. */
uint64_t aspx_poll_sampler_typical(void);

/* A pseudo-random number of 16 bits. */
uint32_t aspx_poll_sampler_random(struct aspx_poll_sampler *sampler);

/* Ticks of waiting so far; never decreases before the finish. */
uint64_t aspx_poll_sampler_idle(const struct aspx_poll_sampler *sampler);

/* Has there been an empty poll since the last finish? */
static inline bool aspx_poll_sampler_saw_empty(
    const struct aspx_poll_sampler *sampler)
{
    return sampler->done | sampler->clock_read | sampler->counted;
}

/* Before the call of a TIMED poll. */
void aspx_poll_sampler_before_timed(struct aspx_poll_sampler *sampler);
static inline bool aspx_poll_sampler_is_timed(
    const struct aspx_poll_sampler *sampler)
{
    return sampler->phase == ASPX_POLLS_TIMED;
}

/* Before the call of any poll. */
static inline void aspx_poll_sampler_before(struct aspx_poll_sampler *sampler)
{
    if (aspx_poll_sampler_is_timed(sampler))
        aspx_poll_sampler_before_timed(sampler);
}

/* After the call, which handled so many events. Returns true if that was all:
 * most polls are only counted. Else aspx_poll_sampler_after() follows. */
static inline bool aspx_poll_sampler_count(struct aspx_poll_sampler *sampler,
                                           unsigned events)
{
    if (events && sampler->phase == ASPX_POLLS_COUNTED) {
        sampler->counted += sampler->done;
        sampler->done = 0;
        return true;
    }
    if (!events && sampler->done < sampler->limit) {
        sampler->done++;
        return true;
    }
    return false;
}

/* Returns true if the clock has been read for 10 us of this wait: it is long.
 */
bool aspx_poll_sampler_after(struct aspx_poll_sampler *sampler,
                             unsigned events);

/* The thread is about to block: time up to _yielded() is waiting, however few
 * polls came before. */
void aspx_poll_sampler_blocks(struct aspx_poll_sampler *sampler);

/* All time since the last poll was waiting: the thread yielded its CPU, or
 * other threads polled. Returns as _after(). */
bool aspx_poll_sampler_yielded(struct aspx_poll_sampler *sampler);

/* The loop has ended, but for a call of _finish(). Returns as _after(). */
bool aspx_poll_sampler_stop(struct aspx_poll_sampler *sampler);

/* Where the clock was not read: take the number of counted polls, and begin
 * anew. */
uint32_t aspx_poll_sampler_take_counted(struct aspx_poll_sampler *sampler);

/* The loop has ended. Returns the ticks of waiting, and begins anew. */
uint64_t aspx_poll_sampler_finish(struct aspx_poll_sampler *sampler);

#endif
