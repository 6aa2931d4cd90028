/* SPDX-License-Identifier: BSD-3-Clause */
/* Where redirection through several ghosts could break what MPI promises: the
 * stories of the papers, one function each. Prints "story NAME: ok" for each.
 * usage: stories [rounds [story]] */
#include "rma.h"

#include <time.h>
#include <unistd.h>

enum { WORDS = 512, LAST = WORDS - 1 };

static int rounds;
static long *base;
static MPI_Win win;

static void window(MPI_Comm comm)
{
    MPI_Win_allocate(WORDS * (MPI_Aint) sizeof(long), sizeof(long),
                     MPI_INFO_NULL, comm, &base, &win);
    memset(base, 0, WORDS * sizeof(long));
    MPI_Barrier(comm);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

/* What the window of a rank holds now, read by that rank. */
static long word_of_mine(int word)
{
    long value;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rma_rank, 0, win);
    value = base[word];
    MPI_Win_unlock(rma_rank, win);
    return value;
}

/* One process holds the lock at a time, whichever ghosts serve the first and
 * the last word of the window. */
static void exclusive_locks(void)
{
    const int words[] = {0, WORDS / 2, LAST};

    window(MPI_COMM_WORLD);
    for (int i = 0; i < rounds; i++) {
        long value[3];

        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        for (int k = 0; k < 3; k++)
            MPI_Get(&value[k], 1, MPI_LONG, 0, words[k], 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        EXPECT(value[0] == value[1] && value[1] == value[2],
               "another process is inside: %ld %ld %ld", value[0], value[1],
               value[2]);
        for (int k = 0; k < 3; k++) {
            value[k]++;
            MPI_Put(&value[k], 1, MPI_LONG, 0, words[k], 1, MPI_LONG, win);
            if (k == i % 3)
                MPI_Win_flush(0, win);
        }
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; rma_rank == 0 && k < 3; k++)
        EXPECT(word_of_mine(words[k]) == (long) rounds * rma_size,
               "word %d is %ld", words[k], word_of_mine(words[k]));
    MPI_Win_free(&win);
}

/* Accumulates of one origin to one place take effect in order, without a flush
 * in between, also those that reach over the whole window. */
static void ordered_accumulates(void)
{
    static long block[WORDS], seen[WORDS];
    int target = (rma_rank + 1) % rma_size;

    window(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < rounds; i++) {
        int n = 1 + (i * 37) % WORDS, wrong = 0;
        const long two = 2;

        for (int k = 0; k < n; k++)
            block[k] = 1000 * i + k;
        MPI_Accumulate(block, n, MPI_LONG, target, 0, n, MPI_LONG, MPI_REPLACE,
                       win);
        MPI_Accumulate(&two, 1, MPI_LONG, target, n - 1, 1, MPI_LONG, MPI_PROD,
                       win);
        MPI_Accumulate(&two, 1, MPI_LONG, target, n - 1, 1, MPI_LONG, MPI_SUM,
                       win);
        MPI_Get_accumulate(NULL, 0, MPI_LONG, seen, n, MPI_LONG, target, 0, n,
                           MPI_LONG, MPI_NO_OP, win);
        MPI_Win_flush(target, win);
        block[n - 1] = 2 * block[n - 1] + 2;
        for (int k = 0; k < n; k++)
            wrong += seen[k] != block[k];
        EXPECT(wrong == 0, "round %d: %d of %d words out of order", i, wrong,
               n);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* All origins add to all words of one target; no update is lost, and tickets
 * are given once. */
static void atomic_accumulates(void)
{
    static long ones[WORDS];
    long all = (long) rounds * rma_size, last = -1, ticket;

    for (int k = 0; k < WORDS; k++)
        ones[k] = 1;
    window(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < rounds; i++) {
        MPI_Fetch_and_op(ones, &ticket, MPI_LONG, 0, LAST, MPI_SUM, win);
        MPI_Accumulate(ones, LAST, MPI_LONG, 0, 0, LAST, MPI_LONG, MPI_SUM,
                       win);
        MPI_Win_flush(0, win);
        EXPECT(ticket > last && ticket < all, "ticket %ld after %ld", ticket,
               last);
        last = ticket;
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rma_rank, 0, win);
    for (int k = 0; rma_rank == 0 && k < WORDS; k++)
        EXPECT(base[k] == all, "word %d is %ld of %ld", k, base[k], all);
    MPI_Win_unlock(rma_rank, win);
    MPI_Win_free(&win);
}

static void fences(int group, int size)
{
    int right, rank = rma_rank / 2;

    right = (rank + 1) % size;
    for (int i = 0; i < rounds; i++) {
        long value = 100 * i + group;

        MPI_Put(&value, 1, MPI_LONG, right, LAST, 1, MPI_LONG, win);
        MPI_Win_fence(0, win);
        EXPECT(base[LAST] == value, "fence %d: %ld", i, base[LAST]);
        MPI_Win_fence(0, win);
    }
}

/* Two groups that share no process but every ghost. The odd group is between
 * two fences of its own until the even one has done all of its fences: if a
 * ghost took part in a fence, none of them would come to an end. */
static void disjoint_fences(void)
{
    MPI_Comm half;
    int size, group = rma_rank % 2, partner = rma_rank ^ 1;

    MPI_Comm_split(MPI_COMM_WORLD, group, rma_rank, &half);
    MPI_Comm_size(half, &size);
    window(half);
    MPI_Win_fence(0, win);
    if (group == 1)
        MPI_Recv(NULL, 0, MPI_INT, partner, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    fences(group, size);
    if (group == 0 && partner < rma_size)
        MPI_Send(NULL, 0, MPI_INT, partner, 0, MPI_COMM_WORLD);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
    MPI_Comm_free(&half);
}

/* What an origin has put and flushed it gets back, and so does another one
 * that was told, though put and get may go through different ghosts. */
static void put_flush_get(void)
{
    static long out[WORDS], in[WORDS];
    int right = (rma_rank + 1) % rma_size;
    int left = (rma_rank + rma_size - 1) % rma_size;
    int target = (rma_rank + 2) % rma_size;
    int lefts = (left + 2) % rma_size, none;

    window(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < rounds; i++) {
        int n = 1 + (i * 53) % WORDS, wrong = 0;

        for (int k = 0; k < n; k++)
            out[k] = (long) i << 20 | rma_rank << 10 | k;
        MPI_Put(out, n, MPI_LONG, target, WORDS - n, n, MPI_LONG, win);
        MPI_Win_flush(target, win);
        MPI_Get(in, n, MPI_LONG, target, WORDS - n, n, MPI_LONG, win);
        MPI_Win_flush(target, win);
        for (int k = 0; k < n; k++)
            wrong += in[k] != out[k];
        EXPECT(wrong == 0, "round %d: %d of %d words are old", i, wrong, n);
        MPI_Sendrecv(&i, 1, MPI_INT, right, 0, &none, 1, MPI_INT, left, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Get(in, n, MPI_LONG, lefts, WORDS - n, n, MPI_LONG, win);
        MPI_Win_flush(lefts, win);
        EXPECT(in[n - 1] == ((long) i << 20 | left << 10 | (n - 1)),
               "round %d: the neighbour's put is not there", i);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* Under a lock on itself the target loads and stores; the others get and put
 * under locks of theirs, or add under shared ones. */
static void self_lock(void)
{
    const long one = 1;

    window(MPI_COMM_WORLD);
    for (int i = 0; i < rounds; i++) {
        long value;

        if (rma_rank == 0) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            value = base[0];
            usleep(i % 8 == 0 ? 1000 : 0); /* nobody may come in meanwhile */
            base[0] = value + 1;
            MPI_Win_unlock(0, win);
        } else if ((i + rma_rank) % 2) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
            MPI_Win_flush(0, win);
            value++;
            MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
            MPI_Win_unlock(0, win);
        } else {
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
            MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
            MPI_Win_unlock(0, win);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rma_rank == 0)
        EXPECT(word_of_mine(0) == (long) rounds * rma_size, "%ld of %d",
               word_of_mine(0), rounds * rma_size);
    MPI_Win_free(&win);
}

/* Readers whose locks overlap without a gap, until they read what the writer
 * wrote: it must get in between them. */
static void fair_locks(void)
{
    enum { TIMES = 3 };
    const double limit = 30;
    int writer = rma_size - 1;

    window(MPI_COMM_WORLD);
    for (long i = 1; i <= TIMES; i++) {
        double begin = seconds();
        long value = 0;

        while (rma_rank != writer && value < i && seconds() - begin < limit) {
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
            MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
            MPI_Win_flush(0, win);
            usleep(2000);
            MPI_Win_unlock(0, win);
        }
        if (rma_rank == writer) {
            usleep(20000);
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            MPI_Put(&i, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
            MPI_Win_unlock(0, win);
        }
        EXPECT(seconds() - begin < limit, "the writer did not get in");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&win);
}

/* Half of the processes lock all targets, half lock one exclusively; each
 * holds one lock at a time, so all of them get through. A lock_all that waited
 * in several ghosts at once would close a circle. */
static void lock_all_and_writers(void)
{
    window(MPI_COMM_WORLD);
    for (int i = 0; i < 20 * rounds; i++) {
        if (rma_rank % 2 == 0) {
            MPI_Win_lock_all(0, win);
            MPI_Win_unlock_all(win);
        } else {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (rma_rank + i) % rma_size, 0, win);
            MPI_Win_unlock((rma_rank + i) % rma_size, win);
        }
    }
    MPI_Win_free(&win);
}

/* Two readers of two targets, who take them in different orders, with writers
 * queued between: readers do not exclude each other, so none may wait behind a
 * writer that waits for the other. The targets are in one window, and in two.
 */
static void readers_of_two(void)
{
    int mine = rma_rank % 2, other = 1 - mine;
    MPI_Win both[2], twice;

    window(MPI_COMM_WORLD);
    twice = win;
    window(MPI_COMM_WORLD);
    for (int i = 0; i < 4 * rounds; i++) {
        both[mine] = i % 2 ? win : twice;
        both[other] = win;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rma_rank >= 2) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mine, 0, win);
            MPI_Win_unlock(mine, win);
            continue;
        }
        MPI_Win_lock(MPI_LOCK_SHARED, mine, 0, both[mine]);
        MPI_Win_lock(MPI_LOCK_SHARED, other, 0, both[other]);
        MPI_Win_unlock(other, both[other]);
        MPI_Win_unlock(mine, both[mine]);
    }
    MPI_Win_free(&win);
    MPI_Win_free(&twice);
}

static const struct {
    const char *name;
    void (*run)(void);
} stories[] = {
    {"exclusive locks", exclusive_locks},
    {"ordered accumulates", ordered_accumulates},
    {"atomic accumulates", atomic_accumulates},
    {"disjoint fences", disjoint_fences},
    {"put, flush, get", put_flush_get},
    {"self lock", self_lock},
    {"fair locks", fair_locks},
    {"lock_all and writers", lock_all_and_writers},
    {"readers of two", readers_of_two},
};

int main(int argc, char **argv)
{
    rma_begin(&argc, &argv);
    rounds = argc > 1 ? atoi(argv[1]) : 30;
    for (size_t i = 0; i < sizeof stories / sizeof stories[0]; i++) {
        int before = rma_failures, wrong, all;

        if (argc > 2 && strcmp(argv[2], stories[i].name) != 0)
            continue;
        stories[i].run();
        wrong = rma_failures - before;
        MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rma_rank == 0)
            printf("story %s: %s\n", stories[i].name, all ? "wrong" : "ok");
        fflush(stdout);
    }
    return rma_end("stories");
}
