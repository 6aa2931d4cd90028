/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting, told from working by the turns of MPI's progress loop: a turn that
 * polled the network, found nothing and took no longer than such turns take was
 * waiting. Seen from the one call that every turn makes, ucp_worker_progress();
 * what happens between two of them is MPI's shared memory, which says nothing,
 * and shows by the time it takes.
 *
 * Reading a clock costs as much as a poll, and what arrives soon should not be
 * delayed. So the first empty turns in a row are only counted, at what a turn
 * usually takes. After them one turn in about fifty is clocked, from poll to
 * poll, and those between are measured as one stretch. A stretch that took as
 * long as its turns take was waiting; one that took longer worked and waited
 * for the rest of it as the clocked turns did that took long, in proportion. */
#ifndef ASPEN_RUNTIME_PROFILE_POLL_SAMPLER_H
#define ASPEN_RUNTIME_PROFILE_POLL_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

/* What an empty turn is. */
enum aspx_turns_phase {
    ASPX_TURNS_COUNT,   /* one of the first in a row */
    ASPX_TURNS_STRETCH, /* measured together with others */
    ASPX_TURNS_CLOCKED, /* measured by itself */
};

/* Of one loop after the other. To begin with all 0; times in ticks. */
struct aspx_turns {
    uint32_t done;  /* empty turns of this phase that are over */
    uint32_t limit; /* so many are only counted */
    enum aspx_turns_phase phase;
    bool clocked;   /* since the last finish the clock was read */
    uint64_t brief; /* turns before, in waits that were over while counting */
    uint64_t idle;  /* waiting so far, but for what was only counted */
    uint64_t mark;  /* up to here all is told; not while counting */
    uint64_t since, since_idle; /* when the clock began to be read; idle then */
    uint32_t left; /* of a stretch that the last wait did not need */
    uint32_t dice;
    uint64_t ahead; /* of a clocked turn's poll; 0: took long, or not known */
    /* Of clocked turns: the mean of those that did not take long, and by how
     * much others took longer, in polls that found nothing and elsewhere. */
    uint64_t mean, waited, worked;
};

/* How many empty turns are only counted; at least 1. Set at start, mostly to
 * this: some 4 us. */
enum { ASPX_TURNS_COUNTED = 48 };
extern uint32_t aspx_turns_counted;

/* Learn what the clock costs. After aspx_clock_start(). */
void aspx_turns_start(uint32_t counted);

/* What a reading of the clock costs, in ticks. */
uint64_t aspx_turns_clock_cost(void);

/* What an empty turn takes, in ticks. */
uint64_t aspx_turns_usual(void);

/* A number by chance, of 16 bits. */
uint32_t aspx_turns_chance(struct aspx_turns *t);

/* Waiting so far, in ticks: never less than before, until finished. */
uint64_t aspx_turns_idle(const struct aspx_turns *t);

/* Was there any? */
static inline bool aspx_turns_any(const struct aspx_turns *t)
{
    return t->done | t->clocked | t->brief;
}

/* Before a poll; and is it one of those that are clocked? */
void aspx_turns_look(struct aspx_turns *t);
static inline bool aspx_turns_clocks(const struct aspx_turns *t)
{
    return t->phase == ASPX_TURNS_CLOCKED;
}
static inline void aspx_turns_before(struct aspx_turns *t)
{
    if (aspx_turns_clocks(t))
        aspx_turns_look(t);
}

/* After it: was it one of those that are just counted? Most are. */
static inline bool aspx_turns_count(struct aspx_turns *t, unsigned found)
{
    if (found && t->phase == ASPX_TURNS_COUNT) {
        t->brief += t->done;
        t->done = 0;
        return true;
    }
    if (!found && t->done < t->limit) {
        t->done++;
        return true;
    }
    return false;
}

/* If not. Returns true when the clock was read and says that this is a long
 * wait: some 10 us since it began to be read. */
bool aspx_turns_step(struct aspx_turns *t, unsigned found);

/* All since the last poll was waiting: the CPU was given away, or other threads
 * polled. Returns as the step. */
bool aspx_turns_rested(struct aspx_turns *t);

/* The end of the loop, if it is not over. Returns as the step. */
bool aspx_turns_stop(struct aspx_turns *t);

/* Where no clock was read: how many turns were only counted. Begins anew. */
uint32_t aspx_turns_take(struct aspx_turns *t);

/* The end of the loop. Returns the ticks of waiting, and begins anew. */
uint64_t aspx_turns_finish(struct aspx_turns *t);

#endif
