/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of requests that are watched, by itself. */
#define _GNU_SOURCE
#include "config.h"

#include "thread.h"
#include "watch.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { THREADS = 4, ROUNDS = 100 };

bool aspx_progress_thread_is_permitted(void)
{
    return true;
}

static uint32_t outstanding(void)
{
    return atomic_load(&aspx_watch_outstanding);
}

/* Against a simple model, with numbers whose places in the table are next to
 * each other and around its end. */
enum { NUMBERS = 48, STEPS = 60000, HOMES = 12 };

static void choose_numbers(MPI_Request *numbers)
{
    int found = 0;

    for (uint32_t n = 1; found < NUMBERS; n++) {
        uint32_t home = (n / 8 * UINT32_C(2654435769) >> 19) * 8 + n % 8;

        if ((home + HOMES / 2) % 65536 < HOMES)
            numbers[found++] = (MPI_Request) n;
    }
}

struct model {
    unsigned active[NUMBERS];
    bool persistent[NUMBERS];
    uint32_t outstanding;
    uint64_t total;
};

static void add(struct model *model, int i)
{
    model->active[i]++;
    model->outstanding++;
    model->total++;
}

static void step(struct model *model, const MPI_Request *numbers, int i,
                 int what)
{
    bool watched = model->persistent[i];

    switch (what) {
    case 0:
        if (watched)
            break; /* MPI has not given the number to another one */
        aspx_watch_add(numbers[i], false);
        add(model, i);
        break;
    case 1:
        if (model->active[i])
            break;
        aspx_watch_persistent(numbers[i], false);
        model->persistent[i] = true;
        break;
    case 2:
        if (model->active[i])
            break;
        assert_int_equal(aspx_watch_started(numbers[i]), watched);
        if (watched)
            add(model, i);
        break;
    case 3:
        aspx_watch_forget(numbers[i]);
        model->outstanding -= model->active[i];
        model->active[i] = 0;
        model->persistent[i] = false;
        break;
    default:
        aspx_watch_end(numbers[i]);
        model->outstanding -= model->active[i] > 0;
        model->active[i] -= model->active[i] > 0;
    }
}

static void count_what_is_under_way(void)
{
    MPI_Request numbers[NUMBERS];
    struct model model = {.outstanding = outstanding(),
                          .total = aspx_watch_total};

    choose_numbers(numbers);
    srandom(4);
    for (int n = 0; n < STEPS; n++) {
        step(&model, numbers, (int) (random() % NUMBERS), (int) (random() % 8));
        assert_int_equal(outstanding(), model.outstanding);
        for (int i = 0; i < NUMBERS; i++)
            assert_int_equal(aspx_watch_has(numbers[i]), model.active[i] > 0);
    }
    assert_int_equal(aspx_watch_total, model.total);
    for (int i = 0; i < NUMBERS; i++)
        aspx_watch_forget(numbers[i]);
    assert_int_equal(outstanding(), 0);
}

static void test_counts_what_is_under_way(void **state)
{
    (void) state;
    aspx_watch_set_many(false);
    count_what_is_under_way();
    aspx_watch_set_many(true);
    count_what_is_under_way();
}

/* Cleared, it knows nothing but which are persistent. */
static void test_cleared(void **state)
{
    struct aspx_message_counts seen = {0};

    (void) state;
    aspx_watch_publish(&seen);
    for (int i = 1; i < 1000; i++) {
        if (i % 3 == 0)
            aspx_watch_persistent(i, false);
        aspx_watch_add(i, false);
    }
    assert_int_equal(atomic_load(&seen.large), 999);
    assert_int_equal(atomic_load(&seen.bursts), 1);
    aspx_watch_publish(NULL);
    aspx_watch_clear();
    assert_int_equal(outstanding(), 0);
    for (int i = 1; i < 1000; i++) {
        assert_false(aspx_watch_has(i));
        aspx_watch_end(i); /* unknown */
    }
    assert_int_equal(outstanding(), 0);
    for (int i = 1; i < 1000; i++) { /* which are persistent is known */
        assert_int_equal(aspx_watch_started(i), i % 3 == 0);
        aspx_watch_forget(i);
        assert_false(aspx_watch_started(i));
    }
    aspx_watch_add(5, false);
    assert_true(aspx_watch_has(5) && !aspx_watch_has(6));
    assert_int_equal(atomic_load(&seen.large), 999); /* not any more */
    aspx_watch_end(5);
    assert_int_equal(outstanding(), 0);
}

static uint32_t own(void)
{
    return atomic_load(&aspx_watch_own);
}

/* Those that may call back are counted as long as they are under way. */
static void test_own(void **state)
{
    (void) state;
    aspx_watch_add(1, true);
    aspx_watch_add(2, false);
    assert_int_equal(own(), 1);
    aspx_watch_end(2);
    assert_int_equal(own(), 1);
    aspx_watch_end(1);
    assert_int_equal(own(), 0);
    aspx_watch_add(1, false); /* the number comes again */
    assert_int_equal(own(), 0);
    aspx_watch_add(1, true); /* two with one number */
    aspx_watch_end(1);
    assert_int_equal(own(), 1);
    aspx_watch_end(1);
    assert_int_equal(own(), 0);
    aspx_watch_persistent(3, true);
    assert_int_equal(own(), 0);
    for (int i = 0; i < 2; i++) {
        assert_true(aspx_watch_started(3));
        assert_int_equal(own(), 1);
        aspx_watch_end(3);
        assert_int_equal(own(), 0);
    }
    assert_true(aspx_watch_started(3));
    aspx_watch_forget(3);
    assert_int_equal(own(), 0);
}

/* More than it holds: those in it are counted and forgotten, and afterwards
 * there is room for all of them again. */
static void test_full(void **state)
{
    enum { MOST = 49152, MORE = 60000 };

    (void) state;
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 1; i <= MORE; i++)
            aspx_watch_add((MPI_Request) 0xac000000 + i, false);
        assert_int_equal(outstanding(), MOST);
        for (int i = 1; i <= MORE; i++)
            aspx_watch_end((MPI_Request) 0xac000000 + i);
        assert_int_equal(outstanding(), 0);
    }
}

/* Many threads post, ask and end; some use a number that another one has. */
static void *watch_many(void *first)
{
    long wrong = 0;

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 50; i++) {
            aspx_watch_add(*(const MPI_Request *) first + i, false);
            aspx_watch_add(77, false);
        }
        for (int i = 0; i < 50; i++) {
            wrong += !aspx_watch_has(*(const MPI_Request *) first + i);
            aspx_watch_end(*(const MPI_Request *) first + i);
            wrong += !aspx_watch_has(77);
            aspx_watch_end(77);
        }
    }
    return (void *) wrong;
}

static void test_many_threads(void **state)
{
    uint64_t before = aspx_watch_total;
    pthread_t threads[THREADS];
    MPI_Request first[THREADS];

    (void) state;
    for (int i = 0; i < THREADS; i++) {
        first[i] = 1000 * (i + 1);
        assert_int_equal(
            pthread_create(&threads[i], NULL, watch_many, &first[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *wrong;

        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    assert_int_equal(outstanding(), 0);
    assert_int_equal(aspx_watch_total - before, (long) THREADS * ROUNDS * 100);
}

/* argument: the tests to run, as a pattern; all */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_what_is_under_way),
        cmocka_unit_test(test_cleared),
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_many_threads),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
