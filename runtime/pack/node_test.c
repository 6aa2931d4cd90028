/* SPDX-License-Identifier: BSD-3-Clause */
/* What the canonical form makes of loops and lists. */
#include "config.h"

#include "node.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct aspx_region region;

static int begin(void **state)
{
    (void) state;
    region = (struct aspx_region){.left = 1 << 20};
    return 0;
}

static int end(void **state)
{
    (void) state;
    aspx_region_free(&region);
    return 0;
}

static struct aspx_placed block(int64_t offset, uint64_t bytes)
{
    return (struct aspx_placed){.offset = offset, .size = bytes};
}

static struct aspx_placed loop(uint64_t count, int64_t stride,
                               struct aspx_placed child)
{
    struct aspx_placed placed;

    assert_true(aspx_node_loop(&region, count, stride, child, &placed));
    return placed;
}

static struct aspx_placed list(size_t n, const struct aspx_placed *wanted)
{
    struct aspx_placed entries[16], placed;

    for (size_t i = 0; i < n; i++)
        entries[i] = wanted[i];
    assert_true(aspx_node_list(&region, entries, n, &placed));
    return placed;
}

#define LIST(...)                                                              \
    list(sizeof((struct aspx_placed[]){__VA_ARGS__}) /                         \
             sizeof(struct aspx_placed),                                       \
         (struct aspx_placed[]){__VA_ARGS__})

static void is_block(struct aspx_placed placed, int64_t offset, uint64_t bytes)
{
    assert_null(placed.node);
    assert_int_equal(placed.offset, offset);
    assert_int_equal(placed.size, bytes);
}

static void is_loop(struct aspx_placed placed, uint64_t count, int64_t stride,
                    uint64_t each)
{
    assert_non_null(placed.node);
    assert_int_equal(placed.node->kind, ASPX_NODE_LOOP);
    assert_int_equal(placed.node->count, count);
    assert_int_equal(placed.node->stride, stride);
    assert_int_equal(placed.node->each, each);
    assert_int_equal(placed.size, count * each);
}

static void spans(struct aspx_placed placed, int64_t lo, int64_t hi)
{
    int64_t from, to;

    assert_true(aspx_node_span(placed, &from, &to));
    assert_int_equal(from, lo);
    assert_int_equal(to, hi);
}

static void test_copies_that_touch_are_a_block(void **state)
{
    (void) state;
    is_block(loop(10, 8, block(4, 8)), 4, 80);
    is_block(loop(3, 20, loop(5, 4, block(0, 4))), 0, 60);
    is_block(loop(1, 99, block(-8, 8)), -8, 8);
}

static void test_nothing_is_nothing(void **state)
{
    (void) state;
    assert_int_equal(loop(0, 8, block(0, 8)).size, 0);
    assert_int_equal(loop(8, 8, block(0, 0)).size, 0);
    assert_int_equal(LIST(block(0, 0), block(9, 0)).size, 0);
    is_block(LIST(block(0, 0), block(9, 4), block(1, 0)), 9, 4);
}

static void test_a_loop_of_a_loop_that_goes_on_is_one(void **state)
{
    struct aspx_placed inner = loop(4, 16, block(0, 8));

    (void) state;
    is_loop(inner, 4, 16, 8);
    is_loop(loop(3, 64, inner), 12, 16, 8);
    is_loop(loop(3, 65, inner), 3, 65, 32);
    spans(loop(3, 65, inner), 0, 2 * 65 + 3 * 16 + 8);
    spans(loop(3, -65, inner), -2 * 65, 3 * 16 + 8);
}

static void test_blocks_of_a_list_that_touch_are_one(void **state)
{
    (void) state;
    is_block(LIST(block(0, 4), block(4, 8), block(12, 1)), 0, 13);
    /* the order of the typemap is kept */
    assert_int_equal(LIST(block(4, 8), block(0, 4)).node->kind,
                     ASPX_NODE_PARTS);
}

