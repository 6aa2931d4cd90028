/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call that can fail fails once: the n-th of them, for each n, in
 * slurmstepd and in a task. slurmstepd must go on, leak nothing and leave no
 * child; a task runs, or exits before it would run as the wrong thing.
 *
 * The linker sends the plugin's calls here (--wrap). */
#include "config.h"

#include "spank_host.h"
#include "filter.h"
#include "stepd.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { CALLS_MAX = 200 };

static int calls, fail_at; /* 0: none fails */
static char dir[64];

static bool fails(int errnum)
{
    if (fail_at == 0 || ++calls != fail_at)
        return false;
    errno = errnum;
    return true;
}

/* The linker's names for the real calls and ours. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
int __real_pipe2(int fds[2], int flags);
pid_t __real_fork(void);
int __real_memfd_create(const char *name, unsigned flags);
void *__real_mmap(void *at, size_t size, int prot, int flags, int fd, off_t o);
int __real_ftruncate(int fd, off_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
int __wrap_pipe2(int fds[2], int flags);
pid_t __wrap_fork(void);
int __wrap_memfd_create(const char *name, unsigned flags);
void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t o);
int __wrap_ftruncate(int fd, off_t size);

void *__wrap_malloc(size_t size)
{
    return fails(ENOMEM) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails(ENOMEM) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails(ENOMEM) ? NULL : __real_realloc(old, size);
}

int __wrap_pipe2(int fds[2], int flags)
{
    return fails(EMFILE) ? -1 : __real_pipe2(fds, flags);
}

pid_t __wrap_fork(void)
{
    return fails(EAGAIN) ? -1 : __real_fork();
}

int __wrap_memfd_create(const char *name, unsigned flags)
{
    return fails(EMFILE) ? -1 : __real_memfd_create(name, flags);
}

void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t o)
{
    return fails(ENOMEM) ? MAP_FAILED
                         : __real_mmap(at, size, prot, flags, fd, o);
}

int __wrap_ftruncate(int fd, off_t size)
{
    return fails(ENOSPC) ? -1 : __real_ftruncate(fd, size);
}

static void describe_step(const char *request)
{
    host_reset();
    host.context = S_CTX_REMOTE;
    host.uid = getuid() == 0 ? 64998 : getuid();
    host.gid = host.gids[0] = getuid() == 0 ? 64997 : getgid();
    host.ngids = 1;
    host.job = 12;
    host.nnodes = 1;
    host.ntasks = host.nlocal = 3;
    for (uint32_t i = 0; i < host.nlocal; i++)
        host.ranks[i] = i;
    host_setenv("SLURM_STEP_TASKS_PER_NODE", "3");
    host_setenv("SLURM_NTASKS", "3");
    host_setenv("SLURM_GTIDS", "0,1,2");
    host_setenv("SLURM_PROCID", "0");
    host_setenv("LD_PRELOAD", "/opt/user.so");
    host_setenv(ASPS_REPORT_ENV, "1"); /* without it mode off does nothing */
    host_setenv(ASPS_REQUEST_ENV, request);
}

static void start(void)
{
    static char args[3][128];
    char *argv[3];

    snprintf(args[0], sizeof(args[0]), "agent=%s/fake_agent-good", dir);
    snprintf(args[1], sizeof(args[1]), "ghost=%s/ghost", dir);
    snprintf(args[2], sizeof(args[2]), "runtime=%s/ghost", dir);
    for (int i = 0; i < 3; i++)
        argv[i] = args[i];
    assert_int_equal(asps_stepd_init(NULL, 3, argv), 0);
    assert_int_equal(asps_stepd_user_init(NULL), 0);
}

static int count_fds(void)
{
    DIR *fds = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(fds) != NULL)
        n++;
    closedir(fds);
    return n;
}

/* How a task can end. */
enum { FAILED = 1, GHOST = 42, WITH_ASPEN, PLAIN, HALF };

