/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that save to one file at once, and one that stops meanwhile. */
#include "config.h"

#include "store.h"

#include "common/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SAVERS = 6, SAVES = 20, PATIENCE_MS = 60000, SHORT_MS = 100 };

static char folder[] = "/tmp/aspen-store-test-XXXXXX", path[64];

static int read_number(void)
{
    FILE *file = fopen(path, "r");
    int n = 0;

    if (file) {
        if (fscanf(file, "%d", &n) != 1)
            _exit(3); /* half a file was seen */
        fclose(file);
    }
    return n;
}

/* Add one to the number in the file. */
static void save_once(void)
{
    struct asp_tune_store store;
    char text[32];

    if (!asp_tune_store_open(&store, path, PATIENCE_MS))
        _exit(1);
    snprintf(text, sizeof(text), "%d\n", read_number() + 1);
    usleep(200);
    if (asp_tune_store_write(&store, text, strlen(text)) < 0)
        _exit(2);
    asp_tune_store_close(&store);
}

static pid_t start_saver(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        for (int i = 0; i < SAVES; i++)
            save_once();
        _exit(0);
    }
    return pid;
}

/* Names in the folder, of which one is the file itself. */
static size_t count_names(void)
{
    char pattern[80];
    glob_t found;
    size_t n;

    snprintf(pattern, sizeof(pattern), "%s/*", folder);
    n = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return n;
}

static void test_at_once(void **state)
{
    pid_t pids[SAVERS];
    int status;

    (void) state;
    for (int i = 0; i < SAVERS; i++)
        pids[i] = start_saver();
    for (int i = 0; i < SAVERS; i++) {
        waitpid(pids[i], &status, 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(read_number(), SAVERS * SAVES);
    assert_int_equal(count_names(), 1);
}

/* One that holds the lock and goes no further, then one that was killed. */
static void test_stopped(void **state)
{
    struct asp_tune_store store;
    int64_t begun;
    int ready[2];
    char byte = 0;
    pid_t pid;

    (void) state;
    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
            asp_tune_store_open(&store, path, PATIENCE_MS) &&
            write(ready[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    begun = asp_now_ms();
    assert_false(asp_tune_store_open(&store, path, SHORT_MS));
    assert_in_range(asp_now_ms() - begun, SHORT_MS, PATIENCE_MS);
    assert_int_equal(asp_tune_store_write(&store, "7\n", 2), 0);
    asp_tune_store_close(&store); /* leaves the other's lock */
    assert_int_equal(read_number(), 7);
    assert_int_equal(count_names(), 2);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_true(asp_tune_store_open(&store, path, SHORT_MS));
    assert_int_equal(fcntl(store.lock, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    asp_tune_store_close(&store);
    assert_int_equal(count_names(), 1);
}

static void test_refused(void **state)
{
    struct asp_tune_store store;
    struct stat st;
    mode_t mask = umask(027);

    (void) state;
    assert_true(asp_tune_store_open(&store, path, SHORT_MS));
    assert_int_equal(asp_tune_store_write(&store, "1\n", 2), 0);
    asp_tune_store_close(&store);
    umask(mask);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_false(asp_tune_store_open(&store, "/none/table", SHORT_MS));
    assert_int_equal(asp_tune_store_write(&store, "1\n", 2), -1);
    assert_int_equal(errno, ENOENT);
    asp_tune_store_close(&store);
    assert_true(asp_tune_store_open(&store, folder, SHORT_MS));
    assert_int_equal(asp_tune_store_write(&store, "1\n", 2), -1);
    assert_int_equal(errno, EISDIR);
    asp_tune_store_close(&store);
    assert_int_equal(count_names(), 1); /* nothing is left behind */
}

static int set_up(void **state)
{
    (void) state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/table", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void) state;
    (void) unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_once),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
