/* SPDX-License-Identifier: BSD-3-Clause */
/* How long 100 operations of each kind take in each kind of epoch when their
 * target sleeps meanwhile, outside MPI. Rank 0 is the origin, the last rank the
 * target. Prints a line for each of the 16 pairs, with the milliseconds that
 * the origin needed from its first operation until they were complete there (in
 * a fence, where it waits for the target in any case: that the target still
 * needed after its sleep), and "ok stalls" when all bytes were right.
 *
 * usage: rma_stalls [SLEEP_MS [LIMIT_MS]]      (500, no limit)
 *
 * With a limit a pair that takes longer is an error. */
#include "rma.h"

#include <stdbool.h>
#include <time.h>

enum { OPS = 100 };
enum kind { PUT, GET, ACCUMULATE, FETCH_AND_OP, KINDS };

static const char *const kind_names[KINDS] = {"put", "get", "accumulate",
                                              "fetch_and_op"};
static const enum rma_epoch epochs[] = {LOCK, LOCK_ALL, FENCE, PSCW};

static long sleep_ms = 500, limit_ms = -1, *window, got[OPS];
static int target;
static MPI_Win win;
static MPI_Group other;

static void nap(long ms)
{
    const struct timespec length = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&length, NULL);
}

static void issue(enum kind kind)
{
    static long values[OPS];

    for (int i = 0; i < OPS; i++) {
        values[i] = i + 1;
        if (kind == PUT)
            MPI_Put(&values[i], 1, MPI_LONG, target, i, 1, MPI_LONG, win);
        else if (kind == GET)
            MPI_Get(&got[i], 1, MPI_LONG, target, i, 1, MPI_LONG, win);
        else if (kind == ACCUMULATE)
            MPI_Accumulate(&values[i], 1, MPI_LONG, target, i, 1, MPI_LONG,
                           MPI_SUM, win);
        else
            MPI_Fetch_and_op(&values[i], &got[i], MPI_LONG, target, i, MPI_SUM,
                             win);
    }
}

static double run_origin(enum kind kind, enum rma_epoch epoch)
{
    double begin;

    if (epoch == LOCK)
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    else if (epoch == LOCK_ALL)
        MPI_Win_lock_all(0, win);
    else if (epoch == FENCE)
        MPI_Win_fence(0, win);
    else
        MPI_Win_start(other, 0, win);
    begin = MPI_Wtime();
    issue(kind);
    if (epoch == LOCK)
        MPI_Win_unlock(target, win);
    else if (epoch == LOCK_ALL)
        MPI_Win_unlock_all(win);
    else if (epoch == FENCE)
        MPI_Win_fence(0, win);
    else
        MPI_Win_complete(win);
    return MPI_Wtime() - begin;
}

static double run_target(enum rma_epoch epoch)
{
    double begin;

    if (epoch == FENCE)
        MPI_Win_fence(0, win);
    else if (epoch == PSCW)
        MPI_Win_post(other, 0, win);
    nap(sleep_ms);
    begin = MPI_Wtime();
    if (epoch == FENCE)
        MPI_Win_fence(0, win);
    else if (epoch == PSCW)
        MPI_Win_wait(win);
    return MPI_Wtime() - begin;
}

/* What the window had before was 1000 times the place. */
static void check(enum kind kind, enum rma_epoch epoch)
{
    bool gets = kind == GET || kind == FETCH_AND_OP;

    for (int i = 0; i < OPS; i++) {
        long added = kind == GET ? 0 : i + 1;
        long held = (kind == PUT ? 0 : 1000L * i) + added;

        EXPECT(rma_rank != target || window[i] == held,
               "%s, %s: the target has %ld at %d, not %ld", kind_names[kind],
               rma_epoch_name(epoch), window[i], i, held);
        EXPECT(rma_rank != 0 || !gets || got[i] == 1000L * i,
               "%s, %s: got %ld at %d, not %ld", kind_names[kind],
               rma_epoch_name(epoch), got[i], i, 1000L * i);
    }
}

static void run(enum kind kind, enum rma_epoch epoch)
{
    double took = 0, late = 0;

    for (int i = 0; i < OPS; i++)
        window[i] = 1000L * i;
    memset(got, 0, sizeof(got));
    MPI_Win_fence(0, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (rma_rank == target)
        late = run_target(epoch);
    else if (rma_rank == 0)
        took = run_origin(kind, epoch);
    else if (epoch == FENCE) {
        MPI_Win_fence(0, win);
        MPI_Win_fence(0, win);
    }
    MPI_Bcast(&late, 1, MPI_DOUBLE, target, MPI_COMM_WORLD);
    took = epoch == FENCE ? late : took;
    if (rma_rank == 0)
        printf("%-12s %-8s %8.1f ms\n", kind_names[kind], rma_epoch_name(epoch),
               took * 1e3);
    EXPECT(rma_rank != 0 || limit_ms < 0 || took * 1e3 <= (double) limit_ms,
           "%s, %s: took %.1f ms", kind_names[kind], rma_epoch_name(epoch),
           took * 1e3);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rma_rank, 0, win);
    check(kind, epoch);
    MPI_Win_unlock(rma_rank, win);
}

int main(int argc, char **argv)
{
    MPI_Group all;
    int peer;

    rma_begin(&argc, &argv);
    if (argc > 1)
        sleep_ms = atol(argv[1]);
    if (argc > 2)
        limit_ms = atol(argv[2]);
    target = rma_size - 1;
    peer = rma_rank == 0 ? target : 0;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &other);
    MPI_Win_allocate(OPS * sizeof(long), sizeof(long), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &window, &win);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t e = 0; e < sizeof(epochs) / sizeof(epochs[0]); e++)
            run((enum kind) kind, epochs[e]);
    MPI_Win_free(&win);
    MPI_Group_free(&other);
    MPI_Group_free(&all);
    return rma_end("stalls");
}
