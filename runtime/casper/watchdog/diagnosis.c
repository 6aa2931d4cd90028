/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said of a ghost that does not move, or has died: its state in words,
 * and what to do. */
#include "config.h"

#include "diagnosis.h"

#include "runtime/base/log.h"

#include <stdarg.h>
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

static const char *last_doing(const struct aspx_diagnosis *diagnosis)
{
    uint32_t now = ASPX_STARTING;

    if (diagnosis->heartbeat)
        now = atomic_load(&diagnosis->heartbeat->doing);
    return now <= ASPX_GONE ? doings[now] : "wrote nonsense";
}

#define GHOST_FORMAT "ghost process %d (world rank %d, node %.64s) "
#define GHOST_ARGUMENTS                                                        \
    (int) diagnosis->process.pid, diagnosis->rank, diagnosis->node

void aspx_diagnosis_report_stalled(const struct aspx_diagnosis *diagnosis,
                                   const char *then)
{
    size_t state = state_of(diagnosis);

    aspx_log(ASPX_LOG_WARNING,
             GHOST_FORMAT
             "has not moved for %u s while it %s: it is %s; %s. %s",
             GHOST_ARGUMENTS, diagnosis->still_s, last_doing(diagnosis),
             states[state].is, then, states[state].advice);
}

void aspx_diagnosis_report_moving(const struct aspx_diagnosis *diagnosis)
{
    aspx_log(ASPX_LOG_NOTICE, GHOST_FORMAT "moves again", GHOST_ARGUMENTS);
}

void aspx_diagnosis_report_died(const struct aspx_diagnosis *diagnosis,
                                const char *then)
{
    aspx_log(
        ASPX_LOG_ERROR,
        GHOST_FORMAT
        "died while it %s; %s. Look for its core file or an "
        "out-of-memory kill on that node; --async-progress=off runs without "
        "ghosts",
        GHOST_ARGUMENTS, last_doing(diagnosis), then);
}
