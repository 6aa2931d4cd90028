/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges of packed streams, for forms that are made by hand: against a walk
 * that lists every byte. Random datatypes are tests/pack's. */
#include "config.h"

#include "blocks.h"
#include "engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SPAN = 1 << 16, STREAM = 1 << 14 };

static struct aspx_region region;
static unsigned char buffer[SPAN], back[SPAN];
static size_t nmap;
static int64_t map[STREAM]; /* where each byte of the stream lies */

static int begin(void **state)
{
    (void) state;
    region = (struct aspx_region){.left = 1 << 20};
    nmap = 0;
    for (size_t i = 0; i < SPAN; i++)
        buffer[i] = (unsigned char) (i * 31 + (i >> 8) * 7);
    return 0;
}

static int end(void **state)
{
    (void) state;
    aspx_region_free(&region);
    return 0;
}

/* ---- the walk ------------------------------------------------------------- */

static void walk(const struct aspx_node *node, uint64_t size, int64_t at);

static void walk_child(const struct aspx_node *node, uint64_t i, int64_t at)
{
    if (node->kind == ASPX_NODE_LOOP)
        walk(node->child, node->each, at + (int64_t) i * node->stride);
    else if (node->kind == ASPX_NODE_OFFSETS)
        walk(node->child, node->each, at + node->offsets[i]);
    else
        walk(node->children ? node->children[i] : NULL,
             node->parts[i + 1].before - node->parts[i].before,
             at + node->parts[i].offset);
}

static void walk(const struct aspx_node *node, uint64_t size, int64_t at)
{
    for (uint64_t i = 0; !node && i < size; i++)
        map[nmap++] = at + (int64_t) i;
    for (uint64_t i = 0; node && i < node->count; i++)
        walk_child(node, i, at);
}

/* ---- blocks --------------------------------------------------------------- */

static size_t met; /* bytes */

static void meet(void *arg, int64_t offset, uint64_t bytes)
{
    (void) arg;
    for (uint64_t i = 0; i < bytes; i++)
        assert_int_equal(map[met++], offset + (int64_t) i);
}

static void check_blocks(const struct aspx_typemap *typemap, uint64_t count)
{
    met = 0;
    aspx_typemap_blocks(typemap, count, meet, NULL);
    assert_int_equal(met, nmap);
}

/* ---- ranges --------------------------------------------------------------- */

static void check_range(const struct aspx_typemap *typemap, uint64_t count,
                        uint64_t from, uint64_t to)
{
    static unsigned char stream[STREAM + 2];

    memset(stream, 0xa5, to - from + 2);
    assert_int_equal(aspx_typemap_pack(typemap, buffer + SPAN / 2, count, from,
                                       stream + 1, to - from),
                     to - from);
    assert_int_equal(stream[0], 0xa5);
    assert_int_equal(stream[to - from + 1], 0xa5);
    for (uint64_t i = from; i < to; i++)
        assert_int_equal(stream[1 + i - from], buffer[SPAN / 2 + map[i]]);
    memset(back, 0, sizeof(back));
    assert_int_equal(aspx_typemap_unpack(typemap, back + SPAN / 2, count, from,
                                         stream + 1, to - from),
                     to - from);
    for (uint64_t i = from; i < to; i++) {
        assert_int_equal(back[SPAN / 2 + map[i]], buffer[SPAN / 2 + map[i]]);
        back[SPAN / 2 + map[i]] = 0;
    }
    for (size_t i = 0; i < SPAN; i++)
        assert_int_equal(back[i], 0);
}

static void check(struct aspx_placed placed, int64_t extent, uint64_t count)
{
    const struct aspx_typemap typemap = {
        .size = placed.size,
        .extent = extent,
        .offset = placed.offset,
        .node = placed.node,
    };

    for (uint64_t i = 0; i < count; i++)
        walk(placed.node, placed.size, placed.offset + (int64_t) i * extent);
    assert_int_equal(nmap, placed.size * count);
    check_blocks(&typemap, count);
    check_range(&typemap, count, 0, nmap);
    for (int i = 0; i < 40; i++) {
        uint64_t from = (uint64_t) rand() % nmap;

        check_range(&typemap, count, from,
                    from + (uint64_t) rand() % (nmap - from) + 1);
    }
    assert_int_equal(aspx_typemap_pack(&typemap, buffer, count, nmap, back, 9),
                     0);
    assert_int_equal(aspx_typemap_pack(&typemap, buffer + SPAN / 2, count,
                                       nmap - 1, back, 9),
                     1);
}

