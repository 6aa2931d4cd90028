/* SPDX-License-Identifier: BSD-3-Clause */
/* What the generated wrappers do around a call (mpi_profile.c): each thread of
 * the program counts in a place of its own.
 *
 * The outermost call of a thread counts; calls from inside it, which callbacks
 * of the program make, are part of it. A call is inside another when its stack
 * frame lies below and the other's is still there: so one that was left by
 * longjmp() or an exception is noticed at the next.
 *
 * Two readings of the clock cost more than many a call. So most calls are only
 * counted, and one in many is timed and stands for them. What calls wait is
 * measured in each (poll_sampler.h), and one that waits long is timed from
 * where its wait began to be. */
#ifndef ASPEN_RUNTIME_PROFILE_TIMING_H
#define ASPEN_RUNTIME_PROFILE_TIMING_H

#include "poll_sampler.h"

#include "runtime/mpi/real.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* How a function is timed: column `timed` of mpi_calls.tab. */
enum aspx_timed {
    ASPX_TIMED_NOT,
    ASPX_TIMED_EACH,
    ASPX_TIMED_WAIT,
    ASPX_TIMED_SOME
};

extern const uint8_t aspx_timed[ASPX_CALLS];

/* One function in one thread; times in ticks. */
struct aspx_timing_row {
    int32_t left;          /* calls to count only; below 0: one is timed */
    uint32_t uncharged;    /* counted polls that are not in idle yet */
    int32_t sample_period; /* what left began with */
    uint64_t calls;        /* without the period under way */
    uint64_t ticks, idle;
    uint64_t usual; /* of those timed from the beginning, until seen to wait */
    uint64_t least; /* of a call that may wait, where waiting is not seen */
};

/* One thread of the program. A thread that waits yields its CPU after some
 * polls, and then finds little of its own in the caches. So one cache line
 * holds all that counting a call and its polls needs, but for the row; and for
 * the first thread the hook, too. */
struct aspx_timing_thread {
    /* The hook, of aspx_timing_first only: what a poll looks at before it knows
     * who waits, where one thread at a time is inside MPI. Not thread-local. */
    _Alignas(64) unsigned (*progress)(void *worker); /* behind ours */
    struct aspx_timing_thread *caller; /* who called last; at first this one */
    bool ours; /* a thread of ours polls; written by it alone, inside MPI */

    bool many;       /* several may be inside at once: the hook does not know */
    uintptr_t frame; /* of the call under way; 0: outside MPI */
    _Atomic uint64_t began; /* when its timing began; 0: not timed */
    struct aspx_poll_sampler sampler;
    bool sample;         /* it is timed from its beginning */
    uint64_t polls_then; /* of all threads, after its last one */
    uint64_t seen;       /* since when it was seen to wait; 0: not yet */
    uint64_t seen_idle;  /* how long it had waited before */
    _Atomic uint64_t ticks, idle;
    struct aspx_timing_thread *next; /* in the list of all */
    _Atomic bool vacant;             /* its thread has ended */
    struct aspx_timing_row row[ASPX_CALLS];
};

/* The first thread that calls, most often the only one; and the hook. */
extern struct aspx_timing_thread aspx_timing_first
    __attribute__((visibility("hidden")));

/* The frame of a thread of ours, and of aspx_timing_nobody: as if inside a call
 * that never ends. */
#define ASPX_TIMING_OURS UINTPTR_MAX

/* Stands for a thread that has not called yet, and keeps it from the quick
 * way. */
extern struct aspx_timing_thread aspx_timing_nobody
    __attribute__((visibility("hidden")));

extern _Thread_local struct aspx_timing_thread *aspx_timing_self
    __attribute__((tls_model("initial-exec")));

/* Wrappers write nothing into their frame that could overflow; and what few
 * calls need lies apart from what most do. */
#if defined(__has_attribute) && __has_attribute(no_stack_protector)
#define ASPX_TIMED_WRAPPER __attribute__((no_stack_protector))
#else
#define ASPX_TIMED_WRAPPER
#endif
#define ASPX_TIMED_APART __attribute__((noinline))

/* In the wrapper's frame. */
struct aspx_timing {
    struct aspx_timing_thread *thread; /* NULL: inside another call */
};

/* The first call of a thread, one inside another or after one that was left
 * half-way. Returns the thread, or NULL: do not count. */
struct aspx_timing_thread *aspx_timing_unusual(uintptr_t frame);

/* This call is to be timed. */
void aspx_timing_begin(struct aspx_timing_thread *thread);

/* The call is over, and was timed, or something was seen of it. */
void aspx_timing_left(struct aspx_timing_thread *thread, size_t call);

static inline bool aspx_timing_begun(const struct aspx_timing_thread *me)
{
    return atomic_load_explicit(&me->began, memory_order_relaxed);
}

