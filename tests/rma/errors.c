/* SPDX-License-Identifier: BSD-3-Clause */
/* Misuse, and the class of the error that MPI reports for it: one line per
 * case, to be compared with what plain MPICH prints. */
#include "rma.h"

static MPI_Win win;
static int target;
static int handled;

static void show(const char *what, int code)
{
    int class = MPI_SUCCESS, length;
    char text[MPI_MAX_ERROR_STRING];

    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    MPI_Error_string(class, text, &length);
    if (rma_rank == 0)
        printf("%-32s %s\n", what, code == MPI_SUCCESS ? "ok" : text);
}

static int put(int rank, MPI_Aint disp, int count, MPI_Datatype type)
{
    static const long value[4];

    return MPI_Put(value, count, type, rank, disp, count, type, win);
}

static void outside(void)
{
    long value = 0, result;

    show("put outside an epoch", put(target, 0, 1, MPI_LONG));
    show("accumulate outside",
         MPI_Accumulate(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM,
                        win));
    show("fetch_and_op outside",
         MPI_Fetch_and_op(&value, &result, MPI_LONG, target, 0, MPI_SUM, win));
    show("flush outside", MPI_Win_flush(target, win));
    show("flush_all outside", MPI_Win_flush_all(win));
    show("flush_local outside", MPI_Win_flush_local(target, win));
    show("sync outside", MPI_Win_sync(win));
    show("unlock outside", MPI_Win_unlock(target, win));
    show("unlock_all outside", MPI_Win_unlock_all(win));
    show("complete outside", MPI_Win_complete(win));
    show("wait outside", MPI_Win_wait(win));
}

static void arguments(void)
{
    MPI_Win_lock_all(0, win);
    show("put to rank -5", put(-5, 0, 1, MPI_LONG));
    show("put to rank 1000", put(1000, 0, 1, MPI_LONG));
    show("put of -1 elements", put(target, 0, -1, MPI_LONG));
    show("put of null type", put(target, 0, 1, MPI_DATATYPE_NULL));
    show("put to MPI_PROC_NULL", put(MPI_PROC_NULL, 0, 1, MPI_LONG));
    show("put of nothing", put(target, 0, 0, MPI_LONG));
    show("accumulate with a bad op",
         MPI_Accumulate(NULL, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_OP_NULL,
                        win));
    show("lock under lock_all",
         MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    show("lock_all under lock_all", MPI_Win_lock_all(0, win));
    show("fence under lock_all", MPI_Win_fence(0, win));
    show("flush of rank 1000", MPI_Win_flush(1000, win));
    show("free under lock_all", MPI_Win_free(&win));
    MPI_Win_unlock_all(win);
    show("lock of rank 1000", MPI_Win_lock(MPI_LOCK_SHARED, 1000, 0, win));
    show("lock of unknown type", MPI_Win_lock(99, target, 0, win));
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    show("lock twice", MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    show("unlock another", MPI_Win_unlock_all(win));
    MPI_Win_unlock(target, win);
}

static void handler(MPI_Win *which, int *code, ...)
{
    (void) code;
    if (*which == win)
        handled++;
}

static void handlers(void)
{
    MPI_Errhandler errhandler;

    MPI_Win_create_errhandler(handler, &errhandler);
    MPI_Win_set_errhandler(win, errhandler);
    put(target, 0, 1, MPI_LONG);
    MPI_Win_lock_all(0, win);
    put(1000, 0, 1, MPI_LONG);
    MPI_Win_lock_all(0, win);
    MPI_Win_unlock_all(win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&errhandler);
    if (rma_rank == 0)
        printf("the window's handler was called %d times\n", handled);
}

/* Plain MPICH does not check bounds, so this case is asked for. */
static void bounds(void)
{
    MPI_Win_lock_all(0, win);
    show("put beyond the end", put(target, 8, 1, MPI_LONG));
    show("put across the end", put(target, 6, 4, MPI_LONG));
    show("put before the begin", put(target, -1, 1, MPI_LONG));
    show("put at the end of space", put(target, (MPI_Aint) 1 << 62, 1,
                                        MPI_LONG));
    show("put of the last", put(target, 7, 1, MPI_LONG));
    MPI_Win_unlock_all(win);
}

int main(int argc, char **argv)
{
    void *base;

    rma_begin(&argc, &argv);
    target = rma_size - 1;
    MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (argc > 1) {
        bounds();
    } else {
        outside();
        MPI_Barrier(MPI_COMM_WORLD);
        arguments();
        handlers();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    return rma_end("errors");
}
