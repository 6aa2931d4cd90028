/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries for process sets: what they are answered, how many at once, and what
 * is kept when memory is short. */
#include "psets.h"

#include <pmix.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Blocks of psets.c, counted; the block_max-th and later ones are refused. */
static int blocks;
static int asked;
static int block_max;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void __wrap_free(void *block);

static void *count(void *block)
{
    if (++asked > block_max) {
        __real_free(block);
        return NULL;
    }
    blocks++;
    return block;
}

void *__wrap_malloc(size_t size)
{
    return count(__real_malloc(size));
}

/* What gcc makes of malloc() and memset(). */
void *__wrap_calloc(size_t n, size_t size)
{
    return count(__real_calloc(n, size));
}

void __wrap_free(void *block)
{
    blocks -= block != NULL;
    __real_free(block);
}

static uint32_t ranks[] = {0, 1, 2, 3, 4};
static struct asp_layout_node node = {.ntasks = 5, .ranks_world = ranks};
static const struct asp_layout layout = {
    .size_world = 5, .ghosts_per_node = 2, .nnodes = 1, .nodes = &node};

static size_t answered;
static size_t members;

static void take_answer(pmix_status_t status, pmix_info_t *info, size_t ninfo,
                        void *arg, pmix_release_cbfunc_t release,
                        void *release_arg)
{
    (void) status;
    (void) arg;
    answered = ninfo;
    members = info[ninfo - 1].value.type == PMIX_DATA_ARRAY
                  ? info[ninfo - 1].value.data.darray->size
                  : 0;
    release(release_arg);
}

/* One question with nkeys times the same key, about the users. */
static pmix_status_t ask_server(const char *key, size_t nkeys)
{
    char *keys[ASPA_QUERY_KEYS_MAX + 2] = {NULL};
    char name[] = ASPA_PSET_USERS;
    pmix_info_t which = {.value = {.type = PMIX_STRING}};
    pmix_query_t query = {.keys = keys, .qualifiers = &which, .nqual = 1};

    for (size_t i = 0; i < nkeys; i++)
        keys[i] = (char *) key;
    PMIX_LOAD_KEY(which.key, PMIX_PSET_NAME);
    which.value.data.string = name;
    answered = members = 0;
    asked = blocks = 0;
    return aspa_psets_answer(&layout, "n", &query, 1, take_answer, NULL);
}

static void test_members(void **state)
{
    (void) state;
    block_max = 1000;
    assert_int_equal(ask_server(PMIX_QUERY_PSET_MEMBERSHIP, 1), PMIX_SUCCESS);
    assert_int_equal(answered, 1);
    assert_int_equal(members, 3);
    assert_int_equal(ask_server("pmix.unknown", 1), PMIX_ERR_NOT_FOUND);
    assert_int_equal(ask_server("", 0), PMIX_ERR_BAD_PARAM);
}

/* Each key costs a copy of the set. */
static void test_keys_are_bounded(void **state)
{
    (void) state;
    block_max = 1000;
    assert_int_equal(
        ask_server(PMIX_QUERY_PSET_MEMBERSHIP, ASPA_QUERY_KEYS_MAX),
        PMIX_SUCCESS);
    assert_int_equal(answered, ASPA_QUERY_KEYS_MAX);
    assert_int_equal(
        ask_server(PMIX_QUERY_PSET_MEMBERSHIP, ASPA_QUERY_KEYS_MAX + 1),
        PMIX_ERR_BAD_PARAM);
    assert_int_equal(answered, 0);
}

/* The set's block is there, that of its members is not: the fourth. The first
 * two are the answer's; the library frees its second one, unseen by us. */
static void test_no_leak(void **state)
{
    (void) state;
    for (block_max = 0; block_max < 4; block_max++) {
        pmix_status_t status = ask_server(PMIX_QUERY_PSET_MEMBERSHIP, 1);

        assert_true(status == PMIX_ERR_NOMEM || status == PMIX_ERR_NOT_FOUND);
        assert_int_equal(blocks, block_max >= 2 ? 1 : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_keys_are_bounded),
        cmocka_unit_test(test_no_leak),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