/* Only count a call? An Isend of 8 B takes some 20 ns: each instruction here is
 * one per cent of it. */
static inline bool aspx_timing_skip(size_t call)
{
    struct aspx_timing_thread *me = aspx_timing_self;

    return !me->frame && --me->row[call].left >= 0;
}

/* The same of a call that may wait: enter it, if it is an outermost one of the
 * thread that called last. */
static inline __attribute__((always_inline)) bool aspx_timing_quick(
    struct aspx_timing *here, size_t call)
{
    struct aspx_timing_thread *me = aspx_timing_self;

    if (me->frame || (aspx_timing_first.caller != me && !me->many) ||
        --me->row[call].left < 0) {
        /* Where a call that was left half-way had its own, nobody is. */
        *(struct aspx_timing_thread *volatile *) &here->thread = NULL;
        return false;
    }
    me->frame = (uintptr_t) here;
    here->thread = me;
    return true;
}

static inline __attribute__((always_inline)) void aspx_timing_enter(
    struct aspx_timing *here, size_t call)
{
    struct aspx_timing_thread *me = aspx_timing_self;

    if (__builtin_expect(me->frame, 0))
        me = aspx_timing_unusual((uintptr_t) here);
    here->thread = me;
    if (!me)
        return;
    me->frame = (uintptr_t) here;
    if (!me->many)
        aspx_timing_first.caller = me;
    if (me->row[call].left > 0)
        me->row[call].left--;
    else
        aspx_timing_begin(me);
}

static inline __attribute__((always_inline)) void aspx_timing_leave(
    const struct aspx_timing *here, size_t call)
{
    struct aspx_timing_thread *me = here->thread;

    if (!me)
        return;
    if (__builtin_expect(aspx_timing_begun(me) ||
                             aspx_poll_sampler_saw_empty(&me->sampler),
                         0))
        aspx_timing_left(me, call);
    else
        me->frame = 0;
}

/* ---- the whole process --------------------------------------------------- */

/* Before the first call, or between two. Returns false when there is no room.
 *   many   several threads may be inside at once: MPI_THREAD_MULTIPLE
 *   polls  waiting is seen by MPI's polls; else a call that may wait is timed
 *          each time, and what it takes beyond the least is waiting */
bool aspx_timing_start(bool many, bool polls);

/* Count the time in which at least one thread is inside here from now on, where
 * others can see it; NULL: in memory of our own again. No thread is inside. */
struct aspx_mpi_time;
void aspx_timing_publish(struct aspx_mpi_time *to);

/* This thread is one of ours: what it calls does not count. */
void aspx_timing_ignore_thread(void);

/* NULL, or what is called after an outermost call that was timed: many are not.
 * In the thread that made it. */
extern void (*_Atomic aspx_timing_after)(void);

/* All since the last poll was waiting: this thread yielded its CPU. */
void aspx_timing_yielded(void);

/* A poll of the only thread inside MPI, in a call that counts: to hand to
 * poll_sampler.h. NULL: there is no such call. A thread of ours reads nothing
 * else of what the program's threads write: one may be on its way in. */
static inline struct aspx_timing_thread *aspx_timing_only_polls(void)
{
    struct aspx_timing_thread *me;

    if (aspx_timing_first.ours)
        return NULL;
    me = aspx_timing_first.caller;
    return me->frame ? me : NULL;
}

/* The same of this thread, one of many. */
static inline struct aspx_timing_thread *aspx_timing_polls(void)
{
    struct aspx_timing_thread *me = aspx_timing_self;

    return me->frame && me->frame != ASPX_TIMING_OURS ? me : NULL;
}

/* After a poll that is not just counted. Returns found. */
unsigned aspx_timing_step(struct aspx_timing_thread *me, unsigned found);

/* After a poll. Returns found. A waiting thread does nothing else, so each
 * instruction here delays what it waits for. */
static inline unsigned aspx_timing_after_poll(struct aspx_timing_thread *me,
                                              unsigned found)
{
    return aspx_poll_sampler_count(&me->sampler, found)
               ? found
               : aspx_timing_step(me, found);
}

/* The same among many threads: did others poll meanwhile? */
void aspx_timing_before_shared_poll(struct aspx_timing_thread *me);
unsigned aspx_timing_after_shared_poll(struct aspx_timing_thread *me,
                                       unsigned found);

/* Seconds in which at least one thread was inside MPI, the calls that are under
 * way included. Threads: any. */
double aspx_timing_inside(void);

/* All threads added up. */
struct aspx_timing_sum {
    double inside_s, idle_s;
    uint32_t threads; /* at a time, at most */
};
struct aspx_timing_sum aspx_timing_sum(void);

/* The same of one function. While no thread is inside MPI. */
struct aspx_timing_call {
    uint64_t count;
    double inside_s, idle_s;
};
struct aspx_timing_call aspx_timing_call(size_t call);

#endif
