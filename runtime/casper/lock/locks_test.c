/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of grants, with and without direct holders. */
#include "config.h"

#include "runtime/casper/arena/engine.h"
#include "locks.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Grants in order, as letters: origin 0 is 'a'. */
static char granted[64];

/* Of targets 0 to WORDS - 1 of window 7. */
enum { WORDS = 8 };
static struct aspx_lock_word words[WORDS];

static void note(void *context, int origin, uint32_t tag)
{
    size_t used = strlen(granted);

    (void) context;
    assert_int_equal(tag, 100 + origin);
    assert_true(used + 1 < sizeof(granted));
    granted[used] = (char) ('a' + origin);
    granted[used + 1] = '\0';
}

static int setup(void **state)
{
    granted[0] = '\0';
    memset(words, 0, sizeof(words));
    *state = aspx_locks_create(note, NULL);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    aspx_locks_destroy(*state);
    return 0;
}

static void take(struct aspx_locks *locks, int origin, uint32_t target,
                 bool exclusive)
{
    const struct aspx_lock_request request = {
        .window = 7,
        .target = target,
        .exclusive = exclusive,
        .origin = origin,
        .tag = (uint32_t) (100 + origin),
        .words = target == ASPX_LOCK_EVERY ? words : &words[target],
        .nwords = target == ASPX_LOCK_EVERY ? WORDS : 1};

    assert_int_equal(aspx_locks_take(locks, &request), 0);
}

static void drop(struct aspx_locks *locks, int origin, uint32_t target)
{
    assert_int_equal(aspx_locks_drop(locks, 7, target, origin), 0);
}

static void test_shared_together(void **state)
{
    take(*state, 0, 3, false);
    take(*state, 1, 3, false);
    assert_string_equal(granted, "ab");
    take(*state, 2, 3, true);
    assert_string_equal(granted, "ab");
    drop(*state, 0, 3);
    assert_string_equal(granted, "ab");
    drop(*state, 1, 3);
    assert_string_equal(granted, "abc");
}

static void test_exclusive_in_order(void **state)
{
    for (int origin = 0; origin < 5; origin++)
        take(*state, origin, 0, true);
    for (int origin = 0; origin < 5; origin++) {
        assert_int_equal(strlen(granted), origin + 1);
        drop(*state, origin, 0);
    }
    assert_string_equal(granted, "abcde");
    assert_int_equal(aspx_locks_windows(*state), 0);
}

/* A shared request does not overtake a waiting exclusive one, or writers
 * would starve. */
static void test_no_starvation(void **state)
{
    take(*state, 0, 0, false);
    take(*state, 1, 0, true);
    take(*state, 2, 0, false);
    assert_string_equal(granted, "a");
    drop(*state, 0, 0);
    assert_string_equal(granted, "ab");
    drop(*state, 1, 0);
    assert_string_equal(granted, "abc");
}

static void test_targets_are_independent(void **state)
{
    take(*state, 0, 0, true);
    take(*state, 1, 0, true);
    take(*state, 2, 1, true);
    assert_string_equal(granted, "ac");
}

static void test_every_against_one(void **state)
{
    take(*state, 0, 4, true);
    take(*state, 1, ASPX_LOCK_EVERY, false);
    take(*state, 2, 5, true); /* behind lock_all, which waits for 4 */
    take(*state, 3, 6, false);
    assert_string_equal(granted, "ad");
    drop(*state, 0, 4);
    assert_string_equal(granted, "adb");
    drop(*state, 1, ASPX_LOCK_EVERY);
    assert_string_equal(granted, "adbc");
}

static void test_windows_are_independent(void **state)
{
    const struct aspx_lock_request other = {
        .window = 8, .exclusive = true, .origin = 1, .tag = 101};

    take(*state, 0, 0, true);
    assert_int_equal(aspx_locks_take(*state, &other), 0);
    assert_string_equal(granted, "ab");
    assert_int_equal(aspx_locks_windows(*state), 2);
}

static void test_drop_of_nothing(void **state)
{
    assert_int_equal(aspx_locks_drop(*state, 7, 0, 0), -1);
    assert_int_equal(errno, ENOENT);
    take(*state, 0, 0, true);
    take(*state, 1, 0, true);
    /* a waiter holds nothing */
    assert_int_equal(aspx_locks_drop(*state, 7, 0, 1), -1);
    assert_int_equal(aspx_locks_drop(*state, 7, 1, 0), -1);
    assert_string_equal(granted, "a");
}

/* Direct holders of a word come first, then the queue; who asks for the word
 * directly meanwhile is refused. */
