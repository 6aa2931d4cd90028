/* SPDX-License-Identifier: BSD-3-Clause */
/* What is counted around calls, by a clock that the tests turn, and in threads
 * by the real one. A build with --enable-sanitizer=thread sees each missing
 * order. */
#include "config.h"

#include "runtime/base/clock.h"
#include "mpi_time_shared.h"
#include "busy_union.h"
#include "test_clock.h"
#include "timing.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <time.h>

enum { MANY = 20000 };

/* Functions of the tests, each with a row of its own. */
enum {
    EACH,
    WAITS,
    WAITS_TOO,
    SOME,
    NESTED,
    LONG,
    ODD,
    MIXED,
    SLEEPS,
    SHORT,
    BLIND,
    JUMPS,
    RHYTHM,
    BRIEF,
    BESIDE,
    SLICES
};

const uint8_t aspx_timed[ASPX_CALLS] = {
    [EACH] = ASPX_TIMED_EACH,      [WAITS] = ASPX_TIMED_WAIT,
    [WAITS_TOO] = ASPX_TIMED_WAIT, [SOME] = ASPX_TIMED_SOME,
    [NESTED] = ASPX_TIMED_EACH,    [LONG] = ASPX_TIMED_SOME,
    [ODD] = ASPX_TIMED_SOME,       [MIXED] = ASPX_TIMED_WAIT,
    [SLEEPS] = ASPX_TIMED_WAIT,    [SHORT] = ASPX_TIMED_WAIT,
    [BLIND] = ASPX_TIMED_WAIT,     [JUMPS] = ASPX_TIMED_WAIT,
    [RHYTHM] = ASPX_TIMED_SOME,    [BRIEF] = ASPX_TIMED_WAIT,
    [BESIDE] = ASPX_TIMED_SOME,    [SLICES] = ASPX_TIMED_WAIT,
};

static int turn_the_clock(void **state)
{
    (void) state;
    aspx_clock_other = turned_clock;
    return aspx_timing_start(false, true) ? 0 : -1;
}

/* A call that takes so many ns. */
static void call(size_t function, uint64_t ns)
{
    struct aspx_timing timing;

    if (aspx_timed[function] == ASPX_TIMED_SOME && aspx_timing_skip(function)) {
        now += ns;
        return;
    }
    if (aspx_timed[function] != ASPX_TIMED_WAIT ||
        !aspx_timing_quick(&timing, function))
        aspx_timing_enter(&timing, function);
    now += ns;
    aspx_timing_leave(&timing, function);
}

/* So many calls and some more, until one is timed that stands for those before.
 * Returns how many. */
static uint64_t calls(size_t function, int n, uint64_t ns)
{
    uint64_t made = 0;

    do {
        call(function, ns);
        made++;
    } while (made < (uint64_t) n ||
             aspx_timing_self->row[function].left !=
                 aspx_timing_self->row[function].sample_period);
    return made;
}

/* n polls that find nothing, with so many ns in each, and between them. */
static void poll_in_vain(int n, uint64_t in, uint64_t between)
{
    for (int i = 0; i < n; i++) {
        struct aspx_timing_thread *me = aspx_timing_only_polls();

        if (me)
            aspx_poll_sampler_before(&me->sampler);
        now += in;
        if (me)
            (void) aspx_timing_after_poll(me, 0);
        now += between;
    }
}

static void find(void)
{
    struct aspx_timing_thread *me = aspx_timing_only_polls();

    if (me) {
        aspx_poll_sampler_before(&me->sampler);
        (void) aspx_timing_after_poll(me, 1);
    }
}

static void took(size_t function, uint64_t count, double inside_us,
                 double idle_us)
{
    struct aspx_timing_call sum = aspx_timing_call(function);

    assert_int_equal(sum.count, count);
    near(1e6 * sum.inside_s, inside_us, 0.01 + 0.02 * inside_us);
    near(1e6 * sum.idle_s, idle_us, 0.01 + 0.02 * idle_us);
}

static void test_each(void **state)
{
    double before = aspx_timing_inside();

    (void) state;
    for (int i = 0; i < 100; i++)
        call(EACH, i == 50 ? 5000000 : 100);
    took(EACH, 100, 5009.9, 0);
    near(aspx_timing_inside() - before, 5009.9e-6, 1e-9);
}

static void test_some(void **state)
{
    uint64_t before = reads, made;

    (void) state;
    made = calls(SOME, MANY, 100);
    took(SOME, made, 0.1 * (double) made, 0);
    assert_in_range(reads - before, 2 * MANY / 509, 2 * (MANY / 509 + 70));
}

