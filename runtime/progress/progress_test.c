/* SPDX-License-Identifier: BSD-3-Clause */
/* Gate and helper under contention and without MPI: what "MPI" holds
 * here is plain memory, so that a build with -fsanitize=thread sees everybody
 * who is inside beside the helper. */
#define _GNU_SOURCE
#include "config.h"

#include "gate.h"
#include "thread.h"
#include "watch.h"

#include "runtime/mpi/helper_thread.h"
#include "runtime/mpi/progress_request.h"
#include "runtime/net/net.h"
#include "runtime/profile/timing.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

enum {
    CALLERS = 4,
    CALLS = 100000,
    YIELD_MS = 2000, /* callers yield: on a busy machine for long each time */
    ROUNDS = 300,
    LIMIT_MS = 2000, /* less than a helper sleeps that nobody wakes */
    IN_A_ROW = 64,   /* polls of the helper that move something */
    COLD_NS = 10000, /* after so long without a poll */
};

static uint64_t now_ms(void)
{
    return aspx_clock_ns(CLOCK_MONOTONIC) / 1000000;
}

static void pause_us(long us)
{
    const struct timespec pause = {us / 1000000, us % 1000000 * 1000};

    nanosleep(&pause, NULL);
}

static void work_us(uint64_t us)
{
    uint64_t until = aspx_clock_ns(CLOCK_MONOTONIC) + us * 1000;

    while (aspx_clock_ns(CLOCK_MONOTONIC) < until)
        ;
}

/* ---- MPI, as far as the helper knows it --------------------------------- */

static struct mpi {
    long cell[CALLERS]; /* plain on purpose: a caller has one, the helper all */
} mpi;

/* All relaxed: no order but the gate's may come between helper and callers. */
static _Atomic uint64_t callers_in, helpers_in, together, polls;
static uint64_t poll_us;          /* how long a poll takes */
static uint64_t cold_us;          /* and one after a nap, more */
static bool device_speaks, moves; /* it says whether a poll moves something */
static _Atomic uint64_t moved;
static long calls_seen, impolite, unsaid;

struct aspx_timing_thread aspx_timing_first;

void aspx_timing_ignore_thread(void)
{
}

static bool wanted_before;

static void more(_Atomic uint64_t *number, uint64_t by)
{
    atomic_fetch_add_explicit(number, by, memory_order_relaxed);
}

