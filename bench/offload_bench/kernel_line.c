/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine takes for a word to another CPU and one back, without MPI:
 * no call that goes through a helper there can be faster. On virtual machines
 * it changes by a factor of four, when one of the CPUs moves. */
#include "config.h"

#include "bench.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { LINE = 128, ROUNDS = 100, REPEATS = 500, TRIALS = 20 };

/* How often to look whether CPUs are near. */
#define LOOK_S 0.02

static struct {
    _Alignas(LINE) _Atomic int there;
    _Alignas(LINE) _Atomic int back;
    int cpu, repeats;
} line;

/* Wait for a number; on a single CPU the other needs it to say so. */
static void await(_Atomic int *word, int number)
{
    for (int looks = 1;
         atomic_load_explicit(word, memory_order_acquire) != number; looks++) {
        if (looks % 10000 == 0)
            sched_yield();
    }
}

static void *answer(void *unused)
{
    cpu_set_t set;

    (void) unused;
    CPU_ZERO(&set);
    CPU_SET(line.cpu, &set);
    (void) sched_setaffinity(0, sizeof(set), &set);
    for (int i = 1; i <= ROUNDS * line.repeats; i++) {
        await(&line.there, i);
        atomic_store_explicit(&line.back, i, memory_order_release);
    }
    return NULL;
}

/* Another CPU of the rank's own, or the next one of the machine. */
static int other_cpu(void)
{
    int here = sched_getcpu();
    cpu_set_t set;

    CPU_ZERO(&set);
    (void) sched_getaffinity(0, sizeof(set), &set);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (cpu != here && CPU_ISSET(cpu, &set))
            return cpu;
    }
    return (here + 1) % (int) sysconf(_SC_NPROCESSORS_ONLN);
}

static void measure(int repeats, struct samples *samples)
{
    pthread_t thread;
    int number = 0;

    line.there = line.back = 0;
    line.cpu = other_cpu();
    line.repeats = repeats;
    pthread_create(&thread, NULL, answer, NULL);
    for (int i = 0; i < repeats; i++) {
        double begin = now();

        for (int k = 0; k < ROUNDS; k++) {
            atomic_store_explicit(&line.there, ++number, memory_order_release);
            await(&line.back, number);
        }
        add(samples, (now() - begin) / ROUNDS);
    }
    pthread_join(thread, NULL);
}

void line_run(struct bench *bench, struct samples *samples)
{
    (void) bench;
    measure(REPEATS, samples);
}

/* The least of a few trials: others may be at work. */
static bool are_near(double limit_s)
{
    static struct samples trials;
    double least = limit_s;

    trials.n = 0;
    measure(TRIALS, &trials);
    for (int i = 0; i < trials.n; i++)
        least = fmin(least, trials.at[i]);
    return least < limit_s;
}

void await_near(const struct bench *bench)
{
    double begin = now();

    while (!are_near(bench->near_s) && now() - begin < bench->patience_s)
        compute(bench, LOOK_S);
}
