/* SPDX-License-Identifier: BSD-3-Clause */
/* For bench/rma_paths: COUNT operations of one kind from rank 0 to the last
 * rank, through one kind of window. What they cost below MPI is counted by who
 * starts it.
 *
 * usage: rma_paths_app WINDOW OPERATION COUNT
 *   WINDOW     allocate, create, dynamic, or coll: dynamic with coll_attach
 *   OPERATION  put, get, put64k, accumulate, fetch_and_op, compare_and_swap */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 64 << 10 };

static char from[LARGE], to[LARGE], window[LARGE];
static int target;
static MPI_Win win;

/* Returns where the target's memory begins. */
static MPI_Aint make_window(const char *kind)
{
    MPI_Aint base = 0;
    void *memory;
    MPI_Info info;

    if (strcmp(kind, "allocate") == 0) {
        MPI_Win_allocate(LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                         &win);
    } else if (strcmp(kind, "create") == 0) {
        MPI_Win_create(window, LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    } else {
        MPI_Info_create(&info);
        if (strcmp(kind, "coll") == 0)
            MPI_Info_set(info, "coll_attach", "true");
        MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
        MPI_Info_free(&info);
        MPI_Win_attach(win, window, LARGE);
        MPI_Get_address(window, &base);
        MPI_Bcast(&base, 1, MPI_AINT, target, MPI_COMM_WORLD);
    }
    return base;
}

static int operate(const char *kind, MPI_Aint at)
{
    if (strcmp(kind, "put") == 0)
        MPI_Put(from, 1, MPI_LONG, target, at, 1, MPI_LONG, win);
    else if (strcmp(kind, "get") == 0)
        MPI_Get(to, 1, MPI_LONG, target, at, 1, MPI_LONG, win);
    else if (strcmp(kind, "put64k") == 0)
        MPI_Put(from, LARGE, MPI_BYTE, target, at, LARGE, MPI_BYTE, win);
    else if (strcmp(kind, "accumulate") == 0)
        MPI_Accumulate(from, 1, MPI_LONG, target, at, 1, MPI_LONG, MPI_SUM,
                       win);
    else if (strcmp(kind, "fetch_and_op") == 0)
        MPI_Fetch_and_op(from, to, MPI_LONG, target, at, MPI_SUM, win);
    else if (strcmp(kind, "compare_and_swap") == 0)
        MPI_Compare_and_swap(from, from, to, MPI_LONG, target, at, win);
    else
        return 0;
    return MPI_Win_flush(target, win) == MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int rank, size, ok = argc == 4;
    MPI_Aint at;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    target = size - 1;
    at = make_window(ok ? argv[1] : "");
    MPI_Win_lock_all(0, win);
    for (int i = 0; ok && rank == 0 && i < atoi(argv[3]); i++)
        ok = operate(argv[2], at);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!ok)
        fprintf(stderr, "usage: rma_paths_app WINDOW OPERATION COUNT\n");
    MPI_Win_free(&win);
    MPI_Finalize();
    return !ok;
}