/* As long as calls take long, each is timed; one that was long by accident does
 * not stand for sixty. */
static void test_some_are_long(void **state)
{
    uint64_t made;
    bool was = false;

    (void) state;
    made = calls(LONG, MANY, 100);
    for (int i = 0; i < MANY; i++)
        call(LONG, 15000);
    took(LONG, made + MANY, 0.1 * (double) made + 15.0 * MANY, 0);
    for (int i = 0; i < MANY; i++) {
        bool unlucky = !was && i > 100 && aspx_timing_self->row[ODD].left == 0;

        call(ODD, unlucky ? 4000000 : 100);
        was |= unlucky;
    }
    assert_true(was);
    near(1e6 * aspx_timing_call(ODD).inside_s, 4000 + 0.1 * MANY, 300);
}

/* Whatever the program's rhythm, samples meet its long calls as often as they
 * come; and they are few. */
static void test_rhythms(void **state)
{
    double before = 0, after;

    (void) state;
    for (int period = 2; period < 12; period++) {
        uint64_t began = reads, truth = 0;

        for (int i = 0; i < 4 * MANY; i++) {
            uint64_t ns = i % period ? 1000 : 9000;

            call(RHYTHM, ns);
            truth += ns;
        }
        after = aspx_timing_call(RHYTHM).inside_s;
        near(1e9 * (after - before) / (double) truth, 1, 0.1);
        assert_true(reads - began < 2 * 4 * MANY / 6);
        before = after;
    }
}

/* Calls of callbacks are part of the call that they are in. */
static void test_nested(void **state)
{
    struct aspx_timing timing;
    double before;

    (void) state;
    now += 1000000000;
    before = aspx_timing_inside();
    aspx_timing_enter(&timing, NESTED);
    now += 1000;
    call(EACH, 500);
    call(SOME, 500);
    near(aspx_timing_inside() - before, 2e-6, 1e-9);
    now += 1000;
    aspx_timing_leave(&timing, NESTED);
    took(NESTED, 1, 3, 0);
    took(EACH, 100, 5009.9, 0);
    near(aspx_timing_inside() - before, 3e-6, 1e-9);
    now += 1000000;
    near(aspx_timing_inside() - before, 3e-6, 1e-9);
}

/* A wait is measured in each call, between polls that found nothing. */
static void test_waits(void **state)
{
    struct aspx_timing timing;
    uint64_t made;

    (void) state;
    made = calls(WAITS, 200, 200);
    aspx_timing_enter(&timing, WAITS);
    now += 500; /* this call is not timed from its beginning */
    poll_in_vain(3000, 60, 40);
    find();
    now += 700;
    aspx_timing_leave(&timing, WAITS);
    took(WAITS, made + 1, 0.2 * (double) made + 300 + 0.7, 300);
}

/* Others see how much of the time inside was work. */
static void test_published(void **state)
{
    struct aspx_mpi_time shared = {0};
    struct aspx_timing timing;
    uint64_t inside, work;

    (void) state;
    aspx_timing_publish(&shared);
    inside = aspx_mpi_time_read(&shared, now);
    work = atomic_load(&shared.work);
    call(EACH, 500);
    assert_int_equal(atomic_load(&shared.work) - work, 500);
    while (aspx_timing_self->row[SHORT].left <= 103 ||
           aspx_timing_self->row[SHORT].uncharged)
        call(SHORT, 600);
    inside = aspx_mpi_time_read(&shared, now) - 500;
    work = atomic_load(&shared.work) - 500;
    for (int i = 0; i < 103; i++) { /* counted, and known to have waited */
        assert_int_equal(atomic_load(&shared.work) - work, 500);
        aspx_timing_enter(&timing, SHORT);
        poll_in_vain(5, 60, 40);
        find();
        aspx_timing_leave(&timing, SHORT);
    }
    assert_in_range(work + 500 - atomic_load(&shared.work), 51000, 51500);
    work = atomic_load(&shared.work);
    aspx_timing_enter(&timing, EACH);
    poll_in_vain(3000, 60, 40);
    assert_int_equal(atomic_load(&shared.work), work); /* under way */
    find();
    now += 700;
    aspx_timing_leave(&timing, EACH);
    assert_in_range(atomic_load(&shared.work) - work, 600, 800);
    assert_in_range(aspx_mpi_time_read(&shared, now) - inside, 301200, 301300);
    aspx_timing_publish(NULL);
}

