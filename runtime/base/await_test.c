/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop: how often it looks, where it sleeps, who wakes it. */
#include "config.h"

#include "await.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

enum { NEVER_US = 60000000 }; /* unless a wake-up is lost */

static const struct aspx_wait_policy blocks = {"blocks", 0,        0,
                                               NEVER_US, NEVER_US, ""};
static const struct aspx_wait_policy naps = {"naps", 0, 0, 100, 100, ""};
static const struct aspx_wait_policy steps = {"steps", 1000, 1000,
                                              100,     100,  ""};

struct waiter {
    unsigned looks, there_at; /* there from so many looks on */
    unsigned pauses, slept[3];
    enum aspx_backoff_step latest;
    bool went_back; /* a step that comes before the latest one */
    struct aspx_event event, other;
    bool moves; /* the second look leads on to the other event */
    _Atomic bool there;
};

static bool look(void *arg)
{
    struct waiter *waiter = arg;

    return ++waiter->looks >= waiter->there_at;
}

/* There but once: whoever sees it takes it. */
static bool take(void *arg)
{
    enum { ENOUGH = 100 };
    struct waiter *waiter = arg;

    return ++waiter->looks == waiter->there_at || waiter->looks > ENOUGH;
}

static struct aspx_event *at_event(void *arg)
{
    struct waiter *waiter = arg;

    return &waiter->event;
}

static void test_taken(void **state)
{
    static const struct aspx_await how = {
        .look = take, .event = at_event, .row = &naps};

    (void) state;
    for (unsigned at = 1; at < 8; at++) {
        struct waiter waiter = {.there_at = at};

        aspx_event_init(&waiter.event, ASPX_EVENT_BOTH_FENCE);
        aspx_await(&how, &waiter);
        assert_int_equal(waiter.looks, at);
    }
}

static void count(void *arg, const struct aspx_await_pause *pause)
{
    struct waiter *waiter = arg;

    waiter->pauses++;
    waiter->slept[pause->slept]++;
    waiter->went_back |= pause->step < waiter->latest;
    waiter->latest = pause->step;
}

static void test_looks(void **state)
{
    static const struct aspx_await how = {
        .look = look, .meanwhile = count, .row = &naps, .quick_looks = 4};
    struct waiter at_once = {.there_at = 1}, quick = {.there_at = 5},
                  slow = {.there_at = 8};

    (void) state;
    aspx_await(&how, &at_once);
    assert_int_equal(at_once.looks, 1);
    aspx_await(&how, &quick);
    assert_int_equal(quick.looks, 5);
    assert_int_equal(quick.pauses, 0);
    aspx_await(&how, &slow);
    assert_int_equal(slow.looks, 8);
    assert_int_equal(slow.pauses, 3);
    assert_int_equal(slow.slept[ASPX_SLEPT_OUT], 2);
}

/* Spinning, yielding, napping: each is come to, in this order. */
static bool has_napped(void *arg)
{
    return ((struct waiter *) arg)->slept[ASPX_SLEPT_OUT] > 0;
}

static void test_steps(void **state)
{
    static const struct aspx_await how = {
        .look = has_napped, .meanwhile = count, .row = &steps};
    struct waiter waiter = {.latest = ASPX_SPIN};

    (void) state;
    aspx_await(&how, &waiter);
    assert_false(waiter.went_back);
    assert_int_equal(waiter.latest, ASPX_BLOCK);
    assert_true(waiter.slept[ASPX_NOT_SLEPT] > 1);
}

static struct aspx_event *event_of(void *arg)
{
    struct waiter *waiter = arg;

    return waiter->moves && waiter->looks > 1 ? &waiter->other : &waiter->event;
}

static bool is_there(void *arg)
{
    struct waiter *waiter = arg;

    waiter->looks++;
    return atomic_load(&waiter->there);
}

static void *wake(void *arg)
{
    struct waiter *waiter = arg;
    struct aspx_event *event = waiter->moves ? &waiter->other : &waiter->event;

    while (!aspx_event_has_waiters(event))
        (void) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    atomic_store(&waiter->there, true);
    aspx_event_notify(event);
    return NULL;
}

/* It is woken at its event, or where the look before the sleep has led it: no
 * sleep lasts for its bound. */
static void test_events(void **state)
{
    static const struct aspx_await how = {.look = is_there,
                                          .event = event_of,
                                          .meanwhile = count,
                                          .row = &blocks};

    (void) state;
    for (int moves = 0; moves < 2; moves++) {
        struct waiter waiter = {.moves = moves};
        pthread_t other;

        aspx_event_init(&waiter.event, ASPX_EVENT_BOTH_FENCE);
        aspx_event_init(&waiter.other, ASPX_EVENT_BOTH_FENCE);
        assert_int_equal(pthread_create(&other, NULL, wake, &waiter), 0);
        aspx_await(&how, &waiter);
        pthread_join(other, NULL);
        /* it announces itself at each event, and may see at once that it is
         * there */
        assert_in_range(waiter.pauses, 1 + moves, 2 + moves);
        assert_int_equal(waiter.slept[ASPX_SLEPT_OUT], 0);
        assert_false(aspx_event_has_waiters(&waiter.event));
        assert_false(aspx_event_has_waiters(&waiter.other));
    }
}

/* Turn by turn: announced once, woken by what comes between two turns, and
 * announced nowhere after the end. */
static void test_turns(void **state)
{
    struct aspx_await_turns turns = {.event = NULL};
    struct aspx_event event, other;

    (void) state;
    aspx_event_init(&event, ASPX_EVENT_BOTH_FENCE);
    aspx_event_init(&other, ASPX_EVENT_BOTH_FENCE);
    assert_int_equal(aspx_await_turn(&turns, &blocks, false), NEVER_US);
    assert_int_equal(turns.step, ASPX_BLOCK);
    assert_int_equal(aspx_await_sleep(&turns, &event, NEVER_US),
                     ASPX_NOT_SLEPT);
    aspx_event_notify(&event);
    assert_int_equal(aspx_await_sleep(&turns, &event, NEVER_US), ASPX_WOKEN);
    assert_int_equal(aspx_await_sleep(&turns, &event, 1), ASPX_SLEPT_OUT);
    assert_true(aspx_await_announce(&turns, &other));
    assert_false(aspx_event_has_waiters(&event));
    assert_false(aspx_await_announce(&turns, &other));
    aspx_await_end(&turns);
    assert_false(aspx_event_has_waiters(&other));
    assert_int_equal(aspx_await_turn(&turns, &steps, false), 0);
    assert_int_equal(turns.step, ASPX_SPIN);
}

static void test_once(void **state)
{
    struct waiter there = {.there_at = 1}, waiter = {.there_at = 2};

    (void) state;
    aspx_event_init(&waiter.event, ASPX_EVENT_BOTH_FENCE);
    assert_int_equal(aspx_await_once(&waiter.event, NEVER_US, look, &there),
                     ASPX_NOT_SLEPT);
    assert_int_equal(aspx_await_once(&waiter.event, 100, look, &waiter),
                     ASPX_SLEPT_OUT);
    assert_int_equal(waiter.looks, 1);
    assert_false(aspx_event_has_waiters(&waiter.event));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_looks), cmocka_unit_test(test_taken),
        cmocka_unit_test(test_steps), cmocka_unit_test(test_events),
        cmocka_unit_test(test_turns), cmocka_unit_test(test_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