static void test_a_regular_list_is_a_loop(void **state)
{
    (void) state;
    is_loop(LIST(block(0, 4), block(10, 4), block(20, 4)), 3, 10, 4);
    is_loop(LIST(block(20, 4), block(10, 4), block(0, 4)), 3, -10, 4);
    spans(LIST(block(20, 4), block(10, 4), block(0, 4)), 0, 24);
}

static void test_equal_children_at_any_offset(void **state)
{
    struct aspx_placed two = loop(2, 16, block(0, 8)), other = two, placed;

    (void) state;
    placed = LIST(block(0, 4), block(10, 4), block(5, 4));
    assert_int_equal(placed.node->kind, ASPX_NODE_OFFSETS);
    assert_int_equal(placed.node->offsets[2], 5);
    other = loop(2, 16, block(0, 8)); /* equal, but another node */
    other.offset = 100;
    two.offset = 30;
    placed = LIST(loop(2, 16, block(0, 8)), other, two);
    assert_int_equal(placed.node->kind, ASPX_NODE_OFFSETS);
    assert_int_equal(placed.node->each, 16);
    spans(placed, 0, 124);
}

static void test_children_of_equal_size_that_differ(void **state)
{
    struct aspx_placed placed = LIST(loop(2, 16, block(0, 8)),
                                     loop(2, 24, block(100, 8)),
                                     loop(4, 12, block(200, 4)));

    (void) state;
    assert_int_equal(placed.node->kind, ASPX_NODE_PARTS);
    assert_int_equal(placed.node->children[1]->stride, 24);
    spans(placed, 0, 240);
}

static void test_parts_say_what_lies_before_them(void **state)
{
    struct aspx_placed placed = LIST(block(0, 4), block(8, 8), block(30, 1));

    (void) state;
    assert_int_equal(placed.node->kind, ASPX_NODE_PARTS);
    assert_null(placed.node->children);
    assert_int_equal(placed.node->parts[1].before, 4);
    assert_int_equal(placed.node->parts[2].before, 12);
    assert_int_equal(placed.node->parts[3].before, 13);
    spans(placed, 0, 31);
}

static void test_a_list_within_a_list_is_taken_apart(void **state)
{
    struct aspx_placed inner = LIST(block(0, 4), block(8, 8)), placed;

    (void) state;
    inner.offset = 32;
    placed = LIST(block(0, 1), inner, block(48, 2));
    assert_int_equal(placed.node->count, 3);
    assert_null(placed.node->children);
    assert_int_equal(placed.node->parts[1].offset, 32);
    assert_int_equal(placed.node->parts[2].offset, 40);
    assert_int_equal(
        placed.node->parts[3].before - placed.node->parts[2].before, 10);
    assert_int_equal(placed.node->depth, 1);
}

static void test_what_does_not_fit_is_refused(void **state)
{
    struct aspx_placed placed, child = loop(2, INT64_MAX / 2, block(0, 1));

    (void) state;
    assert_false(
        aspx_node_loop(&region, UINT64_C(1) << 62, 1, block(0, 8), &placed));
    assert_false(aspx_node_loop(&region, 4, INT64_MAX / 2, child, &placed));
    assert_false(region.full);
    child = block(0, 1);
    for (int i = 0; i < ASPX_NODE_DEPTH_MAX; i++)
        child = loop(2, 3 + i, child);
    assert_int_equal(child.node->depth, ASPX_NODE_DEPTH_MAX);
    assert_false(aspx_node_loop(&region, 2, 1, child, &placed));
    region.left = 16;
    assert_false(aspx_node_loop(&region, 2, 9, block(0, 8), &placed));
    assert_true(region.full);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_copies_that_touch_are_a_block),
        TEST(test_nothing_is_nothing),
        TEST(test_a_loop_of_a_loop_that_goes_on_is_one),
        TEST(test_blocks_of_a_list_that_touch_are_one),
        TEST(test_a_regular_list_is_a_loop),
        TEST(test_equal_children_at_any_offset),
        TEST(test_children_of_equal_size_that_differ),
        TEST(test_parts_say_what_lies_before_them),
        TEST(test_a_list_within_a_list_is_taken_apart),
        TEST(test_what_does_not_fit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
