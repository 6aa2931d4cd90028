/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries for process sets: what they are answered, how many at once, and what
 * is kept when memory is short. */
#include "psets.h"

#include <dlfcn.h>
#include <pmix.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Blocks of psets.c and of the library (which of them makes an array differs
 * between its releases), counted while `counting`; the block_max-th and later
 * ones are refused. */
static bool counting;
static int blocks;
static int asked;
static int block_max;

/* The dynamic linker prefers the program's functions, for libpmix, too. */
#define EXPORT __attribute__((visibility("default")))

/* libc's, or a sanitizer's. Looked up at the first call and not at each:
 * dlsym() frees what is left of an earlier error, such as that of a library's
 * constructor (libudev's, behind OpenPMIx 7), and would be back in free() for
 * ever. */
#define FIND(name) next.name = (__typeof__(&(name))) dlsym(RTLD_NEXT, #name)

static struct {
    void *(*malloc)(size_t size);
    void *(*calloc)(size_t n, size_t size);
    void (*free)(void *block);
} next;

static void find_next(void)
{
    if (next.free != NULL)
        return;
    FIND(malloc);
    FIND(calloc);
    FIND(free);
}

static bool refused(void)
{
    if (!counting)
        return false;
    blocks += asked < block_max;
    return asked++ >= block_max;
}

EXPORT void *malloc(size_t size)
{
    find_next();
    return refused() ? NULL : next.malloc(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
    find_next();
    return refused() ? NULL : next.calloc(n, size);
}

EXPORT void free(void *block)
{
    find_next();
    blocks -= counting && block != NULL;
    next.free(block);
}

static uint32_t ranks[] = {0, 1, 2, 3, 4};
static struct asp_layout_node node = {.ntasks = 5, .ranks_world = ranks};
static const struct asp_layout layout = {
    .size_world = 5, .ghosts_per_node = 2, .nnodes = 1, .nodes = &node};

static const struct asp_layout no_ghosts = {
    .size_world = 5, .nnodes = 1, .nodes = &node};
static const struct asp_layout *whose = &layout;

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

/* One question with nkeys times the same key, about a set. */
static pmix_status_t ask_about(const char *set, const char *key, size_t nkeys)
{
    char *keys[ASPA_QUERY_KEYS_MAX + 2] = {NULL};
    pmix_info_t which = {.value = {.type = PMIX_STRING}};
    pmix_query_t query = {.keys = keys, .qualifiers = &which, .nqual = 1};
    pmix_status_t status;

    for (size_t i = 0; i < nkeys; i++)
        keys[i] = (char *) key;
    PMIX_LOAD_KEY(which.key, PMIX_PSET_NAME);
    which.value.data.string = (char *) set;
    answered = members = 0;
    asked = blocks = 0;
    counting = true;
    status = aspa_psets_answer(whose, "n", &query, 1, take_answer, NULL);
    counting = false;
    return status;
}

static pmix_status_t ask_server(const char *key, size_t nkeys)
{
    return ask_about(ASPA_PSET_USERS, key, nkeys);
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

/* A step without ghosts has the set all the same, and nobody in it. */
static void test_empty_set(void **state)
{
    (void) state;
    block_max = 1000;
    whose = &no_ghosts;
    assert_int_equal(ask_about(ASPA_PSET_GHOSTS, PMIX_QUERY_PSET_MEMBERSHIP, 1),
                     PMIX_SUCCESS);
    assert_int_equal(answered, 1);
    assert_int_equal(members, 0);
    assert_int_equal(blocks, 0);
    assert_int_equal(ask_server(PMIX_QUERY_PSET_MEMBERSHIP, 1), PMIX_SUCCESS);
    assert_int_equal(members, 5);
    whose = &layout;
}

/* Whichever block cannot be had, no other one stays. */
static void test_no_leak(void **state)
{
    pmix_status_t status = PMIX_ERR_NOMEM;

    (void) state;
    for (block_max = 0; status != PMIX_SUCCESS; block_max++) {
        assert_in_range(block_max, 0, 20);
        status = ask_server(PMIX_QUERY_PSET_MEMBERSHIP, 1);
        assert_true(status == PMIX_ERR_NOMEM || status == PMIX_ERR_NOT_FOUND ||
                    status == PMIX_SUCCESS);
        assert_int_equal(blocks, 0);
    }
    assert_true(block_max > 4); /* the answer and the set: a list, each */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_keys_are_bounded),
        cmocka_unit_test(test_empty_set),
        cmocka_unit_test(test_no_leak),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
