/* SPDX-License-Identifier: BSD-3-Clause */
/* libaspenclock.so: how long the program of rank 0 takes, from its start to its
 * end, without Slurm's part of the job and the same with Aspen and without it.
 * `aspen compare` preloads it into the tasks of both and reads the file named
 * by ASPEN_CLOCK; elsewhere it does nothing.
 *
 * A task may be a shell that runs the program, so every process of the task
 * writes when it ends: the time since the first one began, which hands that on
 * in ASPEN_CLOCK_BEGIN. The last one to end is right. A process that begins
 * makes the file say nothing, so that nothing is all there is if it ends
 * without us (by a signal, by _exit() as some shells do). */
#include "config.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BEGIN_ENV "ASPEN_CLOCK_BEGIN"

static pid_t owner; /* 0: not to be measured; a forked child is not owner */
static double begin;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

static void put(const char *text)
{
    const char *path = getenv("ASPEN_CLOCK");
    int file = path ? open(path, O_WRONLY | O_TRUNC | O_CLOEXEC) : -1;

    if (file < 0)
        return;
    if (write(file, text, strlen(text)) < 0)
        unlink(path);
    close(file);
}

/* The begin of this task, "STEP SECONDS": ours, if there is none yet. Returns
 * false in a step within this one, whose clock may be another's. */
static bool find_begin(const char *step)
{
    const char *text = getenv(BEGIN_ENV);
    char mine[64], *end;

    if (text != NULL) {
        if (strtol(text, &end, 10) != strtol(step, NULL, 10))
            return false;
        begin = strtod(end, NULL);
        return true;
    }
    begin = now();
    snprintf(mine, sizeof(mine), "%.20s %.9f", step, begin);
    return setenv(BEGIN_ENV, mine, 1) == 0;
}

__attribute__((constructor)) static void start(void)
{
    const char *rank = getenv("SLURM_PROCID"), *step = getenv("SLURM_STEP_ID");

    if (getenv("ASPEN_CLOCK") == NULL || step == NULL || rank == NULL ||
        strcmp(rank, "0") != 0 || !find_begin(step))
        return;
    owner = getpid();
    put("");
}

__attribute__((destructor)) static void stop(void)
{
    char text[64];

    if (owner == 0 || owner != getpid())
        return;
    snprintf(text, sizeof(text), "%.6f\n", now() - begin);
    put(text);
}
