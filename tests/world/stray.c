/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles that are none: null, zero, of another kind. Tells the class of the
 * error of each call, which is the same with Aspen as without.
 * usage: stray           all of these
 *        stray beneath   windows that MPI has, but not the program: with ghosts,
 *                        what stray zeros in a handle lead to */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;

/* MPI may name the cause more closely than by the class that it has without. */
static void tell(const char *call, const char *what, int rc)
{
    int class;

    MPI_Error_class(rc, &class);
    printf("%d: %s of %s: %d\n", rank, call, what, class);
    fflush(stdout);
}

#define TELL(call) tell(#call, what, call)

/* ---- windows ---------------------------------------------------------------- */

static void use_window(const char *what, MPI_Win win)
{
    int value = 1, got = 0, *at = NULL, found = 0, flag = 0, n = 0;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Group group;
    MPI_Info info;

    TELL(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    TELL(MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    TELL(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
    TELL(MPI_Get_accumulate(&value, 1, MPI_INT, &got, 1, MPI_INT, 0, 0, 1,
                            MPI_INT, MPI_SUM, win));
    TELL(MPI_Fetch_and_op(&value, &got, MPI_INT, 0, 0, MPI_SUM, win));
    TELL(MPI_Compare_and_swap(&value, &value, &got, MPI_INT, 0, 0, win));
    TELL(MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request));
    TELL(MPI_Rget(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request));
    TELL(MPI_Raccumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win,
                         &request));
    TELL(MPI_Win_fence(0, win));
    TELL(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    TELL(MPI_Win_unlock(0, win));
    TELL(MPI_Win_lock_all(0, win));
    TELL(MPI_Win_unlock_all(win));
    TELL(MPI_Win_flush(0, win));
    TELL(MPI_Win_flush_all(win));
    TELL(MPI_Win_flush_local(0, win));
    TELL(MPI_Win_flush_local_all(win));
    TELL(MPI_Win_sync(win));
    TELL(MPI_Win_post(MPI_GROUP_EMPTY, 0, win));
    TELL(MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
    TELL(MPI_Win_complete(win));
    TELL(MPI_Win_test(win, &flag));
    TELL(MPI_Win_wait(win));
    TELL(MPI_Win_attach(win, &value, sizeof(value)));
    TELL(MPI_Win_detach(win, &value));
    TELL(MPI_Win_get_attr(win, MPI_WIN_BASE, &at, &found));
    TELL(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &at, &found));
    TELL(MPI_Win_get_group(win, &group));
    TELL(MPI_Win_get_info(win, &info));
    TELL(MPI_Win_set_info(win, MPI_INFO_NULL));
    TELL(MPI_Win_get_name(win, name, &n));
    TELL(MPI_Win_set_name(win, "name"));
    TELL(MPI_Win_get_errhandler(win, &handler));
    TELL(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    TELL(MPI_Win_call_errhandler(win, MPI_ERR_OTHER));
    TELL(MPI_Win_free(&win));
}

static MPI_Win make_window(void)
{
    MPI_Win win;
    int *base;

    MPI_Win_allocate(256, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    return win;
}

/* Every one of a range of handles that is not the program's. */
static int use_beneath(void)
{
    MPI_Win win[3] = {make_window(), make_window(), make_window()};
    int wrong = 0;

    for (int i = 0; i < 64; i++) {
        MPI_Win stray = (MPI_Win) (((int) win[0] & ~0x3ffffff) | i);
        int value = 1, class;
        MPI_Group group;

        if (stray == win[0] || stray == win[1] || stray == win[2])
            continue;
        MPI_Error_class(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, stray),
                        &class);
        wrong += class != MPI_ERR_WIN;
        MPI_Error_class(MPI_Win_fence(0, stray), &class);
        wrong += class != MPI_ERR_WIN;
        MPI_Error_class(MPI_Win_get_group(stray, &group), &class);
        wrong += class != MPI_ERR_WIN;
        MPI_Error_class(MPI_Win_free(&stray), &class);
        wrong += class != MPI_ERR_WIN;
    }
    printf("%d: %d windows beneath are not refused\n", rank, wrong);
    for (int i = 0; i < 3; i++)
        MPI_Win_free(&win[i]);
    return wrong;
}

/* ---- requests --------------------------------------------------------------- */

static void use_request(const char *what, MPI_Request request)
{
    MPI_Request one = request, two[2];
    MPI_Status status, statuses[2];
    int flag = 0, index = 0, indexes[2];

    TELL(MPI_Wait(&one, &status));
    one = request;
    TELL(MPI_Test(&one, &flag, &status));
    two[0] = request;
    two[1] = MPI_REQUEST_NULL;
    TELL(MPI_Waitall(2, two, statuses));
    two[0] = request;
    TELL(MPI_Waitany(2, two, &index, &status));
    two[0] = request;
    TELL(MPI_Testany(2, two, &index, &flag, &status));
    two[0] = request;
    TELL(MPI_Waitsome(2, two, &index, indexes, statuses));
    two[0] = request;
    TELL(MPI_Testall(2, two, &flag, statuses));
    two[0] = request;
    TELL(MPI_Testsome(2, two, &index, indexes, statuses));
    TELL(MPI_Request_get_status(request, &flag, &status));
    one = request;
    TELL(MPI_Cancel(&one));
    one = request;
    TELL(MPI_Start(&one));
    one = request;
    TELL(MPI_Request_free(&one));
    TELL(MPI_Grequest_complete(request));
}

/* ---- the others ------------------------------------------------------------- */

static void use_comm(const char *what, MPI_Comm comm)
{
    int in[8] = {0}, out[8] = {0}, n = 0;
    MPI_Request request;
    MPI_Comm copy;

    TELL(MPI_Comm_size(comm, &n));
    TELL(MPI_Barrier(comm));
    TELL(MPI_Bcast(in, 1, MPI_INT, 0, comm));
    TELL(MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, comm));
    TELL(MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, comm, &request));
    TELL(MPI_Ibarrier(comm, &request));
    TELL(MPI_Send(in, 1, MPI_INT, 0, 0, comm));
    TELL(MPI_Comm_dup(comm, &copy));
    TELL(MPI_Comm_set_info(comm, MPI_INFO_NULL));
    TELL(MPI_Comm_free(&comm));
    TELL(MPI_Comm_disconnect(&comm));
}

static void use_type(const char *what, MPI_Datatype type)
{
    int in[8] = {0}, out[8] = {0}, at = 0, n;

    TELL(MPI_Type_size(type, &n));
    TELL(MPI_Pack(in, 1, type, out, sizeof(out), &at, MPI_COMM_SELF));
    TELL(MPI_Unpack(in, 4, &at, out, 1, type, MPI_COMM_SELF));
    TELL(MPI_Bcast(in, 1, type, 0, MPI_COMM_SELF));
    TELL(MPI_Bcast(in, 1, type, 0, MPI_COMM_WORLD));
    TELL(MPI_Sendrecv(in, 1, type, 0, 0, out, 1, type, 0, 0, MPI_COMM_SELF,
                      MPI_STATUS_IGNORE));
    TELL(MPI_Type_commit(&type));
    TELL(MPI_Type_free(&type));
}

/* ---- all of them ------------------------------------------------------------ */

/* Handles of MPICH are numbers. */
static void use_all(const char *what, int window, int request, int comm,
                    int type)
{
    use_window(what, (MPI_Win) window);
    use_request(what, (MPI_Request) request);
    use_comm(what, (MPI_Comm) comm);
    use_type(what, (MPI_Datatype) type);
}

int main(int argc, char **argv)
{
    int wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (argc == 2 && strcmp(argv[1], "beneath") == 0) {
        wrong = use_beneath();
    } else {
        use_all("null", MPI_WIN_NULL, MPI_REQUEST_NULL, MPI_COMM_NULL,
                MPI_DATATYPE_NULL);
        use_all("zero", 0, 0, 0, 0);
        use_all("another kind", MPI_COMM_WORLD, MPI_COMM_WORLD, MPI_INT,
                MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