static void test_direct_holders(void **state)
{
    assert_true(aspx_word_try(&words[3], true));
    assert_false(aspx_word_try(&words[3], false));
    assert_true(aspx_word_try(&words[4], false));
    assert_true(aspx_word_try(&words[4], false));
    assert_false(aspx_word_try(&words[4], true));
    assert_false(aspx_locks_poll(*state)); /* nobody waits */
    take(*state, 0, 3, false);
    take(*state, 1, 4, false);
    take(*state, 2, 4, true);
    assert_string_equal(granted, "b");
    assert_false(aspx_word_try(&words[4], false));
    assert_false(aspx_locks_poll(*state));
    assert_true(aspx_word_release(&words[3], true)); /* the ghost waits */
    assert_true(aspx_locks_poll(*state));
    assert_string_equal(granted, "ba");
    assert_true(aspx_word_release(&words[4], false));
    drop(*state, 1, 4);
    assert_string_equal(granted, "ba"); /* one direct reader is left */
    assert_true(aspx_word_release(&words[4], false));
    assert_true(aspx_locks_poll(*state));
    assert_string_equal(granted, "bac");
    drop(*state, 0, 3);
    drop(*state, 2, 4);
    assert_true(aspx_word_try(&words[4], true)); /* the queue is gone */
    assert_false(aspx_word_release(&words[4], true));
    for (int i = 0; i < WORDS; i++)
        assert_int_equal(words[i].state, 0);
}

static void test_every_and_direct(void **state)
{
    assert_true(aspx_word_try(&words[6], true));
    take(*state, 0, ASPX_LOCK_EVERY, false);
    assert_false(aspx_word_try(&words[0], false));
    assert_string_equal(granted, "");
    assert_true(aspx_word_release(&words[6], true));
    assert_true(aspx_locks_poll(*state));
    assert_string_equal(granted, "a");
    take(*state, 1, 2, false);
    drop(*state, 0, ASPX_LOCK_EVERY);
    assert_false(aspx_word_try(&words[2], true));
    drop(*state, 1, 2);
    for (int i = 0; i < WORDS; i++)
        assert_int_equal(words[i].state, 0);
}

static void test_try(void **state)
{
    struct aspx_lock_request every = {.window = 7,
                                      .target = ASPX_LOCK_EVERY,
                                      .origin = 5,
                                      .words = words,
                                      .nwords = WORDS};

    assert_true(aspx_word_try(&words[1], true));
    assert_false(aspx_locks_try(*state, &every));
    assert_int_equal(aspx_locks_windows(*state), 0);
    assert_false(aspx_word_release(&words[1], true)); /* nobody waits */
    take(*state, 0, 3, false);
    take(*state, 1, 3, true);
    assert_false(aspx_locks_try(*state, &every)); /* a waiter is before it */
    drop(*state, 0, 3);
    drop(*state, 1, 3);
    assert_true(aspx_locks_try(*state, &every));
    assert_string_equal(granted, "ab"); /* it was told otherwise */
    assert_false(aspx_word_try(&words[2], false));
    drop(*state, 5, ASPX_LOCK_EVERY);
    assert_true(aspx_word_try(&words[2], false));
}

/* Readers of several targets, in different orders, with writers between them:
 * who holds a lock must not wait behind one who waits for it. */
static void test_holders_pass_waiters(void **state)
{
    struct aspx_lock_request more = {.window = 7,
                                     .target = 4,
                                     .origin = 0,
                                     .tag = 100,
                                     .words = &words[4],
                                     .nwords = 1,
                                     .passes = ASPX_PASSES_NOW};

    take(*state, 0, 3, false);
    take(*state, 1, 4, false);
    take(*state, 2, 3, true);
    take(*state, 3, 4, true);
    assert_string_equal(granted, "ab");
    assert_int_equal(aspx_locks_take(*state, &more), 0);
    assert_string_equal(granted, "aba");
    more.target = 3;
    more.origin = 1;
    more.tag = 101;
    more.words = &words[3];
    assert_int_equal(aspx_locks_take(*state, &more), 0);
    assert_string_equal(granted, "abab");
    drop(*state, 0, 3);
    drop(*state, 1, 3);
    assert_string_equal(granted, "ababc");
}

static void test_late_pass(void **state)
{
    struct aspx_lock_request late = {.window = 7,
                                     .target = 3,
                                     .origin = 2,
                                     .tag = 102,
                                     .words = &words[3],
                                     .nwords = 1,
                                     .passes = ASPX_PASSES_LATE};

    take(*state, 0, 3, false);
    take(*state, 1, 3, true);
    assert_int_equal(aspx_locks_take(*state, &late), 0);
    assert_string_equal(granted, "a");
    usleep(20000);
    assert_true(aspx_locks_poll(*state));
    assert_string_equal(granted, "ac");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_shared_together),      TEST(test_exclusive_in_order),
        TEST(test_no_starvation),        TEST(test_targets_are_independent),
        TEST(test_every_against_one),    TEST(test_windows_are_independent),
        TEST(test_drop_of_nothing),      TEST(test_try),
        TEST(test_holders_pass_waiters), TEST(test_late_pass),
        TEST(test_direct_holders),       TEST(test_every_and_direct),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
