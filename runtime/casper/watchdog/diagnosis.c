/* SPDX-License-Identifier: BSD-3-Clause */
/* Not fprintf(): the program may hold stderr's lock while it waits for the
 * ghost that is told of. */
#include "config.h"

#include "diagnosis.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const doings[] = {
    [ASPX_STARTING] = "started",      [ASPX_POLLING] = "made MPI progress",
    [ASPX_SERVING] = "served a lock", [ASPX_NAPPING] = "slept for want of work",
    [ASPX_PARKED] = "was parked",     [ASPX_LEAVING] = "left MPI",
    [ASPX_GONE] = "exited",
};

enum { STARVED = 'r' }; /* R, but it got no CPU */

static const struct {
    char state;
    const char *is, *advice;
} states[] = {
    {'T', "stopped (SIGSTOP)",
     "kill -CONT on that node or scontrol resume lets it go on"},
    {'t', "held by a debugger", "Debug ghosts with ghost.timeout_s=0"},
    {'D', "blocked in the kernel",
     "Look for a lack of memory or a dead file system on that node"},
    {STARVED, "runnable but not scheduled",
     "Its CPU is taken: leave it one of its own, or raise ghost.timeout_s"},
    {'R', "busy inside MPI",
     "An operation is huge, or MPI is stuck: see its stack with gdb -p"},
    {'S', "asleep inside MPI or the kernel",
     "See its stack with gdb -p on that node"},
    {'?', "in no state that can be read", "Look for it on that node"},
};

bool aspx_diagnosis_stopped(char state)
{
    return state == 'T' || state == 't';
}

/* A clock tick is a hundredth of the second between two looks. */
void aspx_diagnosis_update(struct aspx_diagnosis *diagnosis,
                           const struct aspx_process_look *look, bool serving)
{
    bool ran = serving && diagnosis->still_s > 0 &&
               look->cpu > diagnosis->cpu &&
               !aspx_diagnosis_stopped(look->state);

    diagnosis->still_s++;
    diagnosis->idle_s = ran ? 0 : diagnosis->idle_s + 1;
    diagnosis->cpu = look->cpu;
    diagnosis->state = look->state;
}

/* Index in states[]. */
static size_t state_of(const struct aspx_diagnosis *diagnosis)
{
    size_t i, last = sizeof(states) / sizeof(states[0]) - 1;
    char state = diagnosis->state;

    if (diagnosis->idle_s == 0)
        state = 'R'; /* whatever it did at that instant */
    else if (state == 'R')
        state = STARVED;
    for (i = 0; i < last && states[i].state != state; i++)
        ;
    return i;
}

static const char *doing(const struct aspx_diagnosis *diagnosis)
{
    uint32_t now = ASPX_STARTING;

    if (diagnosis->heartbeat)
        now = atomic_load(&diagnosis->heartbeat->doing);
    return now <= ASPX_GONE ? doings[now] : "wrote nonsense";
}

/* One line, one write. */
__attribute__((format(printf, 2, 3))) static void tell(
    const struct aspx_diagnosis *diagnosis, const char *format, ...)
{
    char text[1024];
    size_t room = sizeof(text) - 1; /* for the newline */
    va_list args;
    int n;

    n = snprintf(text, room,
                 "aspen: ghost process %d (world rank %d, node "
                 "%.64s) ",
                 (int) diagnosis->process.pid, diagnosis->rank,
                 diagnosis->node);
    va_start(args, format);
    if (n > 0 && (size_t) n < room)
        vsnprintf(text + n, room - (size_t) n, format, args);
    va_end(args);
    n = (int) strlen(text);
    text[n++] = '\n';
    if (write(STDERR_FILENO, text, (size_t) n) < 0)
        return;
}

void aspx_diagnosis_report_stalled(const struct aspx_diagnosis *diagnosis,
                                   const char *then)
{
    size_t state = state_of(diagnosis);

    tell(diagnosis, "has not moved for %u s while it %s: it is %s; %s. %s",
         diagnosis->still_s, doing(diagnosis), states[state].is, then,
         states[state].advice);
}

void aspx_diagnosis_report_moving(const struct aspx_diagnosis *diagnosis)
{
    tell(diagnosis, "moves again");
}

void aspx_diagnosis_report_died(const struct aspx_diagnosis *diagnosis,
                                const char *then)
{
    tell(diagnosis,
         "died while it %s; %s. Look for its core file or an "
         "out-of-memory kill on that node; --async-progress=off runs without "
         "ghosts",
         doing(diagnosis), then);
}
