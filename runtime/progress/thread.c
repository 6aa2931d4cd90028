/* SPDX-License-Identifier: BSD-3-Clause */
/* The helper's loop. Nothing outstanding: it sleeps, in the end, until a call
 * posts something. Else it looks at MPI now and then (backoff.h), when the
 * program is outside.
 *
 * What a poll has moved MPI does not say, and to ask for the end of the
 * program's requests would raise their errors in the wrong place. But a poll
 * that moved data took longer than one that found nothing.
 *
 * The sleep: a call counts what it posted, then looks whether the helper
 * sleeps; the helper says that it sleeps, then looks at the count. One sees the
 * other (base/sleeper_fence.h). The sleep is bounded all the same. */
#include "config.h"

#include "thread.h"

#include "gate.h"
#include "backoff.h"
#include "watch.h"

#include "runtime/base/futex.h"
#include "runtime/mpi/helper_thread.h"
#include "runtime/base/sleeper_fence.h"
#include "runtime/profile/timing.h"

#include <ck_pr.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>

enum {
    SLEEP_US = 10000000,
    NAP_LONG_US = 200,  /* a call ends a nap as long as this */
    BUSY_NS = 3000,     /* a poll that finds nothing takes some 500 */
    POLLS_AT_ONCE = 64, /* while they are busy */
    TRIES = 100,        /* some 3 us, at the gate */
    REST_US = 5000, /* without a permit, until it asks again; so many times */
    RESTS = 200,
    REST_LONG_US = 100000, /* after that */
};

struct aspx_progress_counts aspx_progress_counts;

static struct asp_cpuset service;
static bool confine;
static _Atomic uint32_t posts, asleep;
static bool sleeper_fences; /* for both */
static bool many = true;    /* threads post */

/* It may work while this word has this value; NULL: always. Not if barred. */
static const _Atomic int32_t *permit;
static int32_t permit_value;
static atomic_bool barred;

void aspx_progress_thread_permit(const _Atomic int32_t *word, int32_t value)
{
    permit = word;
    permit_value = value;
    barred = false;
}

void aspx_progress_thread_disable(void)
{
    atomic_store(&barred, true);
}

bool aspx_progress_thread_is_permitted(void)
{
    if (atomic_load_explicit(&barred, memory_order_relaxed))
        return false;
    return !permit ||
           atomic_load_explicit(permit, memory_order_relaxed) == permit_value;
}

/* Without being woken, but to stop. */
static _Atomic uint32_t stops;

static void nap(uint32_t us)
{
    aspx_futex_wait(&stops, 0, us);
}

/* Sleep, unless something was posted since `seen`. */
static void doze(uint32_t us, uint32_t seen)
{
    if (us < NAP_LONG_US) {
        nap(us);
        return;
    }
    atomic_store_explicit(&asleep, 1, memory_order_relaxed);
    /* A nap is not worth a fence in all threads: who misses it waits for its
     * end, a millisecond at most. */
    aspx_fence_of_sleeper(sleeper_fences && us == SLEEP_US);
    if (atomic_load(&posts) == seen)
        aspx_futex_wait(&asleep, 1, us);
    if (atomic_exchange(&asleep, 0) == 0 && !aspx_helper_thread_stopping())
        aspx_progress_counts.wakes++;
}

/* Where a callback in the helper posts at the same time as the program one of
 * the two may be lost: that is news all the same, and both are outstanding. */
static void count_post(void)
{
    uint32_t now = atomic_load_explicit(&posts, memory_order_relaxed);

    if (many)
        atomic_fetch_add_explicit(&posts, 1, memory_order_release);
    else
        atomic_store_explicit(&posts, now + 1, memory_order_release);
}

void aspx_progress_thread_set_many(bool many_threads)
{
    many = many_threads;
}

void aspx_progress_thread_notify(void)
{
    count_post();
    aspx_fence_of_news(sleeper_fences);
    if (atomic_load_explicit(&asleep, memory_order_relaxed) &&
        atomic_exchange(&asleep, 0))
        aspx_futex_wake(&asleep);
}

