/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations with pauses between them, so that ghosts fall asleep at every
 * point: does each one come back soon? The last rank does not call MPI
 * meanwhile.
 *
 * usage: rma_pauses SECONDS PAUSE_US
 *
 * Rank 0 prints how many operations there were, how many took longer than the
 * steps below, and the longest. */
#include "rma.h"

#include <time.h>

enum { WORDS = 1024, KINDS = 8, STEPS = 3 };

/* A wake-up that is lost takes a second less a pause. Half a second is also
 * reached where 15 processes want 2 CPUs. */
#define LIMIT_S 0.9

static const double step_s[STEPS] = {0.01, 0.1, LIMIT_S};
static const char *const names[KINDS] = {
    "exclusive", "shared", "all", "fetch", "get", "rget", "large", "swap"};

static long added; /* by this process, over all targets */
static unsigned seed;
static long buffer[WORDS];

static void rest(long us)
{
    const struct timespec length = {us / 1000000, us % 1000000 * 1000};

    nanosleep(&length, NULL);
}

static void add(int target, MPI_Win win)
{
    static const long one = 1;

    MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, win);
    added++;
}

static void lock_and_add(int mode, int target, MPI_Win win)
{
    MPI_Win_lock(mode, target, 0, win);
    add(target, win);
    MPI_Win_flush(target, win);
    MPI_Win_unlock(target, win);
}

static void operate(int kind, int target, MPI_Win win)
{
    const long one = 1, zero = 0;
    long result;
    MPI_Request request;

    if (kind < 2) {
        lock_and_add(kind ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, win);
        return;
    }
    MPI_Win_lock_all(0, win);
    switch (names[kind][0]) {
    case 'a':
        for (int t = 0; t < rma_size; t++)
            add(t, win);
        break;
    case 'f':
        MPI_Fetch_and_op(&one, &result, MPI_LONG, target, 0, MPI_SUM, win);
        added++;
        break;
    case 'g':
        MPI_Get(buffer, WORDS / 2, MPI_LONG, target, 1, WORDS / 2, MPI_LONG,
                win);
        break;
    case 'r':
        MPI_Rget_accumulate(NULL, 0, MPI_LONG, buffer, 1, MPI_LONG, target, 0,
                            1, MPI_LONG, MPI_NO_OP, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 'l':
        memset(buffer, 0, sizeof(buffer));
        MPI_Accumulate(buffer, WORDS, MPI_LONG, target, 0, WORDS, MPI_LONG,
                       MPI_SUM, win);
        break;
    case 's':
        MPI_Compare_and_swap(&zero, &zero, &result, MPI_LONG, target, 1, win);
        break;
    }
    MPI_Win_unlock_all(win);
}

struct times {
    double longest[KINDS], n[KINDS], longer[KINDS][STEPS];
};

static void measure(struct times *times, double end_s, long pause_us,
                    MPI_Win win)
{
    while (MPI_Wtime() < end_s) {
        int kind = rand_r(&seed) % KINDS, target = rand_r(&seed) % rma_size;
        double took;

        rest(rand_r(&seed) % (pause_us + 1));
        took = MPI_Wtime();
        operate(kind, target, win);
        took = MPI_Wtime() - took;
        times->n[kind]++;
        if (took > times->longest[kind])
            times->longest[kind] = took;
        for (int s = 0; s < STEPS; s++)
            times->longer[kind][s] += took > step_s[s];
        EXPECT(took < LIMIT_S, "%s took %.3f s", names[kind], took);
    }
}

static void print(const struct times *times)
{
    for (int k = 0; k < KINDS; k++) {
        printf("%-10s %6.0f, longer than", names[k], times->n[k]);
        for (int s = 0; s < STEPS; s++)
            printf(" %.2f s: %.0f,", step_s[s], times->longer[k][s]);
        printf(" longest %.3f s\n", times->longest[k]);
    }
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 5;
    long pause_us = argc > 2 ? atol(argv[2]) : 20000, here, total, sum = 0;
    struct times times = {0}, most = {0};
    MPI_Win win;
    long *base;

    rma_begin(&argc, &argv);
    seed = (unsigned) (rma_rank + 1) * 7919u + (unsigned) time(NULL);
    MPI_Win_allocate(WORDS * sizeof(long), sizeof(long), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &base, &win);
    memset(base, 0, WORDS * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rma_rank < rma_size - 1)
        measure(&times, MPI_Wtime() + seconds, pause_us, win);
    else
        rest((long) (seconds * 1e6));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rma_rank, 0, win);
    here = base[0];
    MPI_Win_unlock(rma_rank, win);
    MPI_Reduce(&here, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&added, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(times.longest, most.longest, KINDS, MPI_DOUBLE, MPI_MAX, 0,
               MPI_COMM_WORLD);
    MPI_Reduce(times.n, most.n, KINDS * (1 + STEPS), MPI_DOUBLE, MPI_SUM, 0,
               MPI_COMM_WORLD);
    if (rma_rank == 0) {
        print(&most);
        EXPECT(sum == total, "%ld, not %ld", sum, total);
    }
    MPI_Win_free(&win);
    return rma_end("pauses");
}