/* A few polls are only counted, and read no clock. */
static void test_short_waits(void **state)
{
    struct aspx_timing timing;
    uint64_t before, made, counted = 0;

    (void) state;
    made = calls(SHORT, MANY, 600);
    before = reads;
    while (aspx_timing_self->row[SHORT].left) {
        aspx_timing_enter(&timing, SHORT);
        poll_in_vain(5, 60, 40);
        find();
        now += 100;
        aspx_timing_leave(&timing, SHORT);
        counted++;
    }
    assert_int_equal(reads, before);
    /* one stands for 100 us, less by chance */
    assert_in_range(counted, 100000 / 601 / 2, 100000 / 601);
    call(SHORT, 600);
    made += counted + 1;
    took(SHORT, made, 0.6 * (double) made, 0.5 * (double) counted);
}

/* Short waits add up until they are told; others have nothing of them. */
static void test_whose_waits(void **state)
{
    struct aspx_timing timing;

    (void) state;
    for (int i = 0; i < MANY; i++) {
        call(BESIDE, 200);
        aspx_timing_enter(&timing, BRIEF);
        poll_in_vain(10, 60, 40);
        find();
        aspx_timing_leave(&timing, BRIEF);
        aspx_timing_enter(&timing, WAITS_TOO);
        poll_in_vain(1, 60, 40);
        aspx_timing_leave(&timing, WAITS_TOO);
    }
    near(1e6 * aspx_timing_call(BESIDE).idle_s, 0, 1e-9);
    near(1e6 * aspx_timing_call(WAITS_TOO).idle_s, 0.1 * MANY, 100);
    near(1e6 * aspx_timing_call(BRIEF).idle_s, MANY, 100);
    near(1e6 * aspx_timing_call(BRIEF).inside_s, MANY, 200);
}

/* A wait that is over before it is long is measured, but the call is not timed;
 * a longer one is, from where the clock began to be read. */
static void test_middling_waits(void **state)
{
    struct aspx_timing_call was = aspx_timing_call(SHORT), is;
    double inside = aspx_timing_inside();
    struct aspx_timing timing;

    (void) state;
    assert_true(aspx_timing_self->row[SHORT].left > 10);
    aspx_timing_enter(&timing, SHORT);
    poll_in_vain(50, 60, 40);
    find();
    aspx_timing_leave(&timing, SHORT);
    is = aspx_timing_call(SHORT);
    near(1e6 * (is.idle_s - was.idle_s), 5, 0.2);
    near(1e6 * (is.inside_s - was.inside_s), 0, 1e-9);
    aspx_timing_enter(&timing, SHORT);
    poll_in_vain(200 + ASPX_POLLS_COUNTED_FIRST, 60, 40);
    near(1e6 * (aspx_timing_inside() - inside), 20, 0.2);
    find();
    aspx_timing_leave(&timing, SHORT);
    is = aspx_timing_call(SHORT);
    near(1e6 * (is.idle_s - was.idle_s),
         5 + 20 + 0.1 * ASPX_POLLS_COUNTED_FIRST, 0.3);
    near(1e6 * (is.inside_s - was.inside_s), 20, 0.2);
}

/* A call that waits, whose last turn takes 4 ms, and then finds, waits in the
 * program's own way, or is over. */
static void wait_slices(int how)
{
    struct aspx_timing timing;

    aspx_timing_enter(&timing, SLICES);
    poll_in_vain(ASPX_POLLS_COUNTED_FIRST + 8, 60, 40);
    poll_in_vain(1, 4000000, 40);
    if (how == 0)
        find();
    if (how == 1)
        aspx_timing_yielded();
    aspx_timing_leave(&timing, SLICES);
}

/* Few polls may take long, where each yields the CPU: what is waited is
 * time inside, too; and not of calls that a sample stands for. */
static void test_slices(void **state)
{
    double calls_us = 0.2 * (double) calls(SLICES, 2000, 200);

    (void) state;
    for (int i = 0; i < 6; i++) {
        while (i >= 3 && aspx_timing_self->row[SLICES].left) {
            call(SLICES, 200);
            calls_us += 0.2;
        }
        wait_slices(2 - i % 3);
    }
    /* 508 times 20 us were too much, 508 times the first polls may be */
    near(1e6 * aspx_timing_call(SLICES).inside_s, calls_us + 6 * 4004, 2000);
}

/* What takes long between two polls was work; a poll that takes long gave the
 * CPU away, and so does the program's own wait. Most polls are not timed, so
 * of what happens often only the proportion is right. */
