/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows on memory from malloc and its kin.
 *
 * usage: rma_heap windows        every way to allocate, checked sums
 *        rma_heap small          the same on 4 KiB
 *        rma_heap early          memory from before MPI_Init
 *        rma_heap sleep MS       the target sleeps; prints the origin's time */
#include "rma.h"

#include <malloc.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 1 << 20, SMALL = 4096 };

static size_t bytes = LARGE;

static long *from_malloc(void)
{
    return malloc(bytes);
}

static long *from_calloc(void)
{
    return calloc(bytes / sizeof(long), sizeof(long));
}

static long *from_realloc(void)
{
    return realloc(malloc(100), bytes);
}

static long *from_reallocarray(void)
{
    return reallocarray(NULL, bytes / sizeof(long), sizeof(long));
}

static long *from_posix_memalign(void)
{
    void *addr = NULL;

    return posix_memalign(&addr, 64, bytes) == 0 ? addr : NULL;
}

/* Larger than a page: what glibc programs do for huge pages. */
static long *from_aligned_alloc(void)
{
    return aligned_alloc(2 << 20, bytes);
}

static long *from_memalign(void)
{
    return memalign(8192, bytes);
}

static long *from_valloc(void)
{
    return valloc(bytes);
}

static long *(*const variants[])(void) = {
    from_malloc,         from_calloc,        from_realloc,  from_reallocarray,
    from_posix_memalign, from_aligned_alloc, from_memalign, from_valloc,
};

/* Everybody adds to the first and the last word of everybody. */
static void add_everywhere(MPI_Win win)
{
    const long one = 1;
    const MPI_Aint last = (MPI_Aint) (bytes / sizeof(long)) - 1;

    MPI_Win_lock_all(0, win);
    for (int target = 0; target < rma_size; target++) {
        MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, win);
        MPI_Accumulate(&one, 1, MPI_LONG, target, last, 1, MPI_LONG, MPI_SUM,
                       win);
    }
    MPI_Win_unlock_all(win);
}

static void try_memory(long *memory, int variant)
{
    const size_t last = bytes / sizeof(long) - 1;
    MPI_Win win;

    EXPECT(memory, "way %d gave no memory", variant);
    memset(memory, 0, bytes);
    MPI_Win_create(memory, (MPI_Aint) bytes, sizeof(long), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win);
    add_everywhere(win);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(memory[0] == rma_size && memory[last] == rma_size,
           "way %d: sums %ld and %ld", variant, memory[0], memory[last]);
    MPI_Win_free(&win);
    free(memory);
}

static void sleep_ms(long ms)
{
    const struct timespec length = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&length, NULL);
}

/* The last rank sleeps outside MPI while rank 0 adds to its memory. */
static void try_sleeping(long ms)
{
    long *memory = calloc(1, bytes), one = 1;
    const int target = rma_size - 1;
    double begin;
    MPI_Win win;

    MPI_Win_create(memory, (MPI_Aint) bytes, sizeof(long), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rma_rank == target)
        sleep_ms(ms);
    begin = MPI_Wtime();
    if (rma_rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
        for (int i = 0; i < 100; i++) {
            MPI_Accumulate(&one, 1, MPI_LONG, target, 5, 1, MPI_LONG, MPI_SUM,
                           win);
            MPI_Win_flush(target, win);
        }
        MPI_Win_unlock(target, win);
        printf("origin took %.0f of %ld ms\n", (MPI_Wtime() - begin) * 1000,
               ms);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rma_rank == target)
        EXPECT(memory[5] == 100, "sum %ld", memory[5]);
    MPI_Win_free(&win);
    free(memory);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "windows";
    long *early = NULL;

    if (strcmp(what, "early") == 0)
        early = malloc(bytes);
    rma_begin(&argc, &argv);
    if (strcmp(what, "small") == 0)
        bytes = SMALL;
    if (strcmp(what, "sleep") == 0)
        try_sleeping(argc > 2 ? atol(argv[2]) : 1000);
    else if (early)
        try_memory(early, -1);
    else
        for (int i = 0; i < (int) (sizeof(variants) / sizeof(variants[0])); i++)
            try_memory(variants[i](), i);
    return rma_end("heap");
}
