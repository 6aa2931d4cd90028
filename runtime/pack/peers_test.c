/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses as MPICH keeps them, and as another MPI may: who is believed to
 * unpack as Aspen does, and that nothing beyond an address's memory is read. */
#include "config.h"

#include "peers.h"

#include "runtime/mpi/plt_patch.h"
#include "runtime/mpi/real.h"
#include "runtime/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { RANKS = 4, BYTES = 300, ROW = 512, PAGE = 4096 };

struct params {
    uint64_t fields;
    const char *address;
};
typedef signed char create_f(void *worker, const struct params *params,
                             void **ep_p);
typedef signed char address_f(void *worker, void **address_p, size_t *bytes_p);

static create_f *create;
static address_f *get_address;
static int size = RANKS;

/* ---- in the place of UCX and MPI ------------------------------------------------- */

static signed char ucx_create(void *worker, const struct params *params,
                              void **ep_p)
{
    (void) worker;
    (void) params;
    (void) ep_p;
    return 0;
}

static signed char ucx_address(void *worker, void **address_p, size_t *bytes_p)
{
    (void) worker;
    *bytes_p = BYTES;
    *address_p = malloc(BYTES);
    memset(*address_p, 0x55, BYTES);
    return 0;
}

bool aspx_plt_patch_lead(const char *name, void *to, void *before_p)
{
    create_f *ucx = ucx_create;
    address_f *ucx_get = ucx_address;

    if (strcmp(name, "ucp_ep_create") == 0) {
        memcpy(&create, &to, sizeof(create));
        memcpy(before_p, &ucx, sizeof(ucx));
    } else {
        memcpy(&get_address, &to, sizeof(get_address));
        memcpy(before_p, &ucx_get, sizeof(ucx_get));
    }
    return true;
}

static int comm_size(MPI_Comm comm, int *size_p)
{
    (void) comm;
    *size_p = size;
    return MPI_SUCCESS;
}

static int create_keyval(MPI_Comm_copy_attr_function *copy,
                         MPI_Comm_delete_attr_function *delete, int *key,
                         void *extra)
{
    (void) copy;
    (void) delete;
    (void) extra;
    *key = 1;
    return MPI_SUCCESS;
}

/* ---- where addresses lie ------------------------------------------------------------ */

/* A marked address, to be freed by nobody. */
static const char *marked(size_t *bytes_p)
{
    void *address;

    assert_int_equal(get_address(NULL, &address, bytes_p), 0);
    return address;
}

static void add(const char *address)
{
    struct params params = {.fields = 1, .address = address};

    assert_int_equal(create(NULL, &params, NULL), 0);
}

/* Readable memory that ends where the next byte would fault. */
static char *guarded(size_t pages)
{
    char *memory = mmap(NULL, (pages + 1) * PAGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + pages * PAGE, PAGE, PROT_NONE), 0);
    return memory;
}

/* What MPICH has: one table, rows as long as the longest address. */
static void lay_table(void)
{
    char *table = guarded(1) + PAGE - RANKS * ROW;
    size_t bytes;
    const char *address = marked(&bytes);

    for (int i = 0; i < RANKS; i++)
        memcpy(table + i * ROW, address, bytes);
    for (int i = 0; i < RANKS; i++)
        add(table + i * ROW);
}

static void lay_unmarked(void)
{
    char *table = guarded(1) + PAGE - RANKS * ROW;
    size_t bytes;
    const char *address = marked(&bytes);

    for (int i = 0; i < RANKS - 1; i++)
        memcpy(table + i * ROW, address, bytes);
    memset(table + (RANKS - 1) * ROW, 0x55, BYTES);
    for (int i = 0; i < RANKS; i++)
        add(table + i * ROW);
}