static void test_waits_and_works(void **state)
{
    struct aspx_timing timing;

    (void) state;
    aspx_timing_enter(&timing, MIXED);
    for (int i = 0; i < 20000; i++) {
        poll_in_vain(32, 60, 40);
        now += 5000; /* a message came through shared memory */
        poll_in_vain(33, 60, 40);
        poll_in_vain(1, 15000, 40);
    }
    now += 30000;
    aspx_timing_yielded();
    aspx_timing_leave(&timing, MIXED);
    near(1e6 * aspx_timing_call(MIXED).inside_s, 20000 * 26.54 + 30, 10);
    near(1e6 * aspx_timing_call(MIXED).idle_s, 20000 * 21.54 + 30, 20000);
}

/* Where polls are not seen, all beyond the shortest call is waiting. */
static void test_blind(void **state)
{
    (void) state;
    assert_true(aspx_timing_start(false, false));
    for (int i = 0; i < 20; i++)
        call(BLIND, i % 2 ? 300 : 10300);
    took(BLIND, 20, 106, 98.3);
    assert_true(aspx_timing_start(false, true));
}

static jmp_buf out;

__attribute__((noinline)) static void leave_half_way(void)
{
    struct aspx_timing timing;

    aspx_timing_enter(&timing, JUMPS);
    now += 1000;
    longjmp(out, 1);
}

__attribute__((noinline)) static void call_deeper(int depth)
{
    volatile char scratch[4096];

    for (size_t i = 0; i < sizeof(scratch); i++)
        scratch[i] = (char) depth;
    if (depth > 0)
        call_deeper(depth - 1);
    else
        call(JUMPS, 1000);
}

/* A call that ended by longjmp() does not swallow those that come. */
static void test_left_half_way(void **state)
{
    uint64_t before = aspx_timing_call(JUMPS).count;

    (void) state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* it does not write over dead frames */
#endif
    if (setjmp(out) == 0)
        leave_half_way();
    call_deeper(2);
    call(JUMPS, 1000);
    assert_int_equal(aspx_timing_call(JUMPS).count - before, 2);
    assert_int_equal(aspx_timing_self->frame, 0);
}

/* A thread of ours polls: who called last is not who waits. */
static void test_others_polls(void **state)
{
    struct aspx_timing outer;

    (void) state;
    assert_null(aspx_timing_only_polls());
    aspx_timing_enter(&outer, EACH);
    assert_ptr_equal(aspx_timing_only_polls(), aspx_timing_self);
    assert_ptr_equal(aspx_timing_polls(), aspx_timing_self);
    aspx_timing_first.ours = true;
    assert_null(aspx_timing_only_polls());
    aspx_timing_first.ours = false;
    aspx_timing_leave(&outer, EACH);
    assert_null(aspx_timing_only_polls());
}

/* ---- threads ------------------------------------------------------------- */

enum { THREADS = 4, CALLS = 20000 };

static pthread_barrier_t all_in;

static int real_clock_many(void **state)
{
    (void) state;
    aspx_timing_self = &aspx_timing_nobody;
    aspx_clock_other = NULL;
    aspx_clock_counter = false;
    return 0;
}

static uint64_t real_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

static void *sleep_inside(void *unused)
{
    const struct timespec nap = {0, 50000000};
    struct aspx_timing timing;

    pthread_barrier_wait(&all_in);
    for (int i = 0; i < CALLS; i++) {
        aspx_timing_enter(&timing, SLEEPS);
        if (i == 0)
            nanosleep(&nap, NULL);
        aspx_timing_leave(&timing, SLEEPS);
    }
    return unused;
}

static void *call_one(void *unused)
{
    struct aspx_timing timing;

    aspx_timing_enter(&timing, SLEEPS);
    aspx_timing_leave(&timing, SLEEPS);
    return unused;
}

/* Each counts for itself; the process is inside while one of them is. */
static void test_threads(void **state)
{
    pthread_t thread[THREADS];
    double wall, inside;
    uint64_t began;

    (void) state;
    aspx_clock_other = real_clock;
    assert_true(aspx_timing_start(true, true));
    began = real_clock();
    pthread_barrier_init(&all_in, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, sleep_inside, NULL),
                         0);
    while (aspx_timing_inside() < 0.02)
        assert_true(real_clock() - began < UINT64_C(20000000000));
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    wall = 1e-9 * (double) (real_clock() - began);
    inside = aspx_timing_inside();
    if (inside < 0.05 || inside > wall)
        fail_msg("%.9f inside, in %.9f s", inside, wall);
    assert_int_equal(aspx_timing_call(SLEEPS).count, THREADS * CALLS);
    assert_true(aspx_timing_call(SLEEPS).inside_s >= THREADS * 0.05);
    assert_true(aspx_timing_inside() == inside);
}

