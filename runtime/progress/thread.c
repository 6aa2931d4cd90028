/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of the progress thread.
 *
 *              nothing watched,                  something watched
 *              for some naps
 *   ASLEEP <------------------- NAPPING <------> LOOKING at MPI, when the
 *      |                          ^  (a nap              program is outside
 *      +--------- a post ---------+   between two)
 *
 * Durations are rows of base/wait_table.c. Naps begin anew when a look has
 * moved something, and when something was posted.
 *
 * To be woken costs the call that posts a system call and, on a CPU that both
 * share, two switches; and a program that waits as soon as it has posted needs
 * no help. So after IN_VAIN_MAX posts or looks in a row that were in vain,
 * because the program was inside MPI or all was over, posts wake the thread no
 * more: naps go on growing, and it falls asleep only after IDLE_ROUNDS of them
 * with nothing watched. A look that finds the program outside, with something
 * watched, makes it willing again; but only one that moves something makes it
 * forget what was in vain.
 *
 * To ask for the end of the program's requests would raise their errors in the
 * wrong place, so the device's word is taken for whether a poll has moved
 * anything; where that says nothing, that the poll took long. */
#include "config.h"

#include "thread.h"

#include "gate.h"
#include "watch.h"

#include "runtime/base/await.h"
#include "runtime/mpi/helper_thread.h"
#include "runtime/mpi/progress_request.h"
#include "runtime/net/moves.h"
#include "runtime/net/net.h"
#include "runtime/profile/timing.h"

#include <ck_pr.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>

enum {
    IN_VAIN_MAX = 8,    /* in a row; then posts do not wake it */
    IDLE_ROUNDS = 10,   /* naps with nothing watched, until it sleeps */
    OFF_ROUNDS = 200,   /* short ones, without a permit: for a second */
    WOKEN_US = 200,     /* a post ends naps that are as long as this */
    POLLS_AT_ONCE = 64, /* while they move something */
    TRIES = 100,        /* some 3 us at the gate */
};

enum look { LOOK_KEPT_OUT, LOOK_NOTHING, LOOK_MOVED };

struct aspx_progress_counts aspx_progress_counts;

static struct asp_cpuset service;
static bool confine;

static _Atomic uint32_t posts; /* so many */
static struct aspx_event posted, stopping;
static bool many = true; /* threads post */

/* It may work while this word has this value (NULL: always), and is not
 * disabled. */
static const _Atomic int32_t *permit;
static int32_t permit_value;
static atomic_bool disabled;

static struct {
    struct aspx_backoff backoff;
    uint32_t in_vain; /* posts and looks in a row; IN_VAIN_MAX at most */
    uint32_t idle;    /* rounds in a row with nothing watched */
} rounds;

/* ---- may it work? --------------------------------------------------------- */

void aspx_progress_thread_permit(const _Atomic int32_t *word, int32_t value)
{
    permit = word;
    permit_value = value;
    disabled = false;
}

void aspx_progress_thread_disable(void)
{
    atomic_store(&disabled, true);
}

bool aspx_progress_thread_is_permitted(void)
{
    if (atomic_load_explicit(&disabled, memory_order_relaxed))
        return false;
    return !permit ||
           atomic_load_explicit(permit, memory_order_relaxed) == permit_value;
}

/* ---- sleeping, and being woken --------------------------------------------- */

static bool is_stopping(void *unused)
{
    (void) unused;
    return aspx_helper_thread_stopping();
}

/* Until the time is over, or the thread is to stop. */
static void nap(uint32_t us)
{
    (void) aspx_await_once(&stopping, us, is_stopping, NULL);
}

static bool is_news(void *seen)
{
    return atomic_load(&posts) != *(const uint32_t *) seen ||
           aspx_helper_thread_stopping();
}

/* The same, or until something was posted after `seen`. */
static void sleep_until_post(uint32_t us, uint32_t seen)
{
    if (aspx_await_once(&posted, us, is_news, &seen) == ASPX_WOKEN &&
        !aspx_helper_thread_stopping())
        aspx_progress_counts.wakes++;
}

/* Where a callback in the progress thread posts at the same time as the
 * program, one of the two may not be counted: the count changes all the same,
 * and both are watched. */
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
    aspx_event_notify(&posted);
}

static void wake_to_stop(void)
{
    aspx_event_notify(&stopping);
    aspx_progress_thread_notify();
}

/* ---- looking at MPI --------------------------------------------------------- */

static bool has_polled; /* in this turn */

/* A second poll only tells whether something moves: not while a caller waits.
 */
static void poll_politely(void)
{
    if (has_polled && aspx_gate_calls())
        return;
    aspx_progress_poll();
    aspx_progress_counts.polls++;
    has_polled = true;
}

/* Any call makes progress for all. Returns whether something moved. */
static bool poll_once(void)
{
    bool moved;

    has_polled = false;
    aspx_timing_first.ours = true; /* the caller of MPI is not who polls */
    moved = aspx_net_poll_moves(poll_politely, true);
    aspx_timing_first.ours = false;
    return moved;
}

/* After a post, try for some time: its call is about to leave. */
static bool get_in(bool after_post)
{
    for (unsigned tries = after_post ? TRIES : 1; tries > 0; tries--) {
        if (aspx_gate_try())
            return true;
        ck_pr_stall();
    }
    return false;
}