static struct aspx_placed loop(uint64_t count, int64_t stride,
                               struct aspx_placed child)
{
    struct aspx_placed placed;

    assert_true(aspx_node_loop(&region, count, stride, child, &placed));
    return placed;
}

static struct aspx_placed list(struct aspx_placed *entries, size_t n)
{
    struct aspx_placed placed;

    assert_true(aspx_node_list(&region, entries, n, &placed));
    return placed;
}

static struct aspx_placed block(int64_t offset, uint64_t bytes)
{
    return (struct aspx_placed){.offset = offset, .size = bytes};
}

/* ---- forms ---------------------------------------------------------------- */

static void test_blocks_of_every_size(void **state)
{
    for (uint64_t bytes = 1; bytes <= 70; bytes++) {
        begin(state);
        check(loop(40, 3 * (int64_t) bytes, block(0, bytes)), 9000, 1);
        end(state);
    }
}

static void test_elements_of_a_struct(void **state)
{
    struct aspx_placed members[] = {block(0, 4), block(8, 8)};

    (void) state;
    check(list(members, 2), 16, 900);
}

static void test_elements_that_go_back(void **state)
{
    (void) state;
    check(loop(3, 16, block(-4, 8)), -50, 100);
}

static void test_offsets(void **state)
{
    struct aspx_placed entries[50];

    (void) state;
    for (int i = 0; i < 50; i++)
        entries[i] = block((i * 7919) % 50 * 20, 12);
    check(list(entries, 50), 1000, 3);
    for (int i = 0; i < 50; i++)
        entries[i] = loop(3, 6, block((i * 7919) % 50 * 30, 2));
    nmap = 0;
    check(list(entries, 50), 2000, 5);
}

/* More than are turned inside out at a time. */
static void test_many_lists_at_offsets(void **state)
{
    struct aspx_placed pair[] = {block(0, 1), block(3, 2)}, entries[150], one;

    (void) state;
    one = list(pair, 2);
    for (int i = 0; i < 150; i++) {
        entries[i] = one;
        entries[i].offset = (i * 7919) % 150 * 50;
    }
    check(list(entries, 150), 10000, 2);
}

static void test_parts_of_all_kinds(void **state)
{
    struct aspx_placed pair[] = {block(0, 1), block(3, 2)},
                       irregular[] = {block(0, 3), block(100, 1), block(50, 5)};
    struct aspx_placed entries[4];

    (void) state;
    entries[0] = block(-20, 7);
    entries[1] = loop(5, 10, list(pair, 2));
    entries[2] = loop(2, 200, list(irregular, 3));
    entries[2].offset = 400;
    entries[3] = loop(2, 300, loop(3, 40, loop(4, 8, block(1000, 4))));
    check(list(entries, 4), 3000, 5);
}

static void test_count_zero_and_size_zero(void **state)
{
    const struct aspx_typemap empty = {.extent = 8},
                              one = {.size = 8, .extent = 8};

    (void) state;
    assert_int_equal(aspx_typemap_pack(&empty, buffer, 9, 0, back, 8), 0);
    assert_int_equal(aspx_typemap_pack(&one, buffer, 0, 0, back, 8), 0);
    assert_int_equal(
        aspx_typemap_unpack(&one, back, UINT64_C(1) << 62, 0, buffer, 8), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_blocks_of_every_size),     TEST(test_elements_of_a_struct),
        TEST(test_elements_that_go_back),    TEST(test_offsets),
        TEST(test_many_lists_at_offsets),    TEST(test_parts_of_all_kinds),
        TEST(test_count_zero_and_size_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