/* Any call makes progress for all. Returns whether something moved. */
static bool poll_once(void)
{
    uint64_t began = aspx_clock_ns(CLOCK_MONOTONIC);

    aspx_timing_first.ours = true; /* its caller is not who polls */
    aspx_progress_poll();
    aspx_timing_first.ours = false;
    aspx_progress_counts.polls++;
    return aspx_clock_ns(CLOCK_MONOTONIC) - began > BUSY_NS;
}

/* The call that has just posted something is about to leave. */
static bool get_in(bool news)
{
    for (unsigned tries = news ? TRIES : 1; tries > 0; tries--) {
        if (aspx_gate_try())
            return true;
        ck_pr_stall();
    }
    return false;
}

static enum aspx_look look(bool news)
{
    unsigned polls = 0;
    bool moved;

    if (atomic_load(&aspx_watch_own) != 0) {
        aspx_progress_counts.held_back++;
        return ASPX_LOOK_NOTHING;
    }
    if (!get_in(news)) {
        aspx_progress_counts.kept_out++;
        return ASPX_LOOK_KEPT_OUT;
    }
    /* said by a call that has just left */
    if (!aspx_progress_thread_is_permitted() || atomic_load(&aspx_watch_own) != 0) {
        aspx_gate_out();
        return ASPX_LOOK_NOTHING;
    }
    do
        moved = poll_once();
    while (moved && ++polls < POLLS_AT_ONCE && !aspx_gate_calls() &&
           aspx_progress_thread_is_permitted());
    aspx_gate_out();
    aspx_progress_counts.busy += polls;
    return polls ? ASPX_LOOK_MOVED : ASPX_LOOK_NOTHING;
}

static void stay_on_service(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (asp_cpuset_has(&service, (unsigned) cpu))
            CPU_SET(cpu, &set);
    }
    aspx_progress_counts.confined = sched_setaffinity(0, sizeof(set), &set) == 0;
}

static void rest(const struct aspx_naps *naps, uint32_t us, uint32_t seen)
{
    if (us == ASPX_NAP_SLEEP)
        doze(SLEEP_US, seen);
    else if (aspx_naps_may_be_woken(naps))
        doze(us, seen);
    else
        nap(us);
}

static void work(void)
{
    struct aspx_naps naps = {0};
    uint32_t before = 0, rests = 0;

    for (;;) {
        uint32_t seen = atomic_load(&posts), us;
        bool news = seen != before;

        /* After the count: who asks us to stop says so, then counts. */
        if (aspx_helper_thread_stopping())
            return;
        if (!aspx_progress_thread_is_permitted()) {
            naps = (struct aspx_naps){0};
            nap(rests < RESTS ? REST_US : REST_LONG_US);
            rests += rests < RESTS;
            continue;
        }
        rests = 0;
        before = seen;
        if (atomic_load(&aspx_watch_outstanding) == 0)
            us = aspx_naps_idle(&naps, news);
        else
            us = aspx_naps_after(
                &naps, look(news && aspx_naps_may_be_woken(&naps)), news);
        rest(&naps, us, seen);
    }
}

static void run(void)
{
    aspx_timing_ignore_thread();
    aspx_gate_i_am_helper();
    if (confine)
        stay_on_service();
    work();
    aspx_progress_counts.cpu_us += aspx_clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1000;
}

/* ---- start and end ------------------------------------------------------ */

static void wake_to_stop(void)
{
    atomic_store(&stops, 1);
    aspx_futex_wake(&stops);
    aspx_progress_thread_notify();
}

int aspx_progress_thread_start(const struct asp_cpuset *its_service)
{
    int rc;

    if (its_service) {
        service = *its_service;
        confine = true;
    }
    if (!aspx_progress_request_start())
        return EIO;
    atomic_store(&stops, 0);
    sleeper_fences = aspx_fence_is_sleepers();
    rc = aspx_helper_thread_start("aspen-progress", run, wake_to_stop, NULL);
    if (rc)
        aspx_progress_request_stop();
    return rc;
}

void aspx_progress_thread_stop(void)
{
    aspx_helper_thread_stop();
    aspx_progress_request_stop();
}
