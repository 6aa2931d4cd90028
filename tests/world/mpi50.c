/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI 5.0 brought, and MPICH's own functions of 4.3. */
#include "say.h"

#include <stdlib.h>

#if MPICH_NUMVERSION >= 50000000

static int size;

static int next(void)
{
    return (say_rank + 1) % size;
}

static int previous(void)
{
    return (say_rank + size - 1) % size;
}

/* ---- handles as whole numbers (19.3.4) ------------------------------------ */

static void test_communicator(void)
{
    MPI_Comm world = MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)), copy;
    int n;

    MPI_Comm_size(world, &n);
    say("world: %s, %d", comm_word(world), n);
    MPI_Comm_dup(world, &copy);
    MPI_Comm_size(MPI_Comm_fromint(MPI_Comm_toint(copy)), &n);
    say("its copy: %d", n);
    MPI_Comm_free(&copy);
}

static void test_request(void)
{
    MPI_Request request, *handle = &request;
    int got = -1, number;

    MPI_Irecv(&got, 1, MPI_INT, previous(), 5, MPI_COMM_WORLD, handle);
    number = MPI_Request_toint(request);
    MPI_Send(&say_rank, 1, MPI_INT, next(), 5, MPI_COMM_WORLD);
    request = MPI_Request_fromint(number);
    MPI_Wait(handle, MPI_STATUS_IGNORE);
    say("request: got %d, %s", got,
        request == MPI_REQUEST_NULL ? "null" : "left");
    say("no request: %d", MPI_Request_fromint(MPI_Request_toint(
                              MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
}

static void test_window(void)
{
    MPI_Win win;
    int *memory, got = -1;

    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &memory, &win);
    win = MPI_Win_fromint(MPI_Win_toint(win));
    *memory = say_rank;
    MPI_Win_fence(0, win);
    MPI_Get(&got, 1, MPI_INT, next(), 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    say("window: got %d", got);
    MPI_Win_free(&win);
}

static void test_message(void)
{
    MPI_Message message;
    MPI_Request request;
    int got = -1;

    MPI_Isend(&say_rank, 1, MPI_INT, next(), 6, MPI_COMM_WORLD, &request);
    MPI_Mprobe(previous(), 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    message = MPI_Message_fromint(MPI_Message_toint(message));
    MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("message: got %d", got);
}

#define ROUND(KIND, HANDLE)                                                    \
    (MPI_##KIND##_fromint(MPI_##KIND##_toint(HANDLE)) == (HANDLE))

static void test_constants(void)
{
    say("constants: %d %d %d %d %d %d %d %d", ROUND(Type, MPI_DOUBLE_INT),
        ROUND(Op, MPI_SUM), ROUND(Info, MPI_INFO_ENV),
        ROUND(Group, MPI_GROUP_EMPTY), ROUND(Errhandler, MPI_ERRORS_RETURN),
        ROUND(File, MPI_FILE_NULL), ROUND(Session, MPI_SESSION_NULL),
        ROUND(Win, MPI_WIN_NULL));
}

static void test_interface(void)
{
    int major = -7, minor = -7;

    say("interface: %d, %d.%d", MPI_Abi_get_version(&major, &minor), major,
        minor);
}

/* ---- MPICH's own ---------------------------------------------------------- */

struct task {
    int polls, polls_wanted, state_seen;
    struct task *spawns;
    MPI_Request *completes;
};

/* Called by whoever makes progress. */
static int poll_task(MPIX_Async_thing thing)
{
    struct task *task = MPIX_Async_get_state(thing);

    task->state_seen++;
    if (++task->polls < task->polls_wanted)
        return MPIX_ASYNC_NOPROGRESS;
    if (task->spawns)
        MPIX_Async_spawn(thing, poll_task, task->spawns, MPIX_STREAM_NULL);
    else
        MPI_Grequest_complete(*task->completes);
    return MPIX_ASYNC_DONE;
}

static int query(void *unused, MPI_Status *status)
{
    (void) unused;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = 8;
    return MPI_SUCCESS;
}

static int forget(void *unused)
{
    (void) unused;
    return MPI_SUCCESS;
}

static int cancel(void *unused, int complete)
{
    (void) unused;
    (void) complete;
    return MPI_SUCCESS;
}

/* A request that ends when the second of two tasks has been polled enough. */
static void test_async(void)
{
    MPI_Request request;
    MPI_Status status;
    struct task last = {.polls_wanted = 3, .completes = &request},
                first = {.polls_wanted = 5, .spawns = &last};

    MPI_Grequest_start(query, forget, cancel, NULL, &request);
    say("started: %d", MPIX_Async_start(poll_task, &first, MPIX_STREAM_NULL));
    MPI_Wait(&request, &status);
    say("async: tag %d, polled %d and %d", status.MPI_TAG, first.polls,
        last.polls);
}

/* It is a look at the request: what it tells becomes true in MPI_Test. */
static void test_is_complete(void)
{
    MPI_Request request;
    int got = -1, flag = 0;

    MPI_Irecv(&got, 1, MPI_INT, previous(), 7, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    say("complete before: %d", !!MPIX_Request_is_complete(request));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&say_rank, 1, MPI_INT, next(), 7, MPI_COMM_WORLD);
    while (!MPIX_Request_is_complete(request))
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag,
                   MPI_STATUS_IGNORE);
    say("complete then: got %d", got);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("no request: %d", !!MPIX_Request_is_complete(MPI_REQUEST_NULL));
}

static void count_destroyed(void *counter)
{
    ++*(int *) counter;
}

struct reduction {
    int destroyed, calls;
};

static void forget_reduction(void *reduction)
{
    ((struct reduction *) reduction)->destroyed++;
}

static void keep_larger(void *in, void *inout, MPI_Count n, MPI_Datatype type,
                        void *state)
{
    int *from = in, *to = inout;

    (void) type;
    ((struct reduction *) state)->calls++;
    for (MPI_Count i = 0; i < n; i++)
        to[i] = from[i] > to[i] ? from[i] : to[i];
}

static void test_op(void)
{
    struct reduction reduction = {0};
    int mine[2] = {say_rank, -say_rank}, largest[2];
    MPI_Op op;

    MPIX_Op_create_x(keep_larger, forget_reduction, 1, &reduction, &op);
    MPI_Allreduce(mine, largest, 2, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    say("op: %d %d, destroyed %d", largest[0], largest[1], reduction.destroyed);
}

static const char *seen_comm;
static int seen_class;

static void see(MPI_Comm comm, int code, void *unused)
{
    (void) unused;
    seen_comm = comm_word(comm);
    seen_class = error_class(code);
}

static void see_win(MPI_Win win, int code, void *unused)
{
    (void) unused;
    seen_comm = win == MPI_WIN_NULL ? "no window" : "a window";
    seen_class = error_class(code);
}

static void test_error_handlers(void)
{
    MPI_Errhandler handler;
    int destroyed = 0, memory;
    MPI_Win win;

    MPIX_Comm_create_errhandler_x(see, count_destroyed, &destroyed, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    MPI_Send(&destroyed, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    say("handler: %s, rank %d", seen_comm, seen_class == MPI_ERR_RANK);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TAG);
    say("handler: %s, tag %d", seen_comm, seen_class == MPI_ERR_TAG);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    say("handler: destroyed %d", destroyed);
    MPIX_Win_create_errhandler_x(see_win, count_destroyed, &destroyed,
                                 &handler);
    MPI_Win_create(&memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    MPI_Win_set_errhandler(win, handler);
    MPI_Errhandler_free(&handler);
    MPI_Win_call_errhandler(win, MPI_ERR_DISP);
    say("handler: %s, %d", seen_comm, seen_class == MPI_ERR_DISP);
    MPI_Win_free(&win);
    say("handlers: destroyed %d", destroyed);
}

static void test(void)
{
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_communicator();
    test_request();
    test_window();
    test_message();
    test_constants();
    test_interface();
    test_async();
    test_is_complete();
    test_op();
    test_error_handlers();
}

#else

static void test(void)
{
    say("this MPICH is older");
}

#endif

int main(int argc, char **argv)
{
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &say_rank);
    test();
    MPI_Finalize();
    return 0;
}
