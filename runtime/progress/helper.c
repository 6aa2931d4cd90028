/* SPDX-License-Identifier: BSD-3-Clause */
/* The helper's loop. Nothing outstanding: it sleeps until a call posts
 * something. Else it looks at MPI now and then, when the program is outside: 20
 * us after the last news, then after a quarter more each time, every millisecond
 * at last, which costs some 1 % of a CPU. So what comes late is late by a fourth
 * of that again, or a millisecond. Before it sleeps it naps some times, up to 50 us:
 * to wake it costs the call that does so more than many a message.
 *
 * A program that waits as soon as it has posted needs no helper, and to be woken
 * for nothing costs both of them a system call and, on a CPU that they share, two
 * switches. So after some looks in a row that found the program inside MPI the
 * helper is not to be woken: it naps for longer and longer, until it once finds
 * the program outside, with something under way.
 *
 * What a poll has moved MPI does not say, and to ask for the end of the
 * program's requests would raise their errors in the wrong place. But a poll
 * that moved data took longer than one that found nothing.
 *
 * The sleep: a call counts what it posted, then looks whether the helper
 * sleeps; the helper says that it sleeps, then looks at the count. Both in the
 * order of sequential consistency, so one sees the other. The sleep is bounded
 * all the same. */
#include "config.h"

#include "helper.h"

#include "gate.h"
#include "watch.h"

#include "runtime/futex.h"
#include "runtime/own_thread.h"
#include "runtime/profile/timing.h"

#include <ck_pr.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>

enum {
    SLEEP_US = 10000000,
    NAP_FIRST_US = 20,
    NAP_MAX_US = 1000,
    NAP_LONG_US = 200,  /* a call ends a nap as long as this */
    NAP_IDLE_US = 50,   /* with nothing under way, before it sleeps */
    IN_VAIN = 8,        /* looks in a row that found the program inside MPI */
    IDLE_NAPS = 10,     /* after those, with nothing under way */
    BUSY_NS = 3000,     /* a poll that finds nothing takes some 500 */
    POLLS_AT_ONCE = 64, /* while they are busy */
    TRIES = 100,        /* some 3 us, at the gate */
    REST_US = 5000,     /* without a permit, until it asks again; so many times */
    RESTS = 200,
    REST_LONG_US = 100000, /* after that */
};

struct aspx_helper_counts aspx_helper_counts;

static struct asp_cpuset service;
static bool confine;
static _Atomic uint32_t posts, asleep;

/* It may work while this word has this value; NULL: always. Not if barred. */
static const _Atomic int32_t *permit;
static int32_t permit_value;
static atomic_bool barred;

void aspx_helper_permit(const _Atomic int32_t *word, int32_t value)
{
    permit = word;
    permit_value = value;
    barred = false;
}

void aspx_helper_bar(void)
{
    atomic_store(&barred, true);
}

bool aspx_helper_is_permitted(void)
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
    atomic_store(&asleep, 1);
    if (atomic_load(&posts) == seen)
        aspx_futex_wait(&asleep, 1, us);
    if (atomic_exchange(&asleep, 0) == 0 && !aspx_own_thread_stopping())
        aspx_helper_counts.wakes++;
}

void aspx_helper_wake(void)
{
    atomic_fetch_add(&posts, 1);
    if (atomic_load(&asleep) && atomic_exchange(&asleep, 0))
        aspx_futex_wake(&asleep);
}

/* Any call makes progress for all. Returns whether something moved. */
static bool poll_once(void)
{
    uint64_t began = aspx_clock_ns(CLOCK_MONOTONIC);

    aspx_timing_first.ours = true; /* its caller is not who polls */
    aspx_progress_poll();
    aspx_timing_first.ours = false;
    aspx_helper_counts.polls++;
    return aspx_clock_ns(CLOCK_MONOTONIC) - began > BUSY_NS;
}

enum found { KEPT_OUT, NOTHING, MOVED };

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

static enum found look(bool news)
{
    unsigned polls = 0;
    bool moved;