/* One that reads the clock, and comes only when others have been inside. */
static void test_span(void **state)
{
    struct aspx_busy_union busy = {0};

    (void) state;
    aspx_busy_union_enter(&busy, 1600);
    aspx_busy_union_enter(&busy, 3200);
    aspx_busy_union_leave(&busy, 4800);
    assert_int_equal(aspx_busy_union_read(&busy, 6400), 4800);
    aspx_busy_union_leave(&busy, 8000);
    assert_int_equal(aspx_busy_union_read(&busy, 9600), 6400);
    aspx_busy_union_enter(&busy, 160);
    assert_int_equal(aspx_busy_union_read(&busy, 9600), 8000);
    aspx_busy_union_leave(&busy, 160);
    assert_int_equal(aspx_busy_union_read(&busy, 9600), 6400);
}

/* Threads that come and go take each other's places. */
static void test_many_threads(void **state)
{
    uint32_t before = aspx_timing_sum().threads;

    (void) state;
    for (int i = 0; i < 100; i++) {
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, call_one, NULL), 0);
        pthread_join(thread, NULL);
    }
    assert_int_equal(aspx_timing_sum().threads, before);
    assert_int_equal(aspx_timing_call(SLEEPS).count, THREADS * CALLS + 100);
}

static void *wait_inside(void *unused)
{
    struct aspx_timing timing, inner;

    assert_null(aspx_timing_only_polls());
    assert_false(aspx_timing_quick(&timing, SHORT)); /* not who called last */
    aspx_timing_enter(&timing, SHORT);
    assert_false(aspx_timing_quick(&inner, SHORT));
    assert_ptr_equal(aspx_timing_only_polls(), aspx_timing_self);
    poll_in_vain(5, 0, 0);
    aspx_timing_leave(&timing, SHORT);
    assert_null(aspx_timing_only_polls());
    return unused;
}

/* One thread at a time: who polls is who called last, also in what a thread
 * left behind that has ended. */
static void test_in_turns(void **state)
{
    pthread_t thread;

    (void) state;
    aspx_timing_self = &aspx_timing_nobody; /* begin anew: it was one of many */
    assert_true(aspx_timing_start(false, true));
    for (int i = 0; i < 3; i++) {
        wait_inside(NULL);
        assert_int_equal(pthread_create(&thread, NULL, wait_inside, NULL), 0);
        pthread_join(thread, NULL);
    }
}

static void *one_of_ours(void *unused)
{
    aspx_timing_ignore_thread();
    assert_null(aspx_timing_polls()); /* nobody waits in them */
    return call_one(unused);
}

static void test_helper_thread(void **state)
{
    uint64_t before = aspx_timing_call(SLEEPS).count;
    pthread_t thread;

    (void) state;
    assert_int_equal(pthread_create(&thread, NULL, one_of_ours, NULL), 0);
    pthread_join(thread, NULL);
    assert_int_equal(aspx_timing_call(SLEEPS).count, before);
}

/* What is called after a call finds that it is over. */
static unsigned over;

static void look_around(void)
{
    over++;
    assert_null(aspx_timing_polls());
}

static void test_after(void **state)
{
    struct aspx_timing outer;

    (void) state;
    aspx_timing_after = look_around;
    call(EACH, 100);
    assert_int_equal(over, 1);
    aspx_timing_enter(&outer, EACH);
    call(NESTED, 100);
    assert_int_equal(over, 1);
    aspx_timing_leave(&outer, EACH);
    assert_int_equal(over, 2);
    aspx_timing_after = NULL;
    call(EACH, 100);
    assert_int_equal(over, 2);
}

int main(void)
{
    const struct CMUnitTest turned[] = {
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_some),
        cmocka_unit_test(test_some_are_long),
        cmocka_unit_test(test_rhythms),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_short_waits),
        cmocka_unit_test(test_middling_waits),
        cmocka_unit_test(test_whose_waits),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_waits_and_works),
        cmocka_unit_test(test_blind),
        cmocka_unit_test(test_left_half_way),
        cmocka_unit_test(test_after),
        cmocka_unit_test(test_others_polls),
    };
    const struct CMUnitTest real[] = {
        cmocka_unit_test(test_span),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_helper_thread),
        cmocka_unit_test(test_in_turns),
    };
    int failed = cmocka_run_group_tests(turned, turn_the_clock, NULL);

    return failed + cmocka_run_group_tests(real, real_clock_many, NULL);
}
