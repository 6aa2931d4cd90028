/* SPDX-License-Identifier: BSD-3-Clause */
/* Not fprintf(): the program may hold stderr's lock while it waits for the
 * ghost that is told of. */
#include "config.h"

#include "suspect.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Below this share of the time it was stalled, a runnable ghost did not run. */
enum { RAN_PERCENT = 10 };

static const char *const doings[] = {
    [ASPX_STARTING] = "started",
    [ASPX_POLLING] = "made MPI progress",
    [ASPX_SERVING] = "served a lock",
    [ASPX_NAPPING] = "slept for want of work",
    [ASPX_PARKED] = "was parked",
    [ASPX_LEAVING] = "left MPI",
    [ASPX_GONE] = "exited",
};

enum { STARVED = 'r' }; /* R, but it got no CPU */

static const struct {
    char state;
    const char *is, *advice;
} states[] = {
    {'T', "stopped (SIGSTOP)",
     "kill -CONT on that node or scontrol resume lets it go on"},
    {'t', "held by a debugger",
     "Debug ghosts with ghost.timeout_s=0"},
    {'D', "blocked in the kernel",
     "Look for a lack of memory or a dead file system on that node"},
    {STARVED, "runnable but not scheduled",
     "Its CPU is taken: leave it one of its own, or raise ghost.timeout_s"},
    {'R', "busy inside MPI",
     "An operation is huge or MPI is stuck: see its stack with gdb -p, or "
     "raise ghost.timeout_s"},
    {'S', "asleep inside MPI or the kernel",
     "See its stack with gdb -p on that node"},
    {'?', "in no state that can be read", "Look for it on that node"},
};

char aspx_suspect_state(pid_t pid, uint64_t *cpu_p)
{
    unsigned long user = 0, system = 0;
    char path[64], text[1024], state = '?', *end;
    ssize_t got;
    int fd;

    if (cpu_p)
        *cpu_p = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return '?';
    got = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    end = strrchr(text, ')'); /* the name before it may hold anything */
    if (!end || sscanf(end + 1,
                       " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                       &state, &user, &system) < 1)
        return '?';
    if (cpu_p)
        *cpu_p = user + system;
    return state;
}

bool aspx_suspect_stopped(pid_t pid)
{
    char state = aspx_suspect_state(pid, NULL);

    return state == 'T' || state == 't';
}

/* Index in states[]. */
static size_t state_of(const struct aspx_suspect *suspect)
{
    size_t i, last = sizeof(states) / sizeof(states[0]) - 1;
    uint64_t cpu, length = suspect->stalled_s *
                           (uint64_t) sysconf(_SC_CLK_TCK);
    char state = aspx_suspect_state(suspect->pid, &cpu);

    if (state == 'R' && (cpu - suspect->cpu) * 100 < RAN_PERCENT * length)
        state = STARVED;
    for (i = 0; i < last && states[i].state != state; i++)
        ;
    return i;
}

static const char *doing(const struct aspx_suspect *suspect)
{
    uint32_t now = ASPX_STARTING;

    if (suspect->life)
        now = atomic_load(&suspect->life->doing);
    return now <= ASPX_GONE ? doings[now] : "wrote nonsense";
}

/* One line, one write. */
__attribute__((format(printf, 2, 3)))
static void tell(const struct aspx_suspect *suspect, const char *format, ...)
{
    char text[1024];
    size_t room = sizeof(text) - 1; /* for the newline */
    va_list args;
    int n;

    n = snprintf(text, room, "aspen: ghost process %d (world rank %d, node "
                 "%.64s) ", (int) suspect->pid, suspect->rank, suspect->node);
    va_start(args, format);
    if (n > 0 && (size_t) n < room)
        vsnprintf(text + n, room - (size_t) n, format, args);
    va_end(args);
    n = (int) strlen(text);
    text[n++] = '\n';
    if (write(STDERR_FILENO, text, (size_t) n) < 0)
        return;
}

void aspx_suspect_tell_stalled(const struct aspx_suspect *suspect,
                               const char *then)
{
    size_t state = state_of(suspect);

    tell(suspect, "has not moved for %u s while it %s: it is %s; %s. %s",
         suspect->stalled_s, doing(suspect), states[state].is, then,
         states[state].advice);
}

void aspx_suspect_tell_moving(const struct aspx_suspect *suspect)
{
    tell(suspect, "moves again");
}

void aspx_suspect_tell_died(const struct aspx_suspect *suspect,
                            const char *then)
{
    tell(suspect, "died while it %s; %s. Look for its core file or an "
         "out-of-memory kill on that node; --async-progress=off runs without "
         "ghosts", doing(suspect), then);
}