    if (!get_in(news)) {
        aspx_helper_counts.kept_out++;
        return KEPT_OUT;
    }
    if (!aspx_helper_is_permitted()) { /* said by a call that has just left */
        aspx_gate_out();
        return NOTHING;
    }
    do
        moved = poll_once();
    while (moved && ++polls < POLLS_AT_ONCE && !aspx_gate_calls() &&
           aspx_helper_is_permitted());
    aspx_gate_out();
    aspx_helper_counts.busy += polls;
    return polls ? MOVED : NOTHING;
}

static void stay_on_service(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (asp_cpuset_has(&service, (unsigned) cpu))
            CPU_SET(cpu, &set);
    }
    aspx_helper_counts.confined =
        sched_setaffinity(0, sizeof(set), &set) == 0;
}

/* Between two looks. */
struct pace {
    uint32_t nap_us;
    uint32_t seen;    /* posts before the last look */
    uint32_t in_vain; /* looks in a row, IN_VAIN at most */
    uint32_t idle;    /* naps with nothing under way */
};

static bool may_be_woken(const struct pace *pace)
{
    return pace->in_vain < IN_VAIN;
}

static void lengthen(struct pace *pace)
{
    pace->nap_us += pace->nap_us / 4;
    if (pace->nap_us > NAP_MAX_US)
        pace->nap_us = NAP_MAX_US;
}

/* Nothing is under way. What ended a moment ago may soon be followed by more, and
 * who naps has not to be woken. */
static void idle(struct pace *pace, uint32_t seen)
{
    if (pace->idle++ == 0 && may_be_woken(pace))
        pace->nap_us = NAP_FIRST_US;
    if (may_be_woken(pace) ? pace->nap_us >= NAP_IDLE_US
                           : pace->idle > IDLE_NAPS) {
        doze(SLEEP_US, seen);
        return;
    }
    nap(pace->nap_us);
    lengthen(pace);
}

static void work_once(struct pace *pace, uint32_t seen)
{
    bool news = seen != pace->seen && may_be_woken(pace);
    enum found found = look(news);

    pace->idle = 0;
    pace->seen = seen;
    if (found != KEPT_OUT)
        pace->in_vain = 0;
    else if (may_be_woken(pace))
        pace->in_vain++;
    if (found == MOVED || news)
        pace->nap_us = NAP_FIRST_US;
    else
        lengthen(pace);
    if (may_be_woken(pace))
        doze(pace->nap_us, seen);
    else
        nap(pace->nap_us);
}

static void work(void)
{
    struct pace pace = {.nap_us = NAP_FIRST_US};
    uint32_t rests = 0;

    for (;;) {
        uint32_t seen = atomic_load(&posts);

        /* After the count: who asks us to stop says so, then counts. */
        if (aspx_own_thread_stopping())
            return;
        if (!aspx_helper_is_permitted()) {
            nap(rests < RESTS ? REST_US : REST_LONG_US);
            rests += rests < RESTS;
            continue;
        }
        rests = 0;
        if (atomic_load(&aspx_watch_outstanding) == 0)
            idle(&pace, seen);
        else
            work_once(&pace, seen);
    }
}

static void run(void)
{
    aspx_gate_i_am_helper();
    if (confine)
        stay_on_service();
    work();
    aspx_helper_counts.cpu_us += aspx_clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1000;
}

/* ---- start and end ------------------------------------------------------ */

static void wake_to_stop(void)
{
    atomic_store(&stops, 1);
    aspx_futex_wake(&stops);
    aspx_helper_wake();
}

int aspx_helper_start(const struct asp_cpuset *its_service)
{
    int rc;

    if (its_service) {
        service = *its_service;
        confine = true;
    }
    if (!aspx_progress_request_start())
        return EIO;
    atomic_store(&stops, 0);
    rc = aspx_own_thread_start("aspen-progress", run, wake_to_stop, NULL);
    if (rc)
        aspx_progress_request_stop();
    return rc;
}

void aspx_helper_stop(void)
{
    aspx_own_thread_stop();
    aspx_progress_request_stop();
}
