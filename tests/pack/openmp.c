/* SPDX-License-Identifier: BSD-3-Clause */
/* Who carries out chunks of runtime/pack/openmp.h, in the situations that a
 * program may be in when it calls MPI. Compiled with the OpenMP that is tried.
 *
 * usage: openmp [THREADS [CHUNKS [US]]]
 *
 * Chunks sleep, so that all threads of a team can be at work at once on any
 * number of processors. A line for each situation:
 *
 *   NAME: CHUNKS by THREADS threads, COMPUTING by computing ones,
 *         NEW new threads, MS ms
 */
#include "runtime/mpi/helper_thread.h"
#include "runtime/pack/openmp.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

#if __GNUC__ >= 16 /* programs say "master", which newer standards deprecate   \
                    */
#pragma GCC diagnostic ignored "-Wdeprecated-openmp"
#endif

enum { THREADS_MAX = 64, ARRIVE_MS = 40, NS = 1000000 };

static int threads = 4, chunks = 40, chunk_us = 1000;

/* Aspen has no thread of its own here. */
bool aspx_helper_thread_runs(void)
{
    return false;
}

static void sleep_us(int us)
{
    struct timespec time = {us / 1000000, (long) us % 1000000 * 1000};

    nanosleep(&time, NULL);
}

static void sleep_ms(int ms)
{
    sleep_us(ms * 1000);
}

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double) now.tv_sec + 1e-6 * (double) now.tv_nsec;
}

static int count_threads(void)
{
    struct stat tasks;

    return stat("/proc/self/task", &tasks) == 0 ? (int) tasks.st_nlink - 2 : 0;
}

/* ---- work ------------------------------------------------------------------ */

static _Thread_local bool computes; /* this thread does something of its own */

struct tally {
    atomic_int done, of_computing;
    atomic_bool took_part[THREADS_MAX];
};

static atomic_int numbers;
static _Thread_local int number; /* of a thread, from 1 */

static void chunk(void *data, uint64_t i)
{
    struct tally *tally = data;

    (void) i;
    if (!number) {
        number = 1 + atomic_fetch_add(&numbers, 1);
        prctl(PR_SET_TIMERSLACK, 1); /* ns; as long as it says */
    }
    tally->took_part[number % THREADS_MAX] = true;
    tally->done++;
    tally->of_computing += computes;
    sleep_us(chunk_us);
}

/* What a call of MPI does. */
static void work(const char *situation, int n)
{
    struct tally tally = {0};
    struct aspx_openmp_work work = {chunk, &tally, 0, (uint64_t) n};
    int before = count_threads(), parts = 0;
    double began = now_ms();
    unsigned came = aspx_openmp_run(&work, aspx_openmp_idle());

    began = now_ms() - began;
    for (int i = 0; i < THREADS_MAX; i++)
        parts += tally.took_part[i];
    printf("%s: %d by %d threads, %d by computing ones, %d new threads, "
           "%.1f ms%s\n",
           situation, tally.done, parts, tally.of_computing,
           count_threads() - before, began,
           (int) came == parts - 1 ? "" : ", miscounted");
    fflush(stdout);
}

static void compute(int ms)
{
    computes = true;
    sleep_ms(ms);
    computes = false;
}

/* ---- situations ------------------------------------------------------------ */

static void in_worksharing(void)
{
#pragma omp parallel
    {
#pragma omp single
        {
            sleep_ms(ARRIVE_MS);
            work("single", chunks);
        }
#pragma omp master
        {
            sleep_ms(ARRIVE_MS);
            work("master, barrier", chunks);
        }
#pragma omp barrier
        if (omp_get_thread_num() == 1)
            compute(chunks * chunk_us / 1000 + 100);
#pragma omp master
        {
            sleep_ms(ARRIVE_MS);
            work("master, one computes", chunks);
        }
#pragma omp barrier
        if (omp_get_thread_num() != 0)
            compute(chunks * chunk_us / 1000 + 200);
#pragma omp master
        {
            sleep_ms(ARRIVE_MS);
            work("master, all compute", chunks);
            work("master, all compute again", chunks / 4);
        }
#pragma omp barrier
#pragma omp single nowait
        {
            sleep_ms(ARRIVE_MS);
            work("single nowait", chunks);
        }
    }
}

static void in_loops(void)
{
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < threads; i++) {
            if (i == 0) {
                sleep_ms(ARRIVE_MS);
                work("dynamic loop", chunks);
            }
        }
    }
#pragma omp parallel
    {
#pragma omp sections
        {
#pragma omp section
            {
                sleep_ms(ARRIVE_MS);
                work("sections", chunks);
            }
#pragma omp section
            sleep_ms(1);
        }
    }
}

static void in_critical(void)
{
    int entered = 0;

#pragma omp parallel
    {
#pragma omp critical
        {
            if (entered++ == 0) {
                sleep_ms(ARRIVE_MS);
                work("critical, first", chunks);
            }
        }
    }
    entered = 0;
#pragma omp parallel
    {
#pragma omp critical
        {
            char name[40];

            snprintf(name, sizeof(name), "critical, %d before", entered++);
            sleep_ms(ARRIVE_MS);
            work(name, chunks);
        }
    }
}

static atomic_int own_tasks_inside; /* of the program's, in a call of MPI */
static _Thread_local bool in_mpi;

static void own_task(int ms)
{
    own_tasks_inside += in_mpi;
    compute(ms);
}

/* Tasks of the program's own are there: they must not run inside the call. */
static void among_tasks(void)
{
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 2; i++) {
#pragma omp task
            own_task(chunks * chunk_us / 1000 + 50);
        }
        sleep_ms(10);
        work("single, two tasks run", chunks);
    }
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 4 * threads; i++) {
#pragma omp task
            own_task(20);
        }
        in_mpi = true;
        work("single, tasks wait", chunks / 4);
        in_mpi = false;
    }
    printf("%d tasks of the program ran inside\n", own_tasks_inside);
#pragma omp parallel
#pragma omp single
    {
#pragma omp task final(1)
        work("final task", chunks / 4);
#pragma omp taskwait
#pragma omp task
        {
            sleep_ms(ARRIVE_MS);
            work("explicit task", chunks);
        }
    }
}

static void nested(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
#pragma omp parallel num_threads(2)
#pragma omp single
        {
            sleep_ms(ARRIVE_MS);
            work("nested region", chunks / 4);
        }
    }
    omp_set_max_active_levels(1);
#pragma omp parallel num_threads(1)
    work("region of one", chunks / 4);
}

/* A team of another size than the next region would have. */
static void other_size(void)
{
    if (threads < 3)
        return;
#pragma omp parallel num_threads(threads - 1)
    sleep_ms(1);
    work("outside, after a smaller region", chunks / 4);
}

static int argument(int argc, char **argv, int i, int otherwise)
{
    return argc > i ? atoi(argv[i]) : otherwise;
}

int main(int argc, char **argv)
{
    threads = argument(argc, argv, 1, threads);
    chunks = argument(argc, argv, 2, chunks);
    chunk_us = argument(argc, argv, 3, chunk_us);
    aspx_openmp_prepare();
    if (!aspx_openmp_start()) {
        puts("no OpenMP");
        return 0;
    }
    omp_set_num_threads(threads);
    work("outside, no region before", chunks / 4);
    in_worksharing();
    in_loops();
    in_critical();
    among_tasks();
    work("outside, after regions", chunks);
    other_size();
    nested();
    return 0;
}
