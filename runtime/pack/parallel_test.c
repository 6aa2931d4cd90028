/* SPDX-License-Identifier: BSD-3-Clause */
/* When threads are worth it, and that chunks make up the whole, in any order.
 */
#include "config.h"

#include "openmp.h"
#include "parallel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { KIB = 1024, HELPERS = 3 };

static unsigned idle, ran;

/* In the place of openmp.c: the last chunk first. */
unsigned aspx_openmp_idle(void)
{
    return idle;
}

unsigned aspx_openmp_run(const struct aspx_openmp_work *work, unsigned helpers)
{
    for (uint64_t i = work->chunks; i-- > work->first;)
        work->chunk(work->data, i);
    ran++;
    return helpers;
}

/* ---- the model --------------------------------------------------------------- */

static void test_choice(void **state)
{
    static const struct {
        uint64_t bytes, ps;
        unsigned idle, threads;
    } cases[] = {
        {64 * KIB - 1, 1000, 7, 1}, /* below the threshold */
        {64 * KIB, 1000, 0, 1},     /* nobody is idle */
        {64 * KIB, 1000, 7, 2},     /* 32 KiB each */
        {64 * KIB, 100, 7, 1},      /* 3.3 us of 6.6 are less than 8.2 */
        {256 * KIB, 100, 3, 4},     /* 19.7 of 26.2 are more than 14.6 */
        {256 * KIB, 10, 3, 1},           {1024 * KIB, 1000, 15, 16},
        {UINT64_C(1) << 30, 1000, 3, 4},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(
            aspx_parallel_choose(cases[i].bytes, cases[i].ps, cases[i].idle),
            cases[i].threads);
}

/* ---- copying ------------------------------------------------------------------- */

/* 20 bytes of 28, as a struct of three and a gap. */
static const struct aspx_part parts[] = {{0, 0}, {8, 4}, {0, 20}};
static const struct aspx_node list = {.kind = ASPX_NODE_PARTS,
                                      .depth = 1,
                                      .count = 2,
                                      .size = 20,
                                      .hi = 24,
                                      .parts = parts};
static const struct aspx_typemap typemap = {
    .size = 20, .extent = 28, .node = &list};

static char *random_bytes(size_t n)
{
    char *bytes = malloc(n);

    for (size_t i = 0; i < n; i++)
        bytes[i] = (char) rand();
    return bytes;
}

static void check(uint64_t count, uint64_t bytes)
{
    size_t stream = count * 20, whole = count * 28;
    char *buffer = random_bytes(whole), *expected = random_bytes(stream);
    char *packed = malloc(stream), *out = malloc(whole), *back = malloc(whole);
    unsigned before = ran;

    memcpy(packed, expected, stream);
    aspx_typemap_pack(&typemap, buffer, count, 0, expected, bytes);
    aspx_parallel_pack(&typemap, buffer, count, packed, bytes, HELPERS + 1);
    assert_memory_equal(packed, expected, stream);
    memset(out, 1, whole);
    memset(back, 1, whole);
    aspx_typemap_unpack(&typemap, out, count, 0, packed, bytes);
    aspx_parallel_unpack(&typemap, back, count, packed, bytes, HELPERS + 1);
    assert_memory_equal(back, out, whole);
    assert_int_equal(ran, before + 2);
    free(buffer);
    free(expected);
    free(packed);
    free(out);
    free(back);
}

/* Also of a part of the stream, which ends within an element. */
static void test_chunks(void **state)
{
    (void) state;
    check(10000, 200000);
    check(10000, 199999);
    check(50000, 70001);
    check(4000, 65536);
}

static void test_counts(void **state)
{
    struct aspx_parallel_counts before = aspx_parallel_counts(), after;

    (void) state;
    check(10000, 160000);
    after = aspx_parallel_counts();
    assert_int_equal(after.buffers, before.buffers + 2);
    assert_int_equal(after.bytes, before.bytes + 320000);
    assert_int_equal(after.helpers, before.helpers + 2 * HELPERS);
    assert_int_equal(after.chunks, before.chunks + 2 * 16);
}

/* Once the cost of a class is known, few bytes of it need no threads. */
static void test_threads(void **state)
{
    (void) state;
    idle = HELPERS;
    assert_int_equal(aspx_parallel_threads(&typemap, 65535), 1);
    assert_in_range(aspx_parallel_threads(&typemap, 64 << 20), 2, HELPERS + 1);
    idle = 0;
    assert_int_equal(aspx_parallel_threads(&typemap, 64 << 20), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
