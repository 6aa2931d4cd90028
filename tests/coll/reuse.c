/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects whose delete functions call MPI, each followed by another object that
 * gets the handle of the first and differs from it. Legal MPI, so the output is
 * the same with Aspen as without.
 * usage: reuse STORY... */
#include "expect.h"

#include <mpi.h>
#include <pthread.h>
#include <string.h>

static int size;

/* ---- communicators ---------------------------------------------------------- */

enum { CALLS = 12 }; /* more than a communicator has before it is tuned */

/* Every rank learns what the last one says, and the sum of all ranks. */
static void use(MPI_Comm comm)
{
    int me, n;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < CALLS; i++) {
        int said = me == n - 1 ? 7 + i : -1, sum = -1;

        MPI_Bcast(&said, 1, MPI_INT, n - 1, comm);
        EXPECT(said == 7 + i);
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
        EXPECT(sum == n * (n - 1) / 2);
    }
}

static void post_on(MPI_Comm comm)
{
    int one = 1, sum = 0, n;
    MPI_Request request;

    MPI_Comm_size(comm, &n);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(sum == n);
}

static int refusals; /* how often the delete function fails first */

static int use_deleted(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) keyval;
    (void) value;
    (void) extra;
    use(comm);
    post_on(comm);
    return refusals-- > 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int look_at_deleted(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int me = -1, n = -1;

    (void) keyval;
    (void) extra;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    *(int *) value = n * 100 + me;
    return MPI_SUCCESS;
}

static int keyval_of(MPI_Comm_delete_attr_function *deleted)
{
    int keyval;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &keyval, NULL);
    return keyval;
}

/* In turn all ranks, halves, all in the opposite order, and each alone. */
static MPI_Comm make_comm(int round)
{
    MPI_Comm comm;
    int side = 1, wraps = 1;

    switch (round % 6) {
    case 0:
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
        break;
    case 1:
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        break;
    case 2:
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
        break;
    case 3:
        side = size;
        MPI_Cart_create(MPI_COMM_WORLD, 1, &side, &wraps, 0, &comm);
        break;
    case 4:
        MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &comm);
        break;
    default: {
        MPI_Request request;

        MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    }
    }
    return comm;
}

static void tell_comms(void)
{
    int keyval = keyval_of(use_deleted);

    for (int round = 0; round < 24; round++) {
        MPI_Comm comm = make_comm(round);

        if (round / 6 % 2) /* before it is tuned, or after */
            MPI_Comm_set_attr(comm, keyval, NULL);
        if (round % 5)
            use(comm);
        if (round % 5 > 2)
            post_on(comm);
        MPI_Comm_set_attr(comm, keyval, NULL);
        if (round % 4 == 3)
            MPI_Comm_disconnect(&comm);
        else
            MPI_Comm_free(&comm);
        EXPECT(comm == MPI_COMM_NULL);
    }
    MPI_Comm_free_keyval(&keyval);
}

/* MPICH deletes the attributes and keeps the communicator. */
static void tell_refused(void)
{
    int keyval = keyval_of(use_deleted);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int round = 0; round < 12; round++) {
        MPI_Comm comm = make_comm(round);

        if (round % 2)
            use(comm);
        MPI_Comm_set_attr(comm, keyval, NULL);
        refusals = 1;
        if (MPI_Comm_free(&comm) == MPI_SUCCESS)
            continue; /* of a topology: another attribute had no objection */
        refusals = 0;
        use(comm);
        post_on(comm);
        EXPECT(MPI_Comm_free(&comm) == MPI_SUCCESS);
    }
    MPI_Comm_free_keyval(&keyval);
}

