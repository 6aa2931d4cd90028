/* SPDX-License-Identifier: BSD-3-Clause */
/* See fault_state.h. What holds the ghost is a child of it: that ends when the
 * ghost does, and makes only calls that are safe in a child of many threads. */
#define _GNU_SOURCE
#include "config.h"

#include "fault_state.h"

#include <stdbool.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_US = 50000, HOG_NICE = -20 };

static bool lasts(const char *during)
{
    return access(during, F_OK) == 0;
}

static void be_asleep(const char *during)
{
    while (lasts(during))
        usleep(LOOK_US);
}

static void be_busy(const char *during)
{
    while (lasts(during))
        for (volatile int i = 0; i < LOOK_US; i++)
            ;
}

/* The first act of a child of `ghost`. */
static void go_with(pid_t ghost)
{
    prctl(PR_SET_NAME, "fault");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != ghost)
        _exit(1);
}

/* The parent of a vfork() cannot be interrupted before its child is gone. */
static void be_blocked(const char *during)
{
    const pid_t self = getpid();

    if (vfork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == self)
            be_asleep(during);
        _exit(0);
    }
}

static void hold(pid_t ghost, const char *during)
{
    if (ptrace(PTRACE_SEIZE, ghost, NULL, NULL) != 0 ||
        ptrace(PTRACE_INTERRUPT, ghost, NULL, NULL) != 0 ||
        waitpid(ghost, NULL, __WALL) != ghost)
        _exit(1);
    be_asleep(during);
    ptrace(PTRACE_DETACH, ghost, NULL, NULL);
    _exit(0);
}

static void be_held(const char *during)
{
    const pid_t self = getpid();
    pid_t child = fork();

    if (child == 0) {
        go_with(self);
        hold(self, during);
    }
    prctl(PR_SET_PTRACER, child);
    be_asleep(during); /* but for the tracer, who comes now */
}

/* The last CPU that we may use becomes that of ghost and hog. */
static void share_cpu(void)
{
    cpu_set_t all, last;
    int cpu = CPU_SETSIZE;

    sched_getaffinity(0, sizeof(all), &all);
    while (--cpu > 0 && !CPU_ISSET(cpu, &all))
        ;
    CPU_ZERO(&last);
    CPU_SET(cpu, &last);
    sched_setaffinity(0, sizeof(last), &last);
}

static void be_starved(const char *during)
{
    const struct sched_param none = {0};
    const pid_t self = getpid();
    cpu_set_t before;
    pid_t child;

    sched_getaffinity(0, sizeof(before), &before);
    share_cpu();
    child = fork();
    if (child == 0) {
        go_with(self);
        setpriority(PRIO_PROCESS, 0, HOG_NICE);
        be_busy(during);
        _exit(0);
    }
    sched_setscheduler(0, SCHED_IDLE, &none);
    waitpid(child, NULL, WNOHANG);
    be_busy(during); /* would, but for the hog */
    sched_setscheduler(0, SCHED_OTHER, &none);
    sched_setaffinity(0, sizeof(before), &before);
    waitpid(child, NULL, 0);
}

static const struct {
    const char *name;
    void (*be)(const char *during);
} states[] = {
    {"asleep", be_asleep}, {"blocked", be_blocked}, {"busy", be_busy},
    {"held", be_held},     {"starved", be_starved},
};

int fault_state(const char *name, const char *during)
{
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
        if (strcmp(states[i].name, name) == 0) {
            states[i].be(during);
            return 0;
        }
    return -1;
}
