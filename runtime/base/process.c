/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads /proc/PID/task/PID/stat, which has the state of the first thread only.
 * A process is told from a later one with the same number by the time at which
 * it started. */
#include "config.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static ssize_t read_stat(pid_t pid, char *text, size_t size)
{
    char path[64];
    ssize_t got;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int) pid, (int) pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    got = read(fd, text, size - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got;
}

/* The first thread may end before the others: such a process is a zombie with
 * more than one thread, and lives. */
static bool is_over(char state, long threads)
{
    return strchr("ZXx", state) && threads <= 1;
}

struct aspx_process_look aspx_process_look(const struct aspx_process *process)
{
    struct aspx_process_look look = {.state = '?'};
    unsigned long user, system;
    unsigned long long started;
    char text[1024], state, *end = NULL;
    long threads;

    if (read_stat(process->pid, text, sizeof(text)) > 0)
        end = strrchr(text, ')'); /* the name before it may hold anything */
    if (!end || sscanf(end + 1,
                       " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu "
                       "%*d %*d %*d %*d %ld %*d %llu",
                       &state, &user, &system, &threads, &started) != 5) {
        look.ended = kill(process->pid, 0) != 0 && errno == ESRCH;
        return look;
    }
    look.state = state;
    look.cpu = user + system;
    look.started = started;
    look.ended = is_over(state, threads) ||
                 (process->started && process->started != started);
    return look;
}

void aspx_process_know(struct aspx_process *process, pid_t pid)
{
    *process = (struct aspx_process){.pid = pid};
    if (pid > 0)
        process->started = aspx_process_look(process).started;
}