static uint64_t value(_Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static void call_in(int me)
{
    aspx_gate_enter();
    more(&callers_in, 1);
    more(&together, value(&helpers_in));
    mpi.cell[me]++;
}

static void call_out(int me)
{
    mpi.cell[me]++;
    more(&callers_in, (uint64_t) -1);
    aspx_gate_leave();
}

/* A callback of the program in the helper, which posts and waits. */
static void callback(void)
{
    aspx_gate_enter();
    mpi.cell[0]++;
    aspx_watch_add(99, false);
    aspx_gate_leave();
    aspx_gate_enter();
    aspx_watch_end(99);
    aspx_gate_leave();
    mpi.cell[0]--;
}

void aspx_net_count(void)
{
}

uint64_t aspx_net_events(void)
{
    return device_speaks ? value(&moved) : 0;
}

bool aspx_net_sees_all(void)
{
    return device_speaks;
}

void aspx_progress_poll(void)
{
    static uint64_t polled_ns;
    bool wanted = aspx_gate_calls();
    uint64_t now;

    more(&helpers_in, 1);
    unsaid += !aspx_timing_first.ours;
    more(&together, value(&callers_in));
    for (int i = 0; i < CALLERS; i++)
        more(&together, mpi.cell[i] & 1); /* after call_in, before call_out */
    callback();
    /* two polls, while the same caller waits? */
    impolite += wanted && wanted_before && calls_seen == mpi.cell[0];
    calls_seen = mpi.cell[0];
    wanted_before = wanted;
    now = aspx_clock_ns(CLOCK_MONOTONIC);
    work_us(poll_us + (now - polled_ns > COLD_NS ? cold_us : 0));
    polled_ns = aspx_clock_ns(CLOCK_MONOTONIC);
    more(&moved, moves);
    more(&helpers_in, (uint64_t) -1);
    more(&polls, 1);
}

bool aspx_progress_request_start(void)
{
    return true;
}

void aspx_progress_request_stop(void)
{
}

/* ---- the thread --------------------------------------------------------- */

atomic_bool aspx_helper_thread_stop_flag;
static pthread_t thread;
static void (*thread_work)(void), (*thread_wake)(void);

static void *run(void *unused)
{
    thread_work();
    return unused;
}

int aspx_helper_thread_start(const char *name, void (*work)(void),
                             void (*wake)(void), void (*gone)(void))
{
    (void) name;
    (void) gone;
    thread_work = work;
    thread_wake = wake;
    atomic_store(&aspx_helper_thread_stop_flag, false);
    return pthread_create(&thread, NULL, run, NULL);
}

void aspx_helper_thread_stop(void)
{
    atomic_store(&aspx_helper_thread_stop_flag, true);
    thread_wake();
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void start_helper(unsigned a_poll_us)
{
    mpi = (struct mpi){{0}};
    atomic_store(&polls, 0);
    atomic_store(&together, 0);
    poll_us = a_poll_us;
    impolite = calls_seen = unsaid = 0;
    wanted_before = false;
    assert_int_equal(aspx_progress_thread_start(NULL), 0);
}

/* What the program posts, and what ends, inside the gate as in MPI's calls. */
static void post(MPI_Request request)
{
    aspx_gate_enter();
    aspx_watch_add(request, false);
    aspx_gate_leave();
    aspx_progress_thread_notify();
}

static void end(MPI_Request request)
{
    aspx_gate_enter();
    aspx_watch_end(request);
    aspx_gate_leave();
}

/* Wait until the helper has polled once more. */
static bool polls_again(void)
{
    uint64_t before = value(&polls), until = now_ms() + LIMIT_MS;

    while (value(&polls) == before && now_ms() < until)
        pause_us(50);
    return value(&polls) != before;
}

/* ---- gate --------------------------------------------------------------- */

static uint64_t yield_until_ms;

static void yield(void)
{
    if (now_ms() < yield_until_ms)
        sched_yield();
}

static void *make_calls(void *cell)
{
    int me = (int) ((long *) cell - mpi.cell);

    for (int i = 0; i < CALLS; i++) {
        call_in(me);
        if (i % 64 == 0)
            yield();
        call_out(me);
        if (i % 16 == 0)
            yield();
    }
    return NULL;
}

static void call_from(int callers)
{
    pthread_t threads[CALLERS];

    yield_until_ms = now_ms() + YIELD_MS;
    start_helper(0);
    post(1); /* something is under way all the time */
    for (int i = 0; i < callers; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, make_calls, &mpi.cell[i]), 0);
    for (int i = 0; i < callers; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_true(polls_again());
    end(1);
    aspx_progress_thread_stop();
    assert_int_equal(value(&together), 0);
    for (int i = 0; i < callers; i++)
        assert_int_equal(mpi.cell[i], 2 * CALLS);
    assert_int_equal(atomic_load(&aspx_gate), 0);
}

static void test_helper_is_never_inside_with_a_caller(void **state)
{
    (void) state;
    call_from(1);
    call_from(CALLERS);
}

static void caller_waits_for_one_poll(void)
{
    start_helper(200);
    post(1);
    for (int i = 0; i < ROUNDS / 3; i++) {
        assert_true(polls_again()); /* in a row of 64 */
        call_in(0);
        call_out(0);
    }
    end(1);
    aspx_progress_thread_stop();
    assert_int_equal(value(&together), 0);
    assert_int_equal(impolite, 0);
    assert_int_equal(unsaid, 0);
    assert_false(aspx_timing_first.ours);
}

/* Polls that move something go on in a row, but for one caller's sake end,
 * whether the device tells of it or the time of a second poll. */
static void test_caller_waits_for_one_poll(void **state)
{
    (void) state;
    caller_waits_for_one_poll();
    device_speaks = moves = true;
    caller_waits_for_one_poll();
    device_speaks = moves = false;
}

/* A caller that finds it inside sleeps, and gets in soon after it is out. */
static struct {
    uint64_t out_ms, in_ms;
    long sleeps;
} waited;

static void *wait_long(void *unused)
{
    struct rusage usage;

    call_in(0);
    waited.in_ms = now_ms();
    call_out(0);
    getrusage(RUSAGE_THREAD, &usage);
    waited.sleeps = usage.ru_nvcsw;
    return unused;
}

static void test_nobody_waits_long_or_spins(void **state)
{
    uint64_t began = now_ms();
    pthread_t caller;

    (void) state;
    assert_true(aspx_gate_try());
    assert_int_equal(pthread_create(&caller, NULL, wait_long, NULL), 0);
    while (!aspx_gate_calls() && now_ms() - began < LIMIT_MS)
        pause_us(100);
    pause_us(300000);
    waited.out_ms = now_ms();
    aspx_gate_out();
    assert_int_equal(pthread_join(caller, NULL), 0);
    assert_true(waited.in_ms >= waited.out_ms);
    assert_true(waited.in_ms - waited.out_ms < LIMIT_MS);
    assert_true(waited.sleeps >= 5);
}

/* The helper never waits: who is inside keeps it out, however deep, until the
 * outermost call ends. */
static void test_nested_calls(void **state)
{
    (void) state;
    aspx_gate_enter();
    assert_false(aspx_gate_try());
    aspx_gate_enter();
    assert_false(aspx_gate_try());
    aspx_gate_leave();
    assert_false(aspx_gate_try());
    aspx_gate_leave();
    assert_true(aspx_gate_try());
    assert_false(aspx_gate_calls());
    assert_false(aspx_gate_try());
    aspx_gate_out();
    assert_int_equal(atomic_load(&aspx_gate), 0);
}

/* ---- helper ------------------------------------------------------------- */

/* It polls no more, but for a row of polls that it may be in the middle of, on
 * a busy machine for long; and it ends when it is asked to. */
static void rests_and_stops(void)
{
    uint64_t at_first = value(&polls), before, until = now_ms() + LIMIT_MS;

    do {
        before = value(&polls);
        pause_us(50000);
    } while (value(&polls) != before && now_ms() < until);
    assert_int_equal(value(&polls), before);
    assert_in_range(before - at_first, 0, IN_A_ROW);
    before = now_ms();
    aspx_progress_thread_stop();
    assert_true(now_ms() - before < LIMIT_MS);
}

/* A post always wakes it, and after the end it polls no more. */
static void test_helper_sleeps_and_wakes(void **state)
{
    uint64_t before;

    (void) state;
    aspx_progress_counts = (struct aspx_progress_counts){0};
    start_helper(0);
    for (int i = 0; i < ROUNDS; i++) {
        before = value(&polls);
        post(7);
        for (uint64_t until = now_ms() + LIMIT_MS; value(&polls) == before;)
            assert_true(now_ms() < until);
        end(7);
        pause_us(i % 2 ? i % 7 * 10 : 3000); /* about to sleep, or asleep */
    }
    rests_and_stops();
    assert_true(aspx_progress_counts.polls >= ROUNDS);
    assert_true(aspx_progress_counts.wakes >= ROUNDS / 8);
}

/* So often it polls in 300 ms while something is watched all the time; on a
 * busy machine they last longer, which is taken off. */
static uint64_t polls_of_a_wait(unsigned a_poll_us)
{
    uint64_t before, began;

    start_helper(a_poll_us);
    post(7);
    assert_true(polls_again());
    pause_us(20000);
    began = now_ms();
    before = value(&polls);
    pause_us(300000);
    before = (value(&polls) - before) * 300 / (now_ms() - began);
    end(7);
    aspx_progress_thread_stop();
    return before;
}

/* A poll in vain after a nap may take long, because caches are cold: naps grow
 * to a millisecond all the same where the device says that nothing has moved.
 */
static void test_naps_grow_unless_something_moves(void **state)
{
    (void) state;
    device_speaks = true;
    assert_in_range(polls_of_a_wait(5), 1, 330);
    moves = true;
    assert_true(polls_of_a_wait(0) > 330);
    moves = device_speaks = false;
#ifndef __SANITIZE_THREAD__ /* which makes each poll a long one */
    /* So is one that loses its CPU: naps begin anew some times. */
    assert_in_range(polls_of_a_wait(0), 1, 1000);
    cold_us = 10;
    assert_in_range(polls_of_a_wait(0), 1, 1000);
    cold_us = 0;
#endif
    assert_true(polls_of_a_wait(5) > 1000);
}

/* A program that is inside MPI while something is under way does not wake it
 * for long; but when it is outside it finds the helper there. */
static void test_helper_is_not_woken_in_vain(void **state)
{
    (void) state;
    aspx_progress_counts = (struct aspx_progress_counts){0};
    start_helper(0);
    for (int i = 0; i < ROUNDS; i++) {
        call_in(0);
        aspx_watch_add(7, false);
        aspx_progress_thread_notify();
        pause_us(300);
        aspx_watch_end(7);
        call_out(0);
        pause_us(2500); /* it would go to sleep */
    }
    post(7);
    assert_true(polls_again());
    end(7);
    rests_and_stops();
    assert_int_equal(value(&together), 0);
    assert_in_range(aspx_progress_counts.wakes, 0, ROUNDS / 10);
}

/* Without its permit it polls nothing, whatever is posted, and stops all the
 * same; with it, it begins without a call. */
static void test_helper_needs_its_permit(void **state)
{
    static _Atomic int32_t permit;

    (void) state;
    atomic_store(&permit, 1);
    aspx_progress_thread_permit(&permit, 2);
    start_helper(0);
    pause_us(10000); /* it rests, with nothing to work for */
    post(7);
    for (int i = 0; i < 50; i++) {
        aspx_progress_thread_notify();
        pause_us(1000);
    }
    assert_int_equal(value(&polls), 0);
    atomic_store(&permit, 2);
    for (uint64_t until = now_ms() + LIMIT_MS; value(&polls) == 0;)
        assert_true(now_ms() < until);
    atomic_store(&permit, 1);
    rests_and_stops();
    end(7);
    /* Nor ever, once it is barred. */
    aspx_progress_thread_permit(NULL, 0);
    aspx_progress_thread_disable();
    start_helper(0);
    post(7);
    pause_us(20000);
    assert_int_equal(value(&polls), 0);
    aspx_progress_thread_stop();
    end(7);
    aspx_progress_thread_permit(NULL, 0);
}

/* A test that failed may have left the gate shut. */
static int open_gate(void **state)
{
    (void) state;
    atomic_store(&aspx_gate, 0);
    return 0;
}

/* argument: the tests to run, as a pattern; all */
/* While MPI may call a function of the program it stays outside. */
static void test_helper_is_held_back(void **state)
{
    uint64_t before;

    (void) state;
    start_helper(0);
    post(1);
    assert_true(polls_again());
    aspx_gate_enter();
    aspx_watch_add(2, true);
    aspx_gate_leave();
    before = value(&polls);
    pause_us(50000);
    assert_int_equal(value(&polls), before);
    end(2);
    assert_true(polls_again());
    end(1);
    aspx_progress_thread_stop();
    assert_true(aspx_progress_counts.held_back > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_nested_calls, open_gate),
        cmocka_unit_test_setup(test_nobody_waits_long_or_spins, open_gate),
        cmocka_unit_test_setup(test_helper_is_never_inside_with_a_caller,
                               open_gate),
        cmocka_unit_test_setup(test_caller_waits_for_one_poll, open_gate),
        cmocka_unit_test_setup(test_helper_sleeps_and_wakes, open_gate),
        cmocka_unit_test_setup(test_naps_grow_unless_something_moves,
                               open_gate),
        cmocka_unit_test_setup(test_helper_is_not_woken_in_vain, open_gate),
        cmocka_unit_test_setup(test_helper_needs_its_permit, open_gate),
        cmocka_unit_test_setup(test_helper_is_held_back, open_gate),
    };

    aspx_watch_set_many(false); /* one thread at a time uses the table */
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
