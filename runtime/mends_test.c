/* SPDX-License-Identifier: BSD-3-Clause */
/* Which mends a rank gets: by its mode, and where that could not come up. */
#include "config.h"

#include "mends.h"

#include "runtime/mpi/end_barrier.h"
#include "runtime/mpi/full_tag_mask.h"
#include "runtime/mpi/tcp_finalize_fix.h"
#include "runtime/mpi/ucx_signal_fix.h"
#include "runtime/pack/messages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- in the place of the mends -------------------------------------------- */

enum { END = 1, TCP = 2, SIGNAL = 4, MATCH = 8, PACK = 16, TWICE = 32 };

static int applied;

static void note(int mend)
{
    applied |= applied & mend ? TWICE : mend;
}

void aspx_end_barrier_patch(void)
{
    note(END);
}

void aspx_tcp_finalize_fix(void)
{
    note(TCP);
}

void aspx_ucx_signal_fix(void)
{
    note(SIGNAL);
}

void aspx_full_tag_mask(const struct asp_layout *layout)
{
    (void) layout;
    note(MATCH);
}

void aspx_pack_start(void)
{
    note(PACK);
}

/* ---- tests ---------------------------------------------------------------- */

static void test_modes(void **state)
{
    static const struct {
        enum asp_mode mode;
        bool plain;
        int mends;
    } rows[] = {
        {ASP_MODE_OFF, false, END | TCP | MATCH | PACK},
        {ASP_MODE_GHOST, false, END | TCP | SIGNAL | MATCH | PACK},
        {ASP_MODE_OFFLOAD, false, END | TCP | MATCH | PACK},
        {ASP_MODE_THREAD, false, END | TCP | MATCH | PACK},
        {ASP_MODE_GHOST, true, END | TCP},
        {ASP_MODE_OFFLOAD, true, END | TCP},
        {ASP_MODE_THREAD, true, END | TCP},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pid_t pid = fork();
        int status;

        if (pid == 0) {
            static struct asp_layout layout;

            layout.mode = rows[i].mode;
            aspx_mends_apply(&layout, rows[i].plain);
            aspx_mends_apply(&layout, rows[i].plain); /* once is all */
            _exit(applied);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), rows[i].mends);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_modes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
