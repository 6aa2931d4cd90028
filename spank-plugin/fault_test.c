/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call that can fail fails once: the n-th of them, for each n, in
 * slurmstepd and in a task. slurmstepd must go on, leak nothing and leave no
 * child; a task runs, or exits before it would run as the wrong thing.
 *
 * The linker sends the plugin's calls here (--wrap). */
#include "config.h"

#include "spank_host.h"
#include "spec.h"
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

static void describe_step(void)
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
    host_setenv(ASPS_REQUEST_ENV, "ghost:1");
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

/* Exit status of local task `slot`; 42 for a ghost, 43 for a user task that is
 * marked as one, 44 for one that is not. */
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
        _exit(host_getenv("ASPEN_ROLE") != NULL &&
                      host_getenv("ASPEN_LAYOUT") != NULL
                  ? 43
                  : 44);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_stepd(void **state)
{
    int fds = count_fds(), at, user, ghost;

    (void)state;
    for (at = 1; at < CALLS_MAX; at++) {
        describe_step();
        calls = 0;
        fail_at = at;
        start();
        fail_at = 0;
        user = task(0, 0);
        ghost = task(2, 0);
        if (!(user == 43 && ghost == 42) && !(user == 1 && ghost == 1))
            fail_msg("failure %d: user %d, ghost %d: %s", at, user, ghost,
                     host.log);
        if (user == 1 && host.log[0] == '\0')
            fail_msg("failure %d: the step fails silently", at);
        asps_stepd_exit();
        assert_int_equal(count_fds(), fds);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
        if (calls < at)
            break; /* fewer calls than that */
    }
    assert_in_range(at, 10, CALLS_MAX - 1); /* the faults did happen */
}

static void test_tasks(void **state)
{
    (void)state;
    describe_step();
    start();
    for (int at = 1; at < 30; at++) {
        int user = task(0, at), ghost = task(2, at);

        if (user != 43 && user != 1)
            fail_msg("failure %d: user task ends with %d", at, user);
        if (ghost != 42 && ghost != 1)
            fail_msg("failure %d: ghost ends with %d", at, ghost);
    }
    asps_stepd_exit();
}

static int setup_group(void **state)
{
    char text[256];

    (void)state;
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

    (void)state;
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
