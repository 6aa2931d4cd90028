/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows on shared memory: MPI_Win_allocate_shared on the processes of a node,
 * in one piece and apart, asked for by MPI_Win_shared_query, used by loads,
 * stores and operations; windows that the program makes on memory from
 * MPI_Alloc_mem and on memory of another window; and copies from and to all
 * places within a page. */
#include "rma.h"

static MPI_Comm node;
static int rank, size;

static long words_of(int r)
{
    return 4 + 3 * r; /* sizes differ, and are no multiples of a page */
}

static long *ask(MPI_Win win, int r, long words)
{
    MPI_Aint bytes;
    long *base;
    int unit;

    MPI_Win_shared_query(win, r, &bytes, &unit, &base);
    EXPECT(bytes == words * 8 && unit == 8, "size %ld unit %d of %d",
           (long) bytes, unit, r);
    return base;
}

static void flavor(MPI_Win win)
{
    int *found, flag;

    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &found, &flag);
    EXPECT(flag && *found == MPI_WIN_FLAVOR_SHARED, "flavor");
}

/* Everyone adds to word 0 of everyone and puts into its own word of the last
 * one; then the next process is read by loads. */
static void use(MPI_Win win, long *mine)
{
    long one = 1, value = 100 + rank, *next;
    int neighbour = (rank + 1) % size;

    next = ask(win, neighbour, words_of(neighbour));
    if (rank == neighbour)
        EXPECT(next == mine, "own base %p, asked %p", (void *) mine,
               (void *) next);
    for (long i = 0; i < words_of(rank); i++)
        mine[i] = 1000 * rank + i;
    MPI_Win_fence(0, win);
    for (long i = 0; i < words_of(neighbour); i++)
        EXPECT(next[i] == 1000 * neighbour + i, "word %ld of %d is %ld", i,
               neighbour, next[i]);
    MPI_Win_fence(0, win);
    for (int r = 0; r < size; r++)
        MPI_Accumulate(&one, 1, MPI_LONG, r, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Put(&value, 1, MPI_LONG, neighbour, 2, 1, MPI_LONG, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    EXPECT(mine[0] == 1000 * rank + size, "sum %ld", mine[0]);
    EXPECT(mine[2] == 100 + (rank + size - 1) % size, "put %ld", mine[2]);
    EXPECT(next[2] == value, "load %ld", next[2]);
    MPI_Barrier(node);
}

static void shared(const char *noncontig)
{
    MPI_Info info;
    MPI_Win win;
    long *mine, *first, *at;

    MPI_Info_create(&info);
    if (noncontig)
        MPI_Info_set(info, "alloc_shared_noncontig", noncontig);
    MPI_Win_allocate_shared(words_of(rank) * 8, 8, info, node, &mine, &win);
    MPI_Info_free(&info);
    flavor(win);
    first = ask(win, MPI_PROC_NULL, words_of(0));
    EXPECT(first == ask(win, 0, words_of(0)), "base of MPI_PROC_NULL");
    at = first;
    for (int r = 0; !noncontig && r < size; r++) {
        EXPECT(ask(win, r, words_of(r)) == at, "process %d is not behind", r);
        at += words_of(r);
    }
    use(win, mine);
    MPI_Win_free(&win);
}

/* Only the last process brings memory, as libraries do. */
static void one_for_all(void)
{
    int last = size - 1;
    MPI_Win win;
    long *base, *mine;

    MPI_Win_allocate_shared(rank == last ? 800 : 0, 8, MPI_INFO_NULL, node,
                            &mine, &win);
    EXPECT(!mine == (rank != last), "base %p", (void *) mine);
    EXPECT(last == 0 || !ask(win, 0, 0), "base of no memory");
    base = ask(win, MPI_PROC_NULL, 100);
    EXPECT(base == ask(win, last, 100), "the lowest process with memory");
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    base[rank] = 7 * rank;
    MPI_Win_sync(win);
    MPI_Barrier(node);
    MPI_Win_sync(win);
    for (int r = 0; r < size; r++)
        EXPECT(base[r] == 7 * r, "word of %d is %ld", r, base[r]);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* Windows of all processes on memory that somebody else gave. */
static void count_in(MPI_Win win, const long *word)
{
    long one = 1;

    MPI_Win_lock_all(0, win);
    for (int r = 0; r < rma_size; r++)
        MPI_Accumulate(&one, 1, MPI_LONG, r, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rma_rank, 0, win);
    EXPECT(*word == rma_size, "count %ld", *word);
    MPI_Win_unlock(rma_rank, win);
}

/* Is a part of other windows' memory a window that begins there? */
static void put_in(MPI_Win win, long *part)
{
    int next = (rma_rank + 1) % rma_size, flag = 0;
    long mine = rma_rank + 1;
    void *base = NULL;

    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    EXPECT(flag && base == part, "base %p instead of %p", base, (void *) part);
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, MPI_LONG, next, 1, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    EXPECT(part[1] == (rma_rank + rma_size - 1) % rma_size + 1, "put %ld",
           part[1]);
}

static void given(void)
{
    MPI_Win win, inner;
    long *memory, *base;

    for (int i = 0; i < 3; i++) {
        MPI_Alloc_mem(100 * sizeof(long), MPI_INFO_NULL, &memory);
        memory[5] = 0;
        MPI_Win_create(memory + 5, 8 * sizeof(long), 8, MPI_INFO_NULL,
                       MPI_COMM_WORLD, &win);
        count_in(win, memory + 5);
        MPI_Win_free(&win);
        MPI_Free_mem(memory);
    }
    MPI_Win_allocate(4096, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    base[9] = 0;
    MPI_Win_create(base + 9, 64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &inner);
    count_in(inner, base + 9);
    put_in(inner, base + 9);
    MPI_Win_free(&inner);
    MPI_Win_free(&win);
}

/* Puts to the next process and gets them back, from everywhere in a page. */
enum { PLACES = 72, MOST = 3 * 4096 };

static void copied(char *out, char *in, long bytes, MPI_Win win)
{
    int next = (rank + 1) % size;

    for (long i = 0; i < bytes; i++)
        out[i] = (char) (i * 7 + i / 256 + bytes + rank);
    memset(in - 1, 99, (size_t) bytes + 2);
    MPI_Put(out, (int) bytes, MPI_BYTE, next, PLACES, (int) bytes, MPI_BYTE,
            win);
    MPI_Win_flush(next, win);
    MPI_Get(in, (int) bytes, MPI_BYTE, next, PLACES, (int) bytes, MPI_BYTE,
            win);
    MPI_Win_flush(next, win);
    EXPECT(memcmp(in, out, (size_t) bytes) == 0 && in[-1] == 99 &&
               in[bytes] == 99,
           "%ld bytes %d into a page", bytes, (int) ((size_t) in % 4096));
}

static void places(void)
{
    static _Alignas(4096) char out[MOST + 4096], in[MOST + 4096];
    const long sizes[] = {1, 2048, 2049, 4096, 4100, MOST - 2 * PLACES};
    char *mine;
    MPI_Win win;

    MPI_Win_allocate(MOST, 1, MPI_INFO_NULL, node, &mine, &win);
    memset(mine, 1, MOST);
    MPI_Barrier(node);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 6; i++)
        for (int at = 0; at < PLACES; at++)
            copied(out + at, in + PLACES + at, sizes[i], win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(node);
    for (int i = 0; i < PLACES; i++)
        EXPECT(mine[i] == 1 && mine[MOST - 1 - i] == 1, "beside, %d", i);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    rma_begin(&argc, &argv);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    shared(NULL);
    shared("true");
    one_for_all();
    given();
    places();
    MPI_Comm_free(&node);
    return rma_end("shared");
}
