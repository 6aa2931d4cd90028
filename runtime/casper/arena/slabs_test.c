/* SPDX-License-Identifier: BSD-3-Clause */
/* Small blocks, in an arena of this process alone. */
#include "config.h"

#include "slabs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

enum { THREADS = 4, ROUNDS = 20000, LIVE = 200, MANY = 20000 };

static struct aspx_arena file, arena; /* as the ghost has it, as the user */

static int begin(void **state)
{
    struct aspx_arena_name name;

    (void) state;
    return aspx_arena_make(&file, 1, 0, &name) != 0 ||
           aspx_arena_open(&arena, &name, 0) != 0;
}

static int end(void **state)
{
    (void) state;
    aspx_arena_close(&arena);
    aspx_arena_close(&file);
    return 0;
}

static long used_kib(void)
{
    struct stat st;

    assert_int_equal(fstat(file.fd, &st), 0);
    return (long) st.st_blocks / 2;
}

static void *take(uint64_t bytes, uint64_t align)
{
    char *addr = aspx_slabs_take(&arena, bytes, align);
    uint64_t off;

    assert_non_null(addr);
    assert_int_equal((uintptr_t) addr % 64, 0);
    assert_int_equal((uintptr_t) addr % align, 0);
    assert_int_equal(aspx_arena_offset(&arena, addr, bytes, &off), 0);
    return addr;
}

static void test_sizes_and_alignments(void **state)
{
    void *block[3];

    (void) state;
    for (uint64_t align = 1; align <= ASPX_SLAB_BLOCK_MAX; align *= 2)
        for (uint64_t bytes = 1; bytes <= ASPX_SLAB_BLOCK_MAX;
             bytes += bytes / 7 + 1) {
            for (int i = 0; i < 3; i++)
                memset(block[i] = take(bytes, align), i, bytes);
            for (int i = 0; i < 3; i++) {
                char *all = block[i];

                assert_int_equal(all[0], i);
                assert_memory_equal(all, all + 1, bytes - 1);
                assert_true(aspx_slabs_give(&arena, block[i]));
            }
        }
}

static void test_many_take_little_and_give_it_back(void **state)
{
    static void *block[MANY];
    long before = used_kib();

    (void) state;
    for (int i = 0; i < MANY; i++)
        memset(block[i] = take(32, 1), 1, 32);
    assert_in_range(used_kib() - before, 1, MANY * 64 / 1024 + 64);
    for (int i = 0; i < MANY; i += 2)
        assert_true(aspx_slabs_give(&arena, block[i]));
    for (int i = 1; i < MANY; i += 2)
        assert_true(aspx_slabs_give(&arena, block[i]));
    assert_true(used_kib() - before <= 64);
}

static void test_what_is_no_block_is_refused(void **state)
{
    char *block = take(100, 1), *other = take(100, 1);

    (void) state;
    assert_false(aspx_slabs_give(&arena, NULL));
    assert_false(aspx_slabs_give(&arena, &block));
    assert_false(aspx_slabs_give(&arena, block + 64));
    assert_false(aspx_slabs_give(&arena, other + 128));
    assert_true(aspx_slabs_give(&arena, block));
    assert_false(aspx_slabs_give(&arena, block));
    assert_true(aspx_slabs_give(&arena, other));
}

/* Each thread writes its own number into what it has. */
static void *hammer(void *number)
{
    unsigned seed = *(unsigned *) number, wrong = 0;
    struct {
        unsigned char *at;
        size_t bytes;
    } live[LIVE] = {{NULL, 0}};
    void *none = NULL;

    for (int i = 0; i < ROUNDS; i++) {
        size_t k = (size_t) rand_r(&seed) % LIVE;

        if (live[k].at) {
            for (size_t b = 0; b < live[k].bytes; b++)
                wrong += live[k].at[b] != *(unsigned *) number;
            wrong += !aspx_slabs_give(&arena, live[k].at);
            live[k].at = NULL;
        } else {
            live[k].bytes = 1 + (size_t) rand_r(&seed) % 700;
            live[k].at = aspx_slabs_take(&arena, live[k].bytes, 1);
            wrong += !live[k].at;
            if (live[k].at)
                memset(live[k].at, (int) *(unsigned *) number, live[k].bytes);
        }
    }
    for (size_t k = 0; k < LIVE; k++)
        if (live[k].at)
            wrong += !aspx_slabs_give(&arena, live[k].at);
    return wrong ? number : none;
}

static void test_threads(void **state)
{
    pthread_t thread[THREADS];
    unsigned number[THREADS];

    (void) state;
    for (unsigned t = 0; t < THREADS; t++) {
        number[t] = t + 1;
        assert_int_equal(pthread_create(&thread[t], NULL, hammer, &number[t]),
                         0);
    }
    for (unsigned t = 0; t < THREADS; t++) {
        void *wrong;

        pthread_join(thread[t], &wrong);
        assert_null(wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_and_alignments),
        cmocka_unit_test(test_many_take_little_and_give_it_back),
        cmocka_unit_test(test_what_is_no_block_is_refused),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
