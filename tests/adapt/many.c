/* SPDX-License-Identifier: BSD-3-Clause */
/* Very many windows at once; then one more with hardly a context id left. Each
 * rank puts to the next one on each window and looks at what came.
 * usage: many WINDOWS */
#include "tests/rma/rma.h"

enum { WINDOWS_MAX = 2048, COMMS_MAX = 4096 };

static MPI_Win windows[WINDOWS_MAX];
static long *memory[WINDOWS_MAX];
static MPI_Comm comms[COMMS_MAX];

static void make(int i)
{
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &memory[i], &windows[i]);
    *memory[i] = -1;
}

/* Between two barriers, so that none of the windows needs its own. */
static void use(int first, int end)
{
    int next = (rma_rank + 1) % rma_size;
    long past = (rma_rank + rma_size - 1) % rma_size;

    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = first; i < end; i++) {
        long value = rma_rank * WINDOWS_MAX + i;

        MPI_Win_lock(MPI_LOCK_SHARED, next, 0, windows[i]);
        MPI_Put(&value, 1, MPI_LONG, next, 0, 1, MPI_LONG, windows[i]);
        MPI_Win_unlock(next, windows[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = first; i < end; i++) {
        long got;

        MPI_Win_lock(MPI_LOCK_SHARED, rma_rank, 0, windows[i]);
        got = *memory[i];
        MPI_Win_unlock(rma_rank, windows[i]);
        EXPECT(got == past * WINDOWS_MAX + i, "window %d has %ld", i, got);
    }
}

/* Communicators until MPI has no more. Returns how many. */
static int fill(void)
{
    int n = 0;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (n < COMMS_MAX &&
           MPI_Comm_dup(MPI_COMM_WORLD, &comms[n]) == MPI_SUCCESS)
        n++;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return n;
}

int main(int argc, char **argv)
{
    int n, rest;
    MPI_Errhandler handler;

    rma_begin(&argc, &argv);
    n = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < n; i++)
        make(i);
    use(0, n);
    rest = fill();
    EXPECT(rest > 1 && rest < COMMS_MAX, "%d communicators", rest);
    /* Room for one window, and one more; no error is the program's. */
    for (int i = n; i < n + 2; i++) {
        MPI_Comm_free(&comms[--rest]);
        make(i);
    }
    use(n, n + 2);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    EXPECT(handler == MPI_ERRORS_ARE_FATAL, "another error handler");
    while (rest > 0)
        MPI_Comm_free(&comms[--rest]);
    for (int i = 0; i < n + 2; i++)
        MPI_Win_free(&windows[i]);
    return rma_end("many");
}
