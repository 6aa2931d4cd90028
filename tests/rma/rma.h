/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the RMA test programs. They know nothing of Aspen and pass on plain
 * MPICH too, but for anywhere.c and, over libfabric's tcp, arrived.c; a test
 * file runs them with ghosts. Each prints one line, "ok NAME" on rank 0, or
 * what was wrong, and exits non-zero then. */
#ifndef ASPEN_TESTS_RMA_H
#define ASPEN_TESTS_RMA_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rma_rank, rma_size, rma_failures;

/* Count a failure and say where; the first ten per rank are printed. */
#define EXPECT(ok, ...)                                                        \
    do {                                                                       \
        if (!(ok) && rma_failures++ < 10) {                                    \
            fprintf(stderr, "rank %d, %s:%d: ", rma_rank, __FILE__, __LINE__); \
            fprintf(stderr, __VA_ARGS__);                                      \
            fputc('\n', stderr);                                               \
        }                                                                      \
    } while (0)

static inline void rma_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rma_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rma_size);
}

static inline int rma_end(const char *name)
{
    int all;

    MPI_Allreduce(&rma_failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rma_rank == 0 && all == 0)
        printf("ok %s\n", name);
    if (rma_rank == 0 && all > 0)
        printf("not ok %s: %d wrong\n", name, all);
    MPI_Finalize();
    return all > 0;
}

/* The ways to open an epoch in which any rank may update any other. */
enum rma_epoch { LOCK_ALL, LOCK, LOCK_EXCLUSIVE, FENCE, PSCW, EPOCHS };

static inline const char *rma_epoch_name(enum rma_epoch epoch)
{
    static const char *const names[EPOCHS] = {
        "lock_all", "lock", "exclusive lock", "fence", "pscw"};

    return names[epoch];
}

/* Open an epoch towards one target. Fence and PSCW are collective. */
static inline void rma_open(enum rma_epoch epoch, int target, MPI_Win win)
{
    MPI_Group group;

    switch (epoch) {
    case LOCK_ALL:
        MPI_Win_lock_all(0, win);
        break;
    case LOCK:
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
        break;
    case LOCK_EXCLUSIVE:
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        break;
    case FENCE:
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
        break;
    case PSCW:
        MPI_Win_get_group(win, &group);
        MPI_Win_post(group, 0, win);
        MPI_Win_start(group, 0, win);
        MPI_Group_free(&group);
        break;
    case EPOCHS:
        break;
    }
}

static inline void rma_close(enum rma_epoch epoch, int target, MPI_Win win)
{
    switch (epoch) {
    case LOCK_ALL:
        MPI_Win_unlock_all(win);
        break;
    case LOCK:
    case LOCK_EXCLUSIVE:
        MPI_Win_unlock(target, win);
        break;
    case FENCE:
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        break;
    case PSCW:
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        break;
    case EPOCHS:
        break;
    }
}

/* A small random generator, the same on every machine. */
static inline unsigned rma_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Memory of this process that is in use, in KiB; 0 if that is not known. */
static inline long rma_resident_kb(void)
{
    FILE *statm = fopen("/proc/self/statm", "r");
    long pages = 0, resident = 0;

    if (statm && fscanf(statm, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    if (statm)
        fclose(statm);
    return resident * sysconf(_SC_PAGESIZE) / 1024;
}

#endif
