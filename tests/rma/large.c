/* SPDX-License-Identifier: BSD-3-Clause */
/* Large puts, gets and accumulates are complete when the synchronisation says
 * so: the target looks at once at all of them. usage: large [rounds]
 *
 * large huge: one Put of more elements than an int counts, to the last rank;
 * plain MPICH 4.0.2 dies of it. Takes 2 GiB there, none at the origin. */
#include "rma.h"

#include <sys/mman.h>

enum { BYTES = 1 << 20, WORDS = BYTES / 8 };

static long word(int origin, int round, int i)
{
    return origin * 1000003L + round * 131L + i;
}

/* Every rank has a piece in the window of every other one. */
static void check(const long *base, int round, const char *what)
{
    for (int origin = 0; origin < rma_size; origin++)
        for (int i = 0; i < WORDS; i++)
            if (base[(long) origin * WORDS + i] != word(origin, round, i)) {
                EXPECT(0, "%s, round %d: word %d of %d is %ld", what, round, i,
                       origin, base[(long) origin * WORDS + i]);
                return;
            }
}

/* Update all, complete it, tell all. */
static void update(enum rma_epoch epoch, int round, MPI_Win win, long *mine)
{
    for (int i = 0; i < WORDS; i++)
        mine[i] = word(rma_rank, round, i);
    for (int t = 0; t < rma_size; t++) {
        int target = (rma_rank + t) % rma_size;

        if (t == 0 || epoch == LOCK || epoch == LOCK_EXCLUSIVE)
            rma_open(epoch, target, win);
        if (round % 3 == 2)
            MPI_Accumulate(mine, WORDS, MPI_LONG, target,
                           (MPI_Aint) rma_rank * WORDS, WORDS, MPI_LONG,
                           MPI_REPLACE, win);
        else
            MPI_Put(mine, WORDS, MPI_LONG, target, (MPI_Aint) rma_rank * WORDS,
                    WORDS, MPI_LONG, win);
        if (t == rma_size - 1 || epoch == LOCK || epoch == LOCK_EXCLUSIVE)
            rma_close(epoch, target, win);
    }
}

/* Read a piece back from the next rank, with a flush. */
static void read_back(int round, MPI_Win win, long *mine)
{
    int target = (rma_rank + 1) % rma_size;

    memset(mine, 0, BYTES);
    MPI_Win_lock_all(0, win);
    MPI_Get(mine, WORDS, MPI_LONG, target, (MPI_Aint) rma_rank * WORDS, WORDS,
            MPI_LONG, win);
    MPI_Win_flush(target, win);
    for (int i = 0; i < WORDS; i++)
        if (mine[i] != word(rma_rank, round, i)) {
            EXPECT(0, "got word %d: %ld", i, mine[i]);
            break;
        }
    MPI_Win_unlock_all(win);
}

#define HUGE_BYTES (((MPI_Count) 1 << 31) + 100)

/* First, last, and around the middle, where it may have been cut. */
static const MPI_Count marks[] = {0, 1 << 30, (1 << 30) - 1, HUGE_BYTES - 1};

enum { MARKS = sizeof(marks) / sizeof(marks[0]) };

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

/* What cannot be carried out moves nothing and is an error. */
static void refused(const char *from, MPI_Win win)
{
    MPI_Datatype all;
    int class;

    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    class = class_of(MPI_Put_c(from, HUGE_BYTES - 1, MPI_BYTE, rma_size - 1, 0,
                               HUGE_BYTES, MPI_BYTE, win));
    EXPECT(class == MPI_ERR_TYPE, "two sizes: class %d", class);
    MPI_Type_contiguous_c(HUGE_BYTES, MPI_BYTE, &all);
    MPI_Type_commit(&all);
    class = class_of(
        MPI_Put_c(from, 1, all, rma_size - 1, 0, HUGE_BYTES, MPI_BYTE, win));
    EXPECT(class == MPI_ERR_COUNT, "one element of all: class %d", class);
    MPI_Type_free(&all);
}

/* Pages of the origin that are only read are all the same one. */
static void huge(void)
{
    int target = rma_size - 1;
    char *base, *from;
    MPI_Win win;

    MPI_Win_allocate_c(rma_rank == target ? HUGE_BYTES : 0, 1, MPI_INFO_NULL,
                       MPI_COMM_WORLD, &base, &win);
    if (rma_rank == target)
        for (int i = 0; i < MARKS; i++)
            base[marks[i]] = 'x';
    MPI_Barrier(MPI_COMM_WORLD);
    from = mmap(NULL, HUGE_BYTES, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT(from != MAP_FAILED, "no address space");
    MPI_Win_lock_all(0, win);
    if (rma_rank == 0) {
        refused(from, win);
        for (int i = 0; i < MARKS; i++)
            from[marks[i]] = (char) (i + 1);
        EXPECT(MPI_Put_c(from, HUGE_BYTES, MPI_BYTE, target, 0, HUGE_BYTES,
                         MPI_BYTE, win) == MPI_SUCCESS,
               "put");
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rma_rank == target)
        for (int i = 0; i < MARKS; i++)
            EXPECT(base[marks[i]] == i + 1, "byte %ld is %d", (long) marks[i],
                   base[marks[i]]);
    munmap(from, HUGE_BYTES);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 6;
    long *base, *mine = malloc(BYTES);
    MPI_Win win;

    rma_begin(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "huge") == 0) {
        free(mine);
        huge();
        return rma_end("huge");
    }
    if (!mine)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Win_allocate((MPI_Aint) rma_size * BYTES, sizeof(long), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &base, &win);
    for (int round = 0; round < rounds; round++)
        for (enum rma_epoch epoch = 0; epoch < EPOCHS; epoch++) {
            update(epoch, round, win, mine);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Win_lock(MPI_LOCK_SHARED, rma_rank, 0, win);
            check(base, round, rma_epoch_name(epoch));
            MPI_Win_unlock(rma_rank, win);
            read_back(round, win, mine);
            MPI_Barrier(MPI_COMM_WORLD); /* all have read */
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rma_rank, 0, win);
            memset(base, 0, (size_t) rma_size * BYTES);
            MPI_Win_unlock(rma_rank, win);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    MPI_Win_free(&win);
    free(mine);
    return rma_end("large");
}
