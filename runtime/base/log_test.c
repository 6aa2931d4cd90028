/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines on stderr, as the reader of a pipe sees them: it gets each write(2) by
 * itself (O_DIRECT). The environment is read once, so each case is a process.
 */
#include "config.h"

#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATIENCE_S = 20 };

static char text[PIPE_BUF + 1]; /* of the last line that was read */

static bool next(int from)
{
    ssize_t got = read(from, text, sizeof(text) - 1);

    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* Runs it with these variables ("NAME=value"; NULL: none) and its stderr in a
 * pipe, whose reading end is returned. */
static int run(void (*work)(void), const char *one, const char *other)
{
    int ends[2], status;
    pid_t child;

    assert_int_equal(pipe2(ends, O_DIRECT), 0);
    child = fork();
    if (child == 0) {
        alarm(PATIENCE_S);
        (void) dup2(ends[1], STDERR_FILENO);
        unsetenv("ASPEN_LOG");
        unsetenv("ASPEN_REPORT");
        setenv("PMI_RANK", "7", 1);
        if (one)
            putenv((char *) (uintptr_t) one);
        if (other)
            putenv((char *) (uintptr_t) other);
        work();
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return ends[0];
}

static void say_all(void)
{
    aspx_log(ASPX_LOG_ERROR, "%s", "an error");
    aspx_log(ASPX_LOG_WARNING, "%s", "a warning");
    aspx_log(ASPX_LOG_NOTICE, "%s", "a notice");
    aspx_trace("%s", "a trace");
}

static void start_and_say_all(void)
{
    aspx_log_start("aspen-ghost");
    say_all();
}

static const char *const said[] = {"an error", "a warning", "a notice",
                                   "a trace"};

/* Just the first n are said, after this. */
static void expect(int from, const char *before, int n)
{
    char line[128];

    for (int i = 0; i < n; i++) {
        snprintf(line, sizeof(line), "%s%s\n", before, said[i]);
        assert_true(next(from));
        assert_string_equal(text, line);
    }
    assert_false(next(from));
    close(from);
}

static void test_without_environment(void **state)
{
    (void) state;
    expect(run(say_all, NULL, NULL), "aspen: ", 3);
    expect(run(start_and_say_all, NULL, NULL), "aspen-ghost: ", 3);
    expect(run(start_and_say_all, "ASPEN_REPORT=1", NULL), "aspen-ghost: ", 3);
}

/* The head is there, and nothing but its time may be any. */
static void expect_heads(int from, const char *name, int n)
{
    for (int i = 0; i < n; i++) {
        unsigned s, us;
        char program[16], module[32], rest[32];

        assert_true(next(from));
        assert_int_equal(sscanf(text,
                                "%15[^:]: %u.%6u rank 7 %31[^:]: %31[^\n]",
                                program, &s, &us, module, rest),
                         5);
        assert_string_equal(program, name);
        assert_string_equal(module, "base");
        assert_string_equal(rest, said[i]);
    }
    assert_false(next(from));
    close(from);
}

static void test_levels(void **state)
{
    (void) state;
    expect_heads(run(say_all, "ASPEN_LOG=error", NULL), "aspen", 1);
    expect_heads(run(say_all, "ASPEN_LOG=warning", NULL), "aspen", 2);
    expect_heads(run(say_all, "ASPEN_LOG=notice", "ASPEN_REPORT=trace"),
                 "aspen", 3);
    expect_heads(run(start_and_say_all, "ASPEN_LOG=trace", NULL), "aspen-ghost",
                 4);
    expect_heads(run(say_all, "ASPEN_REPORT=trace", NULL), "aspen", 4);
}

/* The first rank says what cannot be read; lines are as without it. */
static void test_no_level(void **state)
{
    int from = run(start_and_say_all, "ASPEN_LOG=loud", "PMI_RANK=0");

    (void) state;
    assert_true(next(from));
    assert_string_equal(text, "aspen-ghost: ASPEN_LOG=loud is none of error, "
                              "warning, notice, trace\n");
    expect(from, "aspen-ghost: ", 3);
    expect(run(start_and_say_all, "ASPEN_LOG=loud", NULL), "aspen-ghost: ", 3);
}

static void say_much(void)
{
    static char much[2 * PIPE_BUF];

    memset(much, 'x', sizeof(much) - 1);
    aspx_log(ASPX_LOG_ERROR, "%s", much);
    aspx_log(ASPX_LOG_ERROR, "%d", 1);
}

static void test_long(void **state)
{
    int from = run(say_much, NULL, NULL);

    (void) state;
    assert_true(next(from));
    assert_true(strlen(text) > PIPE_BUF - 4 && strlen(text) <= PIPE_BUF);
    assert_string_equal(text + strlen(text) - 2, "x\n");
    assert_true(next(from));
    assert_string_equal(text, "aspen: 1\n");
    close(from);
}

static void *hold_stderr(void *held)
{
    flockfile(stderr);
    (void) pthread_barrier_wait(held);
    for (;;)
        pause();
    return NULL;
}

/* Another thread has stderr's lock for good; so it is in a child of fork(). */
static void say_locked(void)
{
    pthread_barrier_t held;
    pthread_t holder;

    pthread_barrier_init(&held, NULL, 2);
    if (pthread_create(&holder, NULL, hold_stderr, &held) != 0)
        _exit(1);
    (void) pthread_barrier_wait(&held);
    errno = EDOM;
    aspx_log(ASPX_LOG_ERROR, "%s", said[0]);
    if (errno != EDOM)
        _exit(1);
}

static void test_lock(void **state)
{
    (void) state;
    expect(run(say_locked, NULL, NULL), "aspen: ", 1);
}

/* What was stderr is then a file of the program's. */
static void say_closed(void)
{
    int other = dup(STDERR_FILENO);

    (void) fclose(stderr);
    if (dup2(other, STDERR_FILENO) != STDERR_FILENO)
        _exit(1);
    say_all();
}

static void test_closed(void **state)
{
    (void) state;
    expect(run(say_closed, NULL, NULL), "aspen: ", 0);
}

static void *say_lines(void *unused)
{
    for (int i = 0; i < 500; i++)
        say_all();
    return unused;
}

static void say_from_threads(void)
{
    pthread_t thread[3];

    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread[i], NULL, say_lines, NULL) != 0)
            _exit(1);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
}

/* Lines of processes and threads stay whole in an ordinary pipe: each is one
 * write, of PIPE_BUF bytes at most. */
static void test_whole_lines(void **state)
{
    char name[] = "/tmp/aspen-log-XXXXXX", line[64];
    int fd = mkstemp(name), n = 0, status;
    FILE *in;

    (void) state;
    assert_true(fd >= 0);
    unlink(name);
    assert_true(fcntl(fd, F_SETFL, O_APPEND) == 0);
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            (void) dup2(fd, STDERR_FILENO);
            say_from_threads();
            _exit(0);
        }
    while (wait(&status) > 0)
        assert_int_equal(status, 0);
    in = fdopen(fd, "r");
    rewind(in);
    while (fgets(line, sizeof(line), in)) {
        bool known = false;

        for (int i = 0; i < 3; i++)
            known |= strncmp(line, "aspen: ", 7) == 0 &&
                     strncmp(line + 7, said[i], strlen(said[i])) == 0 &&
                     line[7 + strlen(said[i])] == '\n';
        assert_true(known);
        n++;
    }
    assert_int_equal(n, 2 * 3 * 500 * 3);
    (void) fclose(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_environment),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_no_level),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_lock),
        cmocka_unit_test(test_closed),
        cmocka_unit_test(test_whole_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
