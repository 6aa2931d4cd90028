/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alloc_mem: many small blocks take little memory and no time, blocks and
 * windows are aligned as asked for, windows on small blocks are as good as any.
 * usage: memory [windows]: alignment of windows, too, which plain MPICH does
 * not care for */
#include "rma.h"

enum { BLOCKS = 100000, BYTES = 32 };

static void many(void)
{
    static char *block[BLOCKS];
    long before = rma_resident_kb(), grown;

    for (int i = 0; i < BLOCKS; i++) {
        MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &block[i]);
        memset(block[i], i & 0x7f, BYTES);
    }
    grown = rma_resident_kb() - before;
    EXPECT(grown < BLOCKS / 4, "%d blocks of %d bytes took %ld KiB", BLOCKS,
           BYTES, grown);
    for (int i = 0; i < BLOCKS; i++) {
        EXPECT(block[i][0] == (i & 0x7f) && block[i][BYTES - 1] == (i & 0x7f),
               "block %d was overwritten", i);
        MPI_Free_mem(block[i]);
    }
}

static void aligned(MPI_Aint align, int windows)
{
    static const MPI_Aint sizes[] = {1, 100, 5000, 40000};
    MPI_Info info;
    char value[32];
    void *base;

    snprintf(value, sizeof(value), "%ld", (long) align);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", value);
    for (int s = 0; s < 4; s++) {
        void *block[3];
        MPI_Win win;

        for (int i = 0; i < 3; i++) {
            MPI_Alloc_mem(sizes[s], info, &block[i]);
            EXPECT((size_t) block[i] % (size_t) align == 0,
                   "%ld bytes, alignment %ld: %p", (long) sizes[s],
                   (long) align, block[i]);
            memset(block[i], 1, (size_t) sizes[s]);
        }
        for (int i = 0; i < 3; i++)
            MPI_Free_mem(block[i]);
        if (!windows)
            continue;
        MPI_Win_allocate(sizes[s], 1, info, MPI_COMM_WORLD, &base, &win);
        EXPECT((size_t) base % (size_t) align == 0,
               "window of %ld bytes, "
               "alignment %ld: %p",
               (long) sizes[s], (long) align, base);
        MPI_Win_free(&win);
        MPI_Win_allocate_shared(sizes[s], 1, info, MPI_COMM_SELF, &base, &win);
        EXPECT((size_t) base % (size_t) align == 0,
               "shared window of %ld "
               "bytes, alignment %ld: %p",
               (long) sizes[s], (long) align, base);
        MPI_Win_free(&win);
    }
    MPI_Info_free(&info);
}

/* The blocks before and behind one keep what they hold. */
static void window(void)
{
    enum { AROUND = 3, WORDS = BYTES / (int) sizeof(long) };
    long *block[AROUND], one[WORDS] = {1, 1, 1, 1};
    MPI_Win win;

    for (int i = 0; i < AROUND; i++) {
        MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &block[i]);
        memset(block[i], 0, BYTES);
    }
    MPI_Win_create(block[1], BYTES, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    MPI_Win_fence(0, win);
    for (int r = 0; r < rma_size; r++)
        MPI_Accumulate(one, WORDS, MPI_LONG, r, 0, WORDS, MPI_LONG, MPI_SUM,
                       win);
    MPI_Win_fence(0, win);
    for (int w = 0; w < WORDS; w++)
        EXPECT(block[1][w] == rma_size && block[0][w] == 0 && block[2][w] == 0,
               "word %d: %ld %ld %ld", w, block[0][w], block[1][w],
               block[2][w]);
    MPI_Win_free(&win);
    for (int i = 0; i < AROUND; i++)
        MPI_Free_mem(block[i]);
}

int main(int argc, char **argv)
{
    rma_begin(&argc, &argv);
    many();
    for (MPI_Aint align = 16; align <= 1 << 21; align *= 8)
        aligned(align, argc > 1);
    window();
    return rma_end("memory");
}
