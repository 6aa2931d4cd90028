/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes and gives at random, beside a map of all pages. */
#include "config.h"

#include "extents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PAGES = 5000, LIVE = 64, ROUNDS = 20000, ORIGIN = 7 };

struct taken {
    uint32_t first, pages;
};

static struct aspx_extents extents;
static bool used[PAGES];

static void mark(uint32_t first, uint32_t pages, bool as)
{
    assert_true(first <= PAGES && pages <= PAGES - first);
    for (uint32_t i = first; i < first + pages; i++) {
        assert_int_equal(used[i], !as);
        used[i] = as;
    }
}

/* Is there room in the map? */
static bool has_room(uint32_t pages, uint32_t align)
{
    for (uint32_t i = 0; i + pages <= PAGES; i++) {
        if ((i + ORIGIN) % align == 0 && !memchr(used + i, true, pages))
            return true;
    }
    return false;
}

static int begin(void **state)
{
    (void) state;
    memset(used, 0, sizeof(used));
    return aspx_extents_begin(&extents, PAGES, ORIGIN);
}

static int end(void **state)
{
    (void) state;
    aspx_extents_end(&extents);
    return 0;
}

static struct taken take(void)
{
    struct taken one = {.pages = 1 + (uint32_t) (rand() % 150)};
    uint32_t align = 1u << rand() % 6;

    one.first = aspx_extents_take(&extents, one.pages, align);
    if (one.first == ASPX_EXTENT_NONE) {
        assert_false(has_room(one.pages, align));
        return (struct taken){0};
    }
    assert_int_equal((one.first + ORIGIN) % align, 0);
    mark(one.first, one.pages, true);
    return one;
}

/* Some of it at either end, or all. */
static void give(struct taken *one)
{
    uint32_t part = one->pages > 1 && rand() % 3 == 0
                        ? (uint32_t) rand() % one->pages
                        : one->pages;
    uint32_t at = rand() % 2 ? one->first : one->first + one->pages - part;

    if (part == 0)
        return;
    mark(at, part, false);
    aspx_extents_give(&extents, at, part);
    if (at == one->first)
        one->first += part;
    one->pages -= part;
}

static void test_pages_have_one_owner(void **state)
{
    struct taken live[LIVE] = {{0}};

    (void) state;
    srand(1);
    for (int i = 0; i < ROUNDS; i++) {
        struct taken *one = &live[rand() % LIVE];

        if (one->pages)
            give(one);
        else
            *one = take();
    }
    for (int i = 0; i < LIVE; i++)
        while (live[i].pages)
            give(&live[i]);
    /* all neighbours have been joined */
    assert_int_equal(aspx_extents_take(&extents, PAGES, 1), 0);
}

static void test_what_is_too_large_is_not_there(void **state)
{
    (void) state;
    assert_int_equal(aspx_extents_take(&extents, PAGES + 1, 1),
                     ASPX_EXTENT_NONE);
    assert_int_equal(aspx_extents_take(&extents, 0, 1), ASPX_EXTENT_NONE);
    assert_int_equal(aspx_extents_take(&extents, 1, 1u << 31),
                     ASPX_EXTENT_NONE);
    assert_int_equal(aspx_extents_take(&extents, PAGES, 1), 0);
    assert_int_equal(aspx_extents_take(&extents, 1, 1), ASPX_EXTENT_NONE);
}

/* More holes of nearly the right size than are looked at: one beyond fits. */
static void test_the_last_hole_is_found(void **state)
{
    enum { HOLES = PAGES / 25, WIDE = 21 };

    (void) state;
    assert_int_equal(aspx_extents_take(&extents, PAGES, 1), 0);
    aspx_extents_give(&extents, 0, WIDE); /* last in its list */
    for (uint32_t i = 1; i < HOLES; i++)
        aspx_extents_give(&extents, i * 25, WIDE - 1);
    assert_int_equal(aspx_extents_take(&extents, WIDE, 1), 0);
    assert_int_equal(aspx_extents_take(&extents, WIDE, 1), ASPX_EXTENT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pages_have_one_owner, begin, end),
        cmocka_unit_test_setup_teardown(test_what_is_too_large_is_not_there,
                                        begin, end),
        cmocka_unit_test_setup_teardown(test_the_last_hole_is_found, begin,
                                        end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
