/* SPDX-License-Identifier: BSD-3-Clause */
/* What several threads and processes share, under contention: lock words beside
 * the ghost's queue, and the table of windows. The data that the locks protect
 * is plain memory, so that a build with --enable-sanitizer=thread sees each
 * missing order. */
#include "config.h"

#include "locks.h"
#include "runtime/base/table.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ORIGINS = 6, ROUNDS = 3000, TARGETS = 2, BOX = 64 };

/* A letter to the ghost, as the lock service gets them. */
struct letter {
    bool unlock, exclusive;
    int origin;
    uint32_t target;
};

static struct aspx_lock_word words[TARGETS];
static long counters[TARGETS]; /* plain on purpose */
static _Atomic bool granted[ORIGINS];
static struct letter box[BOX];
static unsigned head, tail;
static bool over;
static pthread_mutex_t box_mutex = PTHREAD_MUTEX_INITIALIZER;

static void post(struct letter letter)
{
    pthread_mutex_lock(&box_mutex);
    box[tail++ % BOX] = letter; /* two per origin at the most */
    pthread_mutex_unlock(&box_mutex);
}

static void grant(void *context, int origin, uint32_t tag)
{
    (void) context;
    (void) tag;
    atomic_store(&granted[origin], true);
}

static void serve(struct aspx_locks *locks, const struct letter *letter)
{
    const struct aspx_lock_request request = {.window = 1,
                                              .target = letter->target,
                                              .exclusive = letter->exclusive,
                                              .origin = letter->origin,
                                              .words = &words[letter->target],
                                              .nwords = 1};

    if (letter->unlock)
        (void) aspx_locks_drop(locks, 1, letter->target, letter->origin);
    else
        (void) aspx_locks_take(locks, &request);
}

static void *ghost(void *context)
{
    struct aspx_locks *locks = context;

    for (bool last = false; !last;) {
        struct letter letter;
        bool any;

        pthread_mutex_lock(&box_mutex);
        any = head != tail;
        last = over && !any;
        if (any)
            letter = box[head++ % BOX];
        pthread_mutex_unlock(&box_mutex);
        if (any)
            serve(locks, &letter);
        else if (!aspx_locks_poll(locks))
            sched_yield();
    }
    return NULL;
}

/* Returns whether the lock is held directly. */
static bool take(int origin, uint32_t target, bool exclusive, bool near)
{
    if (near && aspx_word_try(&words[target], exclusive))
        return true;
    atomic_store(&granted[origin], false);
    post((struct letter){false, exclusive, origin, target});
    while (!atomic_load(&granted[origin]))
        sched_yield();
    return false;
}

static void drop(int origin, uint32_t target, bool exclusive, bool direct)
{
    if (direct)
        (void) aspx_word_release(&words[target], exclusive);
    else
        post((struct letter){true, exclusive, origin, target});
}

/* Half of the origins are on the target's node. */
static void *origin(void *context)
{
    int me = (int) (intptr_t) context;

    for (int i = 0; i < ROUNDS; i++) {
        uint32_t target = (uint32_t) (i + me) % TARGETS;
        bool exclusive = i % 3 != 0;
        bool direct = take(me, target, exclusive, me % 2 == 0);
        long seen = counters[target];

        if (exclusive)
            counters[target] = seen + 1;
        else if (counters[target] != seen)
            abort(); /* a writer among readers */
        drop(me, target, exclusive, direct);
    }
    return NULL;
}

static void test_words_and_queue(void **state)
{
    struct aspx_locks *locks = aspx_locks_create(grant, NULL);
    pthread_t server, threads[ORIGINS];
    long expected = 0;

    (void) state;
    assert_non_null(locks);
    assert_int_equal(pthread_create(&server, NULL, ghost, locks), 0);
    for (intptr_t i = 0; i < ORIGINS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, origin, (void *) i),
                         0);
    for (int i = 0; i < ORIGINS; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_lock(&box_mutex);
    over = true;
    pthread_mutex_unlock(&box_mutex);
    pthread_join(server, NULL);
    for (int i = 0; i < ROUNDS; i++)
        expected += i % 3 != 0 ? ORIGINS : 0;
    assert_int_equal(counters[0] + counters[1], expected);
    assert_int_equal(aspx_locks_windows(locks), 0);
    for (int t = 0; t < TARGETS; t++)
        assert_int_equal(words[t].state, 0);
    aspx_locks_destroy(locks);
}

enum { WINDOWS = 200, FIRST = 0x20000000, KEEPER = 0x20001234 };

static struct aspx_table table = ASPX_TABLE_INITIALIZER;
static int keeper;
static _Atomic bool stop;

static void *reader(void *context)
{
    while (!atomic_load(&stop))
        if (aspx_table_find(&table, KEEPER) != &keeper)
            abort();
    return context;
}

/* A window is found at any time while others come and go, and the table
 * grows. */
static void test_table(void **state)
{
    static char known[WINDOWS];
    pthread_t threads[2];

    (void) state;
    assert_int_equal(aspx_table_insert(&table, KEEPER, &keeper), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, reader, NULL), 0);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < WINDOWS; i++)
            assert_int_equal(aspx_table_insert(&table, FIRST + i, &known[i]),
                             0);
        for (int i = 0; i < WINDOWS; i++) {
            assert_ptr_equal(aspx_table_find(&table, FIRST + i), &known[i]);
            aspx_table_remove(&table, FIRST + i, &keeper); /* another one's */
            assert_ptr_equal(aspx_table_find(&table, FIRST + i), &known[i]);
            aspx_table_remove(&table, FIRST + i, &known[i]);
            assert_null(aspx_table_find(&table, FIRST + i));
        }
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    aspx_table_remove(&table, KEEPER, &keeper);
    assert_null(aspx_table_find(&table, KEEPER));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_and_queue),
        cmocka_unit_test(test_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