/* Each at the end of memory of its own: nothing can be read behind it. */
static void lay_alone(void)
{
    size_t bytes;
    const char *address = marked(&bytes);
    char *pages = mmap(NULL, 2 * RANKS * PAGE, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(pages != MAP_FAILED);
    for (int i = 0; i < RANKS; i++) {
        char *page = pages + 2 * i * PAGE;

        assert_int_equal(mprotect(page, PAGE, PROT_READ | PROT_WRITE), 0);
        memcpy(page + PAGE - bytes, address, bytes);
        add(page + PAGE - bytes);
    }
}

/* One place for all, again and again. */
static void lay_same(void)
{
    size_t bytes;
    const char *address = marked(&bytes);
    char *place = guarded(1) + PAGE - bytes;

    memcpy(place, address, bytes);
    for (int i = 0; i < RANKS; i++)
        add(place);
}

/* At one distance, the last without a mark, and what lies behind it has one. */
static void lay_near(void)
{
    char *memory = guarded(1);
    size_t bytes;
    const char *address = marked(&bytes);

    for (int i = 0; i < RANKS; i++)
        memcpy(memory + i * ROW, address, bytes);
    memset(memory + (RANKS - 1) * ROW, 0x77, ROW);
    memcpy(memory + (RANKS - 1) * ROW + BYTES + 8, address + BYTES,
           bytes - BYTES);
    for (int i = 0; i < RANKS; i++)
        add(memory + i * ROW);
}

/* Downwards, and at distances that differ. */
static void lay_odd(void)
{
    static const int places[RANKS] = {3, 2, 0, 1};
    char *memory = guarded(1);
    size_t bytes;
    const char *address = marked(&bytes);

    for (int i = 0; i < RANKS; i++)
        memcpy(memory + i * ROW, address, bytes);
    for (int i = 0; i < RANKS; i++)
        add(memory + places[i] * ROW);
}

/* From MPICH 5.0 on: its own as UCX has it, then PAGE bytes of each other, some
 * of them behind a number. What the last one has behind its address is its own.
 */
static void lay_fixed(bool last_is_marked)
{
    char *at = guarded(RANKS + 1) + PAGE - RANKS * sizeof(int);
    size_t bytes;
    const char *address = marked(&bytes);

    add(address);
    at += PAGE;
    for (int i = 1; i < RANKS; i++, at += PAGE + sizeof(int)) {
        memcpy(at, address, PAGE);
        if (i == RANKS - 1 && !last_is_marked)
            memset(at + BYTES, 0x66, PAGE - BYTES);
        add(at);
    }
}

static void lay_fixed_table(void)
{
    lay_fixed(true);
}

static void lay_fixed_unmarked(void)
{
    lay_fixed(false);
}

/* One has not the bytes that all should have. */
static void lay_fixed_short(void)
{
    size_t bytes;
    const char *address = marked(&bytes);
    char *end = guarded(RANKS) + (ptrdiff_t) RANKS * PAGE;

    add(address);
    for (int i = 1; i < RANKS; i++)
        add(memcpy(end - (i == 1 ? (ptrdiff_t) bytes : (ptrdiff_t) i * PAGE),
                   address, bytes));
}

static void test_places(void **state)
{
    static const struct {
        void (*lay)(void);
        bool all;
    } rows[] = {{lay_table, true},       {lay_unmarked, false},
                {lay_alone, false},      {lay_same, false},
                {lay_near, false},       {lay_odd, false},
                {lay_fixed_table, true}, {lay_fixed_unmarked, false},
                {lay_fixed_short, false}};

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pid_t pid = fork();
        int status;

        if (pid == 0) {
            aspx_real.MPI_Comm_size = comm_size;
            aspx_real.MPI_Comm_create_keyval = create_keyval;
            aspx_world.size_users = RANKS;
            aspx_pack_peers_prepare();
            rows[i].lay();
            aspx_pack_peers_start();
            _exit(aspx_pack_peers_all() == rows[i].all ? 0 : 1);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (status != 0)
            fail_msg("row %zu: status 0x%x", i, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
