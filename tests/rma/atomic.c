/* SPDX-License-Identifier: BSD-3-Clause */
/* What must be atomic or exclusive while everybody works at once. Word 0 is a
 * fetch-and-add counter, 1 is guarded by an exclusive lock, 2 is updated both
 * by accumulates under lock_all and by get-put pairs under an exclusive lock,
 * 3 is updated by compare-and-swap, 4.. collects which tickets were given.
 * usage: atomic [rounds] */
#include "rma.h"

enum { COUNTER, GUARDED, MIXED, SWAPPED, TICKETS };

static int rounds;

static void tickets(int target, MPI_Win win)
{
    const long one = 1;

    MPI_Win_lock_all(0, win);
    for (int i = 0; i < rounds; i++) {
        long ticket;

        MPI_Fetch_and_op(&one, &ticket, MPI_LONG, target, COUNTER, MPI_SUM,
                         win);
        MPI_Win_flush(target, win);
        EXPECT(ticket >= 0 && ticket < (long) rounds * rma_size, "ticket %ld",
               ticket);
        if (ticket >= 0 && ticket < (long) rounds * rma_size)
            MPI_Accumulate(&one, 1, MPI_LONG, target, TICKETS + ticket, 1,
                           MPI_LONG, MPI_SUM, win);
    }
    MPI_Win_unlock_all(win);
}

/* A read-modify-write that only an exclusive lock makes whole. */
static void bump_guarded(int target, int word, MPI_Win win)
{
    long value;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Get(&value, 1, MPI_LONG, target, word, 1, MPI_LONG, win);
    MPI_Win_flush(target, win);
    value++;
    MPI_Put(&value, 1, MPI_LONG, target, word, 1, MPI_LONG, win);
    MPI_Win_unlock(target, win);
}

static void mixed(int target, MPI_Win win)
{
    const long one = 1;

    for (int i = 0; i < rounds; i++) {
        if ((i + rma_rank) % 3 == 0) {
            bump_guarded(target, MIXED, win);
        } else {
            MPI_Win_lock_all(0, win);
            MPI_Accumulate(&one, 1, MPI_LONG, target, MIXED, 1, MPI_LONG,
                           MPI_SUM, win);
            MPI_Win_unlock_all(win);
        }
    }
}

static void swap(int target, MPI_Win win)
{
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    for (int i = 0; i < rounds; i++) {
        long seen = 0, next, found;

        for (;;) {
            next = seen + 1;
            MPI_Compare_and_swap(&next, &seen, &found, MPI_LONG, target,
                                 SWAPPED, win);
            MPI_Win_flush(target, win);
            if (found == seen)
                break;
            seen = found;
        }
    }
    MPI_Win_unlock(target, win);
}

int main(int argc, char **argv)
{
    long *base, all;
    MPI_Win win;
    int target;

    rma_begin(&argc, &argv);
    rounds = argc > 1 ? atoi(argv[1]) : 100;
    target = rma_size - 1;
    all = (long) rounds * rma_size;
    MPI_Win_allocate((TICKETS + all) * (MPI_Aint) sizeof(long), sizeof(long),
                     MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, (size_t) (TICKETS + all) * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    tickets(target, win);
    for (int i = 0; i < rounds; i++)
        bump_guarded(target, GUARDED, win);
    mixed(target, win);
    swap(target, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rma_rank == target) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        EXPECT(base[COUNTER] == all, "counter is %ld of %ld", base[COUNTER],
               all);
        EXPECT(base[GUARDED] == all, "guarded is %ld of %ld", base[GUARDED],
               all);
        EXPECT(base[MIXED] == all, "mixed is %ld of %ld", base[MIXED], all);
        EXPECT(base[SWAPPED] == all, "swapped is %ld of %ld", base[SWAPPED],
               all);
        for (long i = 0; i < all; i++)
            EXPECT(base[TICKETS + i] == 1, "ticket %ld given %ld times", i,
                   base[TICKETS + i]);
        MPI_Win_unlock(target, win);
    }
    MPI_Win_free(&win);
    return rma_end("atomic");
}