/* Asked inside the gate: a call that has just left may have changed it. */
static bool may_poll(void)
{
    return aspx_progress_thread_is_permitted() &&
           atomic_load(&aspx_watch_own) == 0;
}

static enum look look_at_mpi(bool after_post)
{
    unsigned busy = 0;
    bool moved;

    if (atomic_load(&aspx_watch_own) != 0) {
        aspx_progress_counts.held_back++;
        return LOOK_NOTHING;
    }
    if (!get_in(after_post)) {
        aspx_progress_counts.kept_out++;
        return LOOK_KEPT_OUT;
    }
    do {
        moved = may_poll() && poll_once();
        busy += moved;
    } while (moved && busy < POLLS_AT_ONCE && !aspx_gate_calls());
    aspx_gate_out();
    aspx_progress_counts.busy += busy;
    return busy ? LOOK_MOVED : LOOK_NOTHING;
}

/* ---- the loop ------------------------------------------------------------- */

static bool is_willing(void)
{
    return rounds.in_vain < IN_VAIN_MAX;
}

static void count_in_vain(void)
{
    rounds.in_vain += is_willing();
}

static uint32_t next_nap_us(enum aspx_waiter row)
{
    return aspx_backoff_next(&rounds.backoff, &aspx_wait_table[row], false,
                             aspx_clock_ns(CLOCK_MONOTONIC))
        .block_us;
}

static void rest_until(uint32_t us, uint32_t seen)
{
    if (is_willing() && us >= WOKEN_US)
        sleep_until_post(us, seen);
    else
        nap(us);
}

/* Something is watched. */
static void look_round(bool news, uint32_t seen)
{
    bool was_willing = is_willing(), anew = news && was_willing;

    rounds.idle = 0;
    switch (look_at_mpi(anew)) {
    case LOOK_KEPT_OUT:
        count_in_vain();
        break;
    case LOOK_NOTHING:
        rounds.in_vain -= !was_willing;
        anew |= !was_willing;
        break;
    case LOOK_MOVED:
        rounds.in_vain = 0;
        anew = true;
        break;
    }
    if (anew)
        aspx_backoff_reset(&rounds.backoff);
    rest_until(next_nap_us(ASPX_WAIT_PROGRESS), seen);
}

/* Nothing is watched. */
static void idle_round(bool news, uint32_t seen)
{
    bool begins = rounds.idle == 0, was_willing = is_willing();

    if (news && !begins) { /* posted and over since the last nap */
        count_in_vain();
        rounds.idle = 0;
    }
    rounds.idle++;
    if (was_willing && begins)
        aspx_backoff_reset(&rounds.backoff);
    if (rounds.idle > IDLE_ROUNDS)
        sleep_until_post(next_nap_us(ASPX_WAIT_PROGRESS_ASLEEP), seen);
    else
        nap(next_nap_us(was_willing ? ASPX_WAIT_PROGRESS_IDLE
                                    : ASPX_WAIT_PROGRESS));
}

/* Returns when it may work, or is to stop. */
static void await_permit(void)
{
    const struct aspx_wait_policy *row =
        &aspx_wait_table[ASPX_WAIT_PROGRESS_OFF];

    for (uint32_t i = 0;
         !aspx_progress_thread_is_permitted() && !aspx_helper_thread_stopping();
         i += i < OFF_ROUNDS) {
        rounds.in_vain = rounds.idle = 0;
        nap(i < OFF_ROUNDS ? row->first_us : row->max_us);
    }
}

static void work(void)
{
    uint32_t before = 0;

    for (;;) {
        uint32_t seen = atomic_load(&posts);
        bool news = seen != before;

        /* After the count: who asks us to stop says so, then counts. */
        if (aspx_helper_thread_stopping())
            return;
        if (!aspx_progress_thread_is_permitted()) {
            await_permit();
            continue;
        }
        before = seen;
        if (atomic_load(&aspx_watch_outstanding) == 0)
            idle_round(news, seen);
        else
            look_round(news, seen);
    }
}

static void stay_on_service(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (asp_cpuset_has(&service, (unsigned) cpu))
            CPU_SET(cpu, &set);
    }
    aspx_progress_counts.confined = sched_setaffinity(0, sizeof(set), &set) ==
                                    0;
}

static void run(void)
{
    aspx_timing_ignore_thread();
    aspx_gate_i_am_helper();
    aspx_progress_counts.threads = 1;
    if (confine)
        stay_on_service();
    work();
    aspx_progress_counts.cpu_us += aspx_clock_ns(CLOCK_THREAD_CPUTIME_ID) /
                                   1000;
}

/* ---- start and end ------------------------------------------------------ */

int aspx_progress_thread_start(const struct asp_cpuset *its_service)
{
    static bool prepared;
    int rc;

    if (its_service) {
        service = *its_service;
        confine = true;
    }
    if (!aspx_progress_request_start())
        return EIO;
    if (!prepared) { /* later, other threads may be posting */
        aspx_event_init(&posted, ASPX_EVENT_WAITER_FENCES);
        aspx_event_init(&stopping, ASPX_EVENT_BOTH_FENCE);
    }
    prepared = true;
    rounds.in_vain = rounds.idle = 0;
    aspx_net_count();
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
