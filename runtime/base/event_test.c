/* SPDX-License-Identifier: BSD-3-Clause */
/* Event counts, alone, between threads and between processes. A lost wake-up
 * shows as a wait that lasts for its whole bound. */
#include "config.h"

#include "event.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    ROUNDS = 3000,
    BOUND_US = 60000000, /* never reached, unless a wake-up is lost */
    SHORT_US = 2000,
    WAITERS = 3,
};

static uint64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

static void test_nobody_waits(void **state)
{
    struct aspx_event event;

    (void) state;
    aspx_event_init(&event, ASPX_EVENT_BOTH_FENCE);
    for (int i = 0; i < 3; i++)
        aspx_event_notify(&event);
    assert_int_equal(event.word, 0);
    assert_false(aspx_event_has_waiters(&event));
}

static void test_a_wait_has_a_bound(void **state)
{
    struct aspx_event event;
    uint64_t began = now_us();
    uint32_t key;

    (void) state;
    aspx_event_init(&event, ASPX_EVENT_WAITER_FENCES);
    aspx_event_prepare_wait(&event);
    assert_true(aspx_event_has_waiters(&event));
    key = aspx_event_key(&event);
    while (now_us() - began < SHORT_US)
        assert_false(aspx_event_wait(&event, key, SHORT_US));
    aspx_event_cancel_wait(&event);
    assert_false(aspx_event_has_waiters(&event));
}

static void test_news_before_the_sleep(void **state)
{
    struct aspx_event event;
    uint32_t key;

    (void) state;
    aspx_event_init(&event, ASPX_EVENT_BOTH_FENCE);
    aspx_event_prepare_wait(&event);
    key = aspx_event_key(&event);
    aspx_event_notify(&event);
    assert_true(aspx_event_has_come(&event, key));
    assert_true(aspx_event_wait(&event, key, BOUND_US));
    assert_false(aspx_event_claim(&event)); /* nobody has taken a key since */
    key = aspx_event_key(&event);
    assert_false(aspx_event_has_come(&event, key));
    assert_true(aspx_event_claim(&event)); /* one of two */
    assert_false(aspx_event_claim(&event));
    aspx_event_cancel_wait(&event);
}

/* ---- ball over a net: each side waits for the other's number ------------- */

struct court {
    struct aspx_event event[2];
    _Atomic uint32_t ball[2];
};

static void await(struct court *court, int side, uint32_t number)
{
    struct aspx_event *event = &court->event[side];

    aspx_event_prepare_wait(event);
    for (;;) {
        uint32_t key = aspx_event_key(event);

        if (atomic_load_explicit(&court->ball[side], memory_order_acquire) >=
            number)
            break;
        (void) aspx_event_wait(event, key, BOUND_US);
    }
    aspx_event_cancel_wait(event);
}

static void play(struct court *court, int side)
{
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        if (side == 1)
            await(court, side, i);
        atomic_store_explicit(&court->ball[!side], i, memory_order_release);
        aspx_event_notify(&court->event[!side]);
        if (side == 0)
            await(court, side, i);
    }
}

static void *play_second(void *court)
{
    play(court, 1);
    return NULL;
}

static void play_threads(enum aspx_event_kind kind)
{
    struct court court = {.ball = {0, 0}};
    uint64_t began = now_us();
    pthread_t thread;

    aspx_event_init(&court.event[0], kind);
    aspx_event_init(&court.event[1], kind);
    assert_int_equal(pthread_create(&thread, NULL, play_second, &court), 0);
    play(&court, 0);
    pthread_join(thread, NULL);
    assert_true(now_us() - began < BOUND_US);
    assert_false(aspx_event_has_waiters(&court.event[0]));
    assert_false(aspx_event_has_waiters(&court.event[1]));
}

static void test_two_threads(void **state)
{
    (void) state;
    play_threads(ASPX_EVENT_BOTH_FENCE);
}

static void test_two_threads_with_waiters_fences(void **state)
{
    (void) state;
    play_threads(ASPX_EVENT_WAITER_FENCES);
}

static void test_two_processes(void **state)
{
    struct court *court = mmap(NULL, sizeof(*court), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t began = now_us();
    int status = -1;
    pid_t child;

    (void) state;
    assert_true(court != MAP_FAILED); /* zeroed: shared events */
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        play(court, 1);
        _exit(0);
    }
    play(court, 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(now_us() - began < BOUND_US);
    munmap(court, sizeof(*court));
}

/* ---- several wait for the same, each of them is woken --------------------- */

static struct aspx_event bus;
static _Atomic uint32_t departures, boarded;

static void *ride(void *unused)
{
    aspx_event_prepare_wait(&bus);
    for (uint32_t i = 1; i <= ROUNDS / 10; i++) {
        for (;;) {
            uint32_t key = aspx_event_key(&bus);

            if (atomic_load(&departures) >= i)
                break;
            aspx_event_wait(&bus, key, BOUND_US);
        }
        atomic_fetch_add(&boarded, 1);
    }
    aspx_event_cancel_wait(&bus);
    return unused;
}

static void test_several_wait(void **state)
{
    pthread_t threads[WAITERS];
    uint64_t began = now_us();

    (void) state;
    aspx_event_init(&bus, ASPX_EVENT_WAITER_FENCES);
    for (int i = 0; i < WAITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ride, NULL), 0);
    for (uint32_t i = 1; i <= ROUNDS / 10; i++) {
        atomic_store(&departures, i);
        aspx_event_notify(&bus);
        while (atomic_load(&boarded) < i * WAITERS)
            sched_yield();
    }
    for (int i = 0; i < WAITERS; i++)
        pthread_join(threads[i], NULL);
    assert_true(now_us() - began < BOUND_US);
    assert_false(aspx_event_has_waiters(&bus));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_waits),
        cmocka_unit_test(test_a_wait_has_a_bound),
        cmocka_unit_test(test_news_before_the_sleep),
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_two_threads_with_waiters_fences),
        cmocka_unit_test(test_two_processes),
        cmocka_unit_test(test_several_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