static int what_it_is(void)
{
    const char *preload = host_getenv("LD_PRELOAD");
    bool marked = host_getenv("ASPEN_ROLE") != NULL &&
                  host_getenv("ASPEN_LAYOUT") != NULL;

    if (marked && strstr(preload, "/ghost:/opt/user.so") != NULL)
        return WITH_ASPEN;
    return !marked && strcmp(preload, "/opt/user.so") == 0 ? PLAIN : HALF;
}

/* Exit status of local task `slot`. */
static int task(int slot, int at)
{
    int status = -1;
    pid_t pid = __real_fork();

    if (pid == 0) {
        calls = 0;
        fail_at = at;
        host.task = slot;
        asps_stepd_task_init(NULL);
        fail_at = 0;
        host_exec();
        _exit(what_it_is());
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Every mode, and what a shortage may cost: all of the step with ghosts or
 * require, and only Aspen without. */
static const struct mode {
    const char *request;
    bool ghosts;
    bool may_fail;
} modes[] = {
    {"ghost:1", true, true},
    {"auto,adapt=auto", true, true},
    {"offload", false, false},
    {"thread", false, false},
    {"off", false, false},
    {"ghost:1,require", true, true},
    {"offload,require", false, true},
    {"thread,require", false, true},
};

/* Did the first and the last task become what they may? */
static bool is_right(const struct mode *mode, int first, int last)
{
    int wanted = mode->ghosts ? GHOST : WITH_ASPEN;

    if (first == FAILED && last == FAILED)
        return mode->may_fail;
    if (first == PLAIN && last == PLAIN)
        return !mode->ghosts;
    return first == WITH_ASPEN && last == wanted;
}

/* The at-th call in slurmstepd fails. Returns whether there are so many. */
static bool fail_in_stepd(const struct mode *mode, int at)
{
    int fds = count_fds(), first, last;

    describe_step(mode->request);
    calls = 0;
    fail_at = at;
    start();
    fail_at = 0;
    first = task(0, 0);
    last = task(2, 0);
    if (!is_right(mode, first, last))
        fail_msg("%s: failure %d: first task %d, last %d: %s", mode->request,
                 at, first, last, host.log);
    if ((first == FAILED || first == PLAIN) && host.log[0] == '\0')
        fail_msg("%s: failure %d: nothing is said", mode->request, at);
    asps_stepd_exit();
    assert_int_equal(count_fds(), fds);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    return calls >= at;
}

static void test_stepd(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        int at = 1;

        while (at < CALLS_MAX && fail_in_stepd(&modes[i], at))
            at++;
        /* The faults did happen; mode off calls nothing that can fail. */
        assert_in_range(at, strcmp(modes[i].request, "off") ? 10 : 1,
                        CALLS_MAX - 1);
    }
}

/* The at-th call in a task fails; tasks know of no other's failure. */
static void test_tasks(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        int wanted = modes[i].ghosts ? GHOST : WITH_ASPEN;

        describe_step(modes[i].request);
        start();
        for (int at = 1; at < 12; at++) {
            int first = task(0, at), last = task(2, at);
            int fault = modes[i].may_fail ? FAILED : PLAIN;

            if (first != WITH_ASPEN && first != fault)
                fail_msg("%s: failure %d: first task ends with %d",
                         modes[i].request, at, first);
            if (last != wanted && last != fault)
                fail_msg("%s: failure %d: last task ends with %d",
                         modes[i].request, at, last);
        }
        asps_stepd_exit();
    }
}

static int setup_group(void **state)
{
    char text[256];

    (void) state;
    strcpy(dir, "/tmp/aspen-fault-test-XXXXXX");
    if (mkdtemp(dir) == NULL || chmod(dir, 0755) < 0)
        return -1;
    snprintf(text, sizeof(text),
             "cp fake_agent %s/fake_agent-good && "
             "printf '#!/bin/sh\\nexit 42\\n' >%s/ghost && chmod 755 %s/ghost",
             dir, dir, dir);
    return system(text);
}

static int teardown_group(void **state)
{
    char text[128];

    (void) state;
    snprintf(text, sizeof(text), "rm -rf %s", dir);
    return system(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stepd),
        cmocka_unit_test(test_tasks),
    };

    alarm(60);
    return cmocka_run_group_tests(tests, setup_group, teardown_group);
}