/* Messages are under way: MPI lets go of the communicator later. */
static void tell_pending(void)
{
    int keyval = keyval_of(look_at_deleted);

    for (int round = 0; round < 24; round++) {
        MPI_Comm comm = make_comm(round), other;
        int me, n, in = 0, out = rank, seen = -1;
        MPI_Request request;

        MPI_Comm_rank(comm, &me);
        MPI_Comm_size(comm, &n);
        if (round % 3)
            use(comm);
        MPI_Comm_set_attr(comm, keyval, &seen);
        MPI_Irecv(&in, 1, MPI_INT, me, 0, comm, &request);
        MPI_Send(&out, 1, MPI_INT, me, 0, comm);
        MPI_Comm_free(&comm);
        other = make_comm(round + 1);
        use(other);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT(in == rank);
        EXPECT(seen == n * 100 + me);
        MPI_Comm_free(&other);
    }
    MPI_Comm_free_keyval(&keyval);
}

/* Two threads, each with communicators of its own, which get each other's
 * handles. */
static void *make_and_free(void *arg)
{
    MPI_Comm base = *(MPI_Comm *) arg;
    int me, n;

    MPI_Comm_rank(base, &me);
    MPI_Comm_size(base, &n);
    for (int round = 0; round < 20; round++) {
        MPI_Comm comm;

        MPI_Comm_split(base, round % 2 ? 0 : me % 2, round % 3 ? me : -me,
                       &comm);
        use(comm);
        MPI_Comm_free(&comm);
    }
    return NULL;
}

static void tell_threads(void)
{
    MPI_Comm base[2];
    pthread_t thread;

    MPI_Comm_dup(MPI_COMM_WORLD, &base[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &base[1]);
    pthread_create(&thread, NULL, make_and_free, &base[0]);
    make_and_free(&base[1]);
    pthread_join(thread, NULL);
    MPI_Comm_free(&base[0]);
    MPI_Comm_free(&base[1]);
}

/* ---- datatypes -------------------------------------------------------------- */

enum { INTS = 24, SPARE = 80 };

static int copy_of(MPI_Datatype type, const int *from, int *to)
{
    char packed[sizeof(int) * INTS];
    int at = 0, n = 0;

    MPI_Pack(from, 1, type, packed, sizeof(packed), &at, MPI_COMM_SELF);
    MPI_Pack_size(1, type, MPI_COMM_SELF, &n);
    EXPECT(at <= n);
    n = at;
    at = 0;
    MPI_Unpack(packed, n, &at, to, 1, type, MPI_COMM_SELF);
    return n;
}

/* Is every second, third ... number there? */
static void check_packed(MPI_Datatype type, int stride)
{
    int from[INTS], to[INTS] = {0}, bytes;

    for (int i = 0; i < INTS; i++)
        from[i] = i + 1;
    bytes = copy_of(type, from, to);
    EXPECT(bytes == (int) sizeof(int) * 4);
    for (int i = 0; i < INTS; i++)
        EXPECT(to[i] == (i % stride == 0 && i / stride < 4 ? i + 1 : 0));
}

static void check_type(MPI_Datatype type, int stride)
{
    int from[INTS], to[INTS] = {0};

    check_packed(type, stride);
    for (int i = 0; i < INTS; i++)
        from[i] = i + 1;
    MPI_Sendrecv(from, 1, type, 0, 0, to, 1, type, 0, 0, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < INTS; i++)
        EXPECT(to[i] == (i % stride == 0 && i / stride < 4 ? i + 1 : 0));
}

static int pack_deleted(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void) keyval;
    (void) extra;
    check_packed(type, (int) (size_t) value);
    return MPI_SUCCESS;
}

static MPI_Datatype make_type(int stride)
{
    MPI_Datatype type;

    MPI_Type_vector(4, 1, stride, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* With more and more attributes in use elsewhere. */
static void tell_types(void)
{
    int keyval, spare[SPARE];

    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, pack_deleted, &keyval, NULL);
    for (int round = 0; round < SPARE; round++) {
        int stride = 2 + round % 4;
        MPI_Datatype type = make_type(stride), copy;

        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN,
                               &spare[round], NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, spare[round], NULL);
        if (round % 2)
            check_type(type, stride);
        MPI_Type_set_attr(type, keyval, (void *) (size_t) stride);
        MPI_Type_dup(type, &copy);
        MPI_Type_free(&type);
        type = make_type(stride + 1);
        check_type(copy, stride);
        check_type(type, stride + 1);
        MPI_Type_set_attr(copy, keyval, (void *) (size_t) stride);
        MPI_Type_set_attr(type, keyval, (void *) (size_t) (stride + 1));
        MPI_Type_free(&copy);
        MPI_Type_free(&type);
    }
    for (int i = 0; i < SPARE; i++) {
        MPI_Comm_delete_attr(MPI_COMM_SELF, spare[i]);
        MPI_Comm_free_keyval(&spare[i]);
    }
    MPI_Type_free_keyval(&keyval);
}

