/* SPDX-License-Identifier: BSD-3-Clause */
/* Active target: fences with all asserts, post/start/complete with wait and
 * test, groups that overlap, empty groups, and windows of disjoint groups that
 * synchronise at the same time. */
#include "rma.h"

enum { WORDS = 64 };

static void fences(MPI_Comm comm, int rounds)
{
    int rank, size;
    long *base;
    MPI_Win win;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Win_allocate(WORDS * (MPI_Aint) sizeof(long), sizeof(long),
                     MPI_INFO_NULL, comm, &base, &win);
    for (int i = 0; i < rounds; i++) {
        long value = 100 * i + rank, got = -1;
        int right = (rank + 1) % size, left = (rank + size - 1) % size;

        base[1] = value; /* read by others after the fence */
        base[4] = 1;     /* added to after the next one */
        MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOPUT, win);
        MPI_Get(&got, 1, MPI_LONG, right, 1, 1, MPI_LONG, win);
        MPI_Put(&value, 1, MPI_LONG, right, 2, 1, MPI_LONG, win);
        MPI_Win_fence(MPI_MODE_NOSTORE, win);
        EXPECT(got == 100 * i + right, "got %ld in round %d", got, i);
        EXPECT(base[2] == 100 * i + left, "put %ld in round %d", base[2], i);
        MPI_Accumulate(&value, 1, MPI_LONG, right, 4, 1, MPI_LONG, MPI_SUM,
                       win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        EXPECT(base[4] == 1 + 100 * i + left, "sum %ld in round %d", base[4],
               i);
        if (i % 2) /* a fence may be followed by a lock epoch */
            continue;
        MPI_Win_fence(0, win);
        MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
        MPI_Put(&value, 1, MPI_LONG, right, 3, 1, MPI_LONG, win);
        MPI_Win_unlock(right, win);
        MPI_Barrier(comm);
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
        EXPECT(base[3] == 100 * i + left, "lock after fence");
        MPI_Win_unlock(rank, win);
        MPI_Barrier(comm);
    }
    MPI_Win_free(&win);
}

/* Each rank is origin for its right neighbour and target of its left one, so
 * the groups overlap all around. */
static void ring(int rounds)
{
    int right = (rma_rank + 1) % rma_size;
    int left = (rma_rank + rma_size - 1) % rma_size;
    MPI_Group world, to, from;
    long *base;
    MPI_Win win;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &right, &to);
    MPI_Group_incl(world, 1, &left, &from);
    MPI_Win_allocate(WORDS * (MPI_Aint) sizeof(long), sizeof(long),
                     MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (int i = 0; i < rounds; i++) {
        long value = 1000 * i + rma_rank;
        int done = 0;

        base[i % WORDS] = -1;
        MPI_Win_post(from, 0, win);
        MPI_Win_start(to, 0, win);
        MPI_Put(&value, 1, MPI_LONG, right, i % WORDS, 1, MPI_LONG, win);
        MPI_Win_complete(win);
        if (i % 2)
            MPI_Win_wait(win);
        while (!(i % 2) && !done)
            MPI_Win_test(win, &done);
        EXPECT(base[i % WORDS] == 1000 * i + left, "round %d: %ld", i,
               base[i % WORDS]);
    }
    MPI_Win_free(&win);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&world);
}

static void nobody(void)
{
    long *base;
    MPI_Win win;

    MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
    MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Win_free(&win);
}

/* Two windows whose fences interleave differently in the two halves. */
static void halves(int rounds)
{
    MPI_Comm half;

    MPI_Comm_split(MPI_COMM_WORLD, rma_rank % 2, rma_rank, &half);
    fences(half, rma_rank % 2 ? rounds : 2 * rounds);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    int rounds;

    rma_begin(&argc, &argv);
    rounds = argc > 1 ? atoi(argv[1]) : 20;
    fences(MPI_COMM_WORLD, rounds);
    ring(rounds);
    nobody();
    halves(rounds);
    return rma_end("active");
}
