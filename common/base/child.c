/* SPDX-License-Identifier: BSD-3-Clause */
/* fork, exec, and read two pipes until both end or the deadline. Also our own
 * programs are bounded: srun must not hang on a broken installation. */
#include "config.h"

#include "child.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct sink {
    int fd; /* -1: ended */
    char *buf;
    size_t bytes;
    size_t used;
};

static void child(char *const argv[], int out, int err)
{
    sigset_t none;
    int null = open("/dev/null", O_RDONLY);

    /* srun blocks the signals it handles before it loads plugins. */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (null >= 0)
        dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execv(argv[0], argv);
    _exit(127);
}

static void drain(struct sink *sink)
{
    char scrap[4096];
    bool full = sink->used + 1 >= sink->bytes;
    char *to = full ? scrap : sink->buf + sink->used;
    size_t most = full ? sizeof(scrap) : sink->bytes - 1 - sink->used;
    ssize_t got = read(sink->fd, to, most);

    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0) {
        close(sink->fd);
        sink->fd = -1;
        return;
    }
    if (!full)
        sink->used += (size_t) got;
}

/* Returns 0 when both sinks ended, -1 with ETIMEDOUT. */
static int collect(struct sink sinks[2], long long deadline_ms)
{
    while (sinks[0].fd >= 0 || sinks[1].fd >= 0) {
        struct pollfd wait[2] = {{.fd = sinks[0].fd, .events = POLLIN},
                                 {.fd = sinks[1].fd, .events = POLLIN}};
        long long left = deadline_ms - asp_now_ms();

        if (left <= 0) {
            errno = ETIMEDOUT;
            return -1;
        }
        if (poll(wait, 2, (int) left) < 0 && errno != EINTR)
            return -1;
        for (int i = 0; i < 2; i++)
            if (sinks[i].fd >= 0 && wait[i].revents)
                drain(&sinks[i]);
    }
    return 0;
}

/* The program closed its output, so it is about to end; give it until the
 * deadline, then kill it. */
static int reap(pid_t pid, long long deadline_ms, int *status_p)
{
    struct timespec pause = {.tv_nsec = 2000000};

    for (;;) {
        pid_t got = waitpid(pid, status_p, WNOHANG);

        if (got == pid)
            return 0;
        if (got < 0 && errno != EINTR)
            return -1;
        if (asp_now_ms() >= deadline_ms)
            break;
        nanosleep(&pause, NULL);
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, status_p, 0) < 0 && errno == EINTR)
        ;
    errno = ETIMEDOUT;
    return -1;
}

static int fork_and_read(char *const argv[], int timeout_ms, char *out,
                         size_t out_bytes, char *err, size_t err_bytes,
                         int *status_p)
{
    long long deadline_ms = asp_now_ms() + timeout_ms;
    struct sink sinks[2] = {{.fd = -1, .buf = out, .bytes = out_bytes},
                            {.fd = -1, .buf = err, .bytes = err_bytes}};
    int pipes[2][2] = {{-1, -1}, {-1, -1}};
    int rc = -1;
    pid_t pid;

    out[0] = err[0] = '\0';
    if (pipe2(pipes[0], O_CLOEXEC) < 0 || pipe2(pipes[1], O_CLOEXEC) < 0)
        goto out;
    pid = fork();
    if (pid < 0)
        goto out;
    if (pid == 0)
        child(argv, pipes[0][1], pipes[1][1]);
    for (int i = 0; i < 2; i++) {
        close(pipes[i][1]);
        pipes[i][1] = -1;
        sinks[i].fd = pipes[i][0];
        pipes[i][0] = -1;
    }
    rc = collect(sinks, deadline_ms);
    if (reap(pid, rc == 0 ? deadline_ms : 0, status_p) < 0)
        rc = -1;
    out[sinks[0].used] = err[sinks[1].used] = '\0';
out:
    for (int i = 0; i < 2; i++) {
        int saved = errno;

        if (pipes[i][0] >= 0)
            close(pipes[i][0]);
        if (pipes[i][1] >= 0)
            close(pipes[i][1]);
        if (sinks[i].fd >= 0)
            close(sinks[i].fd);
        errno = saved;
    }
    return rc;
}

/* Where srun inherited SIGCHLD as ignored there would be no status to read. */
int asp_child_run(char *const argv[], int timeout_ms, char *out,
                  size_t out_bytes, char *err, size_t err_bytes, int *status_p)
{
    struct sigaction plain = {.sa_handler = SIG_DFL}, before;
    bool changed = sigaction(SIGCHLD, NULL, &before) == 0 &&
                   (before.sa_handler == SIG_IGN ||
                    (before.sa_flags & SA_NOCLDWAIT) != 0);
    int rc, saved;

    if (changed)
        sigaction(SIGCHLD, &plain, NULL);
    rc = fork_and_read(argv, timeout_ms, out, out_bytes, err, err_bytes,
                       status_p);
    saved = errno;
    if (changed)
        sigaction(SIGCHLD, &before, NULL);
    errno = saved;
    return rc;
}
