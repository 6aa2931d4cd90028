/* SPDX-License-Identifier: BSD-3-Clause */
/* Running aspen-pmix-put. Called by layout_fetch.c only, inside somebody else's
 * program: no thread, no handler, no descriptor and no zombie may stay, and
 * the program's own SIGCHLD handling must not see our child. */
#include "config.h"

#include "pmix_child.h"

#include "runtime/base/backoff.h"

#include "common/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { KILLED_MS = 1000 /* what a killed child gets; then it is a zombie */ };

/* What the child may see of the program's environment: what a PMIx client
 * reads, and what the loader needs to find libpmix. Never LD_PRELOAD. */
static bool is_wanted(const char *var)
{
    return strncmp(var, "PMIX_", 5) == 0 ||
           strncmp(var, "LD_LIBRARY_PATH=", 16) == 0;
}

/* NULL-terminated list of borrowed strings; free() the list. */
static char **make_environment(void)
{
    size_t n = 0;
    size_t used = 0;
    char **list;

    while (environ != NULL && environ[n] != NULL)
        n++;
    list = calloc(n + 1, sizeof(*list));
    if (list == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (is_wanted(environ[i]))
            list[used++] = environ[i];
    return list;
}

static int start(const char *path, const char *verb, int in, int out,
                 pid_t *pid_p)
{
    char *argv[] = {(char *) path, (char *) verb, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    char **env = make_environment();
    sigset_t all;
    sigset_t none;
    int rc;

    if (env == NULL)
        return ENOMEM;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setflags(&attr,
                             POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null",
                                     O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    rc = posix_spawn(pid_p, path, &files, &attr, argv, env);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    free(env);
    return rc;
}

/* Read until end of file. Returns bytes, or -1 with errno. */
static ssize_t read_all(int fd, char *buf, size_t size, long long deadline_ms)
{
    size_t used = 0;

    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        long long left = deadline_ms - asp_now_ms();
        int ready = poll(&wait, 1, left > 0 ? (int) left : 0);
        ssize_t got;

        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0) {
            if (ready == 0)
                errno = ETIMEDOUT;
            return -1;
        }
        got = read(fd, buf + used, size - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -1 : (ssize_t) used;
        used += (size_t) got;
        if (used == size) {
            errno = EMSGSIZE;
            return -1;
        }
    }
}

/* SIGCHLD is held back while the child lives, and the one it raises is taken
 * away, unless one was pending before. */
struct hold {
    sigset_t before;
    bool pending;
};

static void hold_sigchld(struct hold *hold)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &set, &hold->before);
    sigpending(&set);
    hold->pending = sigismember(&set, SIGCHLD) == 1;
}

static void release_sigchld(const struct hold *hold)
{
    struct timespec no_wait = {0, 0};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    if (!hold->pending)
        while (sigtimedwait(&set, NULL, &no_wait) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &hold->before, NULL);
}

/* Wait for the child until then. Returns whether it is gone: reaped, perhaps
 * by the kernel or the program. */
static bool reap(pid_t pid, int *status_p, long long deadline_ms)
{
    struct aspx_backoff backoff = {0};

    for (;;) {
        pid_t got = waitpid(pid, status_p, WNOHANG);

        if (got > 0 || (got < 0 && errno != EINTR))
            return true;
        if (asp_now_ms() >= deadline_ms)
            return false;
        (void) aspx_backoff_sleep(&backoff,
                                  &aspx_wait_table[ASPX_WAIT_PROCESS_ENDS]);
    }
}

/* Run the child to its end, or to the deadline. Returns bytes of output, or
 * -1 with errno. *status_p is its wait status, 0 when not known (the program
 * ignores SIGCHLD, so the kernel reaps). */
static ssize_t run(const char *path, const char *verb, int in, char *buf,
                   size_t size, int timeout_ms, int *status_p)
{
    long long deadline_ms = asp_now_ms() + timeout_ms;
    struct hold hold;
    ssize_t used = -1;
    int saved;
    int fds[2];
    pid_t pid;
    int rc;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return -1;
    hold_sigchld(&hold);
    rc = start(path, verb, in, fds[1], &pid);
    close(fds[1]);
    if (rc == 0) {
        used = read_all(fds[0], buf, size, deadline_ms);
        rc = used < 0 ? errno : 0;
        if (rc != 0 || !reap(pid, status_p, deadline_ms)) {
            kill(pid, SIGKILL);
            (void) reap(pid, status_p, asp_now_ms() + KILLED_MS);
        }
    }
    saved = rc;
    release_sigchld(&hold);
    close(fds[0]);
    errno = saved;
    return used;
}

void aspx_child_put(const char *path, const char *text, int timeout_ms)
{
    int in = memfd_create("aspen-layout", MFD_CLOEXEC);
    char reason[256];
    size_t len = strlen(text);
    int status;

    if (in < 0)
        return;
    if (write(in, text, len) == (ssize_t) len && lseek(in, 0, SEEK_SET) == 0)
        run(path, "put", in, reason, sizeof(reason), timeout_ms, &status);
    close(in);
}