/* ---- windows ---------------------------------------------------------------- */

static int look_at_window(MPI_Win win, int keyval, void *value, void *extra)
{
    int *unit = NULL, found = 0, sum = -1;
    MPI_Group group;

    (void) keyval;
    (void) extra;
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &found);
    EXPECT(found && *unit == (int) (size_t) value);
    MPI_Win_get_group(win, &group);
    MPI_Group_free(&group);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(sum == size * (size - 1) / 2);
    return MPI_SUCCESS;
}

static void check_window(MPI_Win win, const int *mine, int ints_of_unit)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    int said = 100 + rank;

    MPI_Win_fence(0, win);
    MPI_Put(&said, 1, MPI_INT, to, 2, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    EXPECT(mine[2 * ints_of_unit] == 100 + from);
}

static void tell_windows(void)
{
    int memory[64], keyval;

    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, look_at_window, &keyval, NULL);
    for (int round = 0; round < 24; round++) {
        int unit = 1 + round % 5, *mine = memory;
        MPI_Win win;

        memset(memory, 0, sizeof(memory));
        if (round % 3 == 1)
            MPI_Win_create(memory, sizeof(memory), unit * (int) sizeof(int),
                           MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        else
            MPI_Win_allocate(sizeof(memory), unit * (int) sizeof(int),
                             MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
        MPI_Win_set_attr(win, keyval, (void *) (size_t) (unit * sizeof(int)));
        check_window(win, mine, unit);
        MPI_Win_free(&win);
    }
    MPI_Win_free_keyval(&keyval);
}

static void *make_windows(void *arg)
{
    MPI_Comm base = *(MPI_Comm *) arg;
    int me, n;

    MPI_Comm_rank(base, &me);
    MPI_Comm_size(base, &n);
    for (int round = 0; round < 16; round++) {
        int memory[16] = {0}, unit = 1 + (round + (n == size)) % 4,
            said = 10 * round + me, *mine = memory;
        MPI_Win win;

        if (round % 2)
            MPI_Win_create(memory, sizeof(memory), unit * (int) sizeof(int),
                           MPI_INFO_NULL, base, &win);
        else
            MPI_Win_allocate(sizeof(memory), unit * (int) sizeof(int),
                             MPI_INFO_NULL, base, &mine, &win);
        MPI_Win_fence(0, win);
        MPI_Put(&said, 1, MPI_INT, (me + 1) % n, 2, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
        EXPECT(mine[2 * unit] == 10 * round + (me + n - 1) % n);
        MPI_Win_free(&win);
    }
    return NULL;
}

static void tell_window_threads(void)
{
    MPI_Comm base[2];
    pthread_t thread;

    MPI_Comm_dup(MPI_COMM_WORLD, &base[0]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &base[1]);
    pthread_create(&thread, NULL, make_windows, &base[0]);
    make_windows(&base[1]);
    pthread_join(thread, NULL);
    MPI_Comm_free(&base[0]);
    MPI_Comm_free(&base[1]);
}

/* ---- requests and operations ------------------------------------------------ */

static int query(void *extra, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, *(int *) extra);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 0;
    status->MPI_TAG = *(int *) extra;
    return MPI_SUCCESS;
}

static int free_and_call(void *extra)
{
    int sum = -1, flag;

    MPI_Iprobe(0, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    MPI_Allreduce(extra, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    EXPECT(sum == *(int *) extra);
    *(int *) extra = -1;
    return MPI_SUCCESS;
}

static int no_cancel(void *extra, int complete)
{
    (void) extra;
    (void) complete;
    return MPI_SUCCESS;
}

static void tell_requests(void)
{
    for (int round = 1; round < 40; round++) {
        int extra = round, one = 1, sum = 0;
        MPI_Request requests[2];
        MPI_Status statuses[2];

        MPI_Grequest_start(query, free_and_call, no_cancel, &extra,
                           &requests[0]);
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                       &requests[1]);
        MPI_Grequest_complete(requests[0]);
        if (round % 2) {
            MPI_Waitall(2, requests, statuses);
            EXPECT(statuses[0].MPI_TAG == round);
        } else {
            MPI_Request_free(&requests[0]);
            MPI_Wait(&requests[1], &statuses[1]);
        }
        EXPECT(extra == -1 && sum == size);
    }
}

static void reduce(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int n, me;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Type_size(*type, &n);
    EXPECT(me == rank && n == (int) sizeof(int));
    for (int i = 0; i < *count; i++)
        ((int *) inout)[i] += ((int *) in)[i];
}

static void reduce_more(void *in, void *inout, int *count, MPI_Datatype *type)
{
    reduce(in, inout, count, type);
    for (int i = 0; i < *count; i++)
        ((int *) inout)[i] += 1000;
}

static void tell_operations(void)
{
    for (int round = 0; round < 40; round++) {
        int said[3] = {rank, rank + 1, rank + 2}, sum[3] = {0};
        MPI_Request request;
        MPI_Op op;

        MPI_Op_create(round % 2 ? reduce_more : reduce, 1, &op);
        if (round % 3) {
            MPI_Allreduce(said, sum, 3, MPI_INT, op, MPI_COMM_WORLD);
        } else {
            MPI_Iallreduce(said, sum, 3, MPI_INT, op, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Op_free(&op);
        for (int i = 0; i < 3; i++)
            EXPECT(sum[i] == size * (size - 1) / 2 + i * size +
                                 (round % 2 ? 1000 * (size - 1) : 0));
    }
}

/* ---- the end ---------------------------------------------------------------- */

static int use_world(MPI_Comm comm, int keyval, void *value, void *extra)
{
    MPI_Comm copy;

    (void) comm;
    (void) keyval;
    (void) value;
    (void) extra;
    use(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    use(copy);
    MPI_Comm_free(&copy);
    if (wrong == 0 && rank == 0)
        printf("reuse at the end: right\n");
    fflush(stdout);
    return MPI_SUCCESS;
}

static void tell_end(void)
{
    int keyval = keyval_of(use_world);

    use(MPI_COMM_WORLD);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
}

/* ---- all of them ------------------------------------------------------------ */

static const struct {
    const char *name;
    void (*tell)(void);
    int threads; /* 1: it wants MPI_THREAD_MULTIPLE */
} stories[] = {
    {"comms", tell_comms, 0},
    {"refused", tell_refused, 0},
    {"pending", tell_pending, 0},
    {"threads", tell_threads, 1},
    {"types", tell_types, 0},
    {"windows", tell_windows, 0},
    {"window-threads", tell_window_threads, 1},
    {"requests", tell_requests, 0},
    {"operations", tell_operations, 0},
    {"end", tell_end, 0},
};

enum { STORIES = sizeof(stories) / sizeof(stories[0]) };

static int find(const char *name)
{
    int s = 0;

    while (s < STORIES && strcmp(stories[s].name, name) != 0)
        s++;
    return s;
}

int main(int argc, char **argv)
{
    int all = 0, provided, level = MPI_THREAD_SINGLE;

    for (int i = 1; i < argc; i++) {
        if (find(argv[i]) == STORIES) {
            fprintf(stderr, "reuse: no story %s\n", argv[i]);
            return 2;
        }
        if (stories[find(argv[i])].threads)
            level = MPI_THREAD_MULTIPLE;
    }
    MPI_Init_thread(NULL, NULL, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < argc; i++) {
        stories[find(argv[i])].tell();
        MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0)
            printf("reuse %s: %d wrong\n", argv[i], all);
    }
    fflush(stdout);
    MPI_Finalize();
    return all != 0;
}
