/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program says and asks of its communicators, and what goes wrong:
 *
 *   coll_tuned asks      how many searches are open, before and after
 *   coll_tuned off       aspen_coll=off on one rank: nothing is searched
 *   coll_tuned again     a split, freed and made again: nothing is searched
 *   coll_tuned mixed     communicators of ranks that have learnt other things
 *   coll_tuned many      1,000 communicators, each used a few times
 *   coll_tuned full      no room for one communicator more
 *   coll_tuned lengths   ranks disagree about the size of a broadcast
 *   coll_tuned aliases   a rank receives over what it sends, by another type
 *   coll_tuned refused   MPI refuses a root's arguments, which makes its call again
 *   coll_tuned types     the same for a type that is not committed, and for NULL
 *   coll_tuned unmeant   arguments that mean something at the root only
 *   coll_tuned threads   two threads on two communicators
 *   coll_tuned handler   a thread looks at the error handler meanwhile
 *   coll_tuned late      a rank comes late */
#include "../expect.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int size;

static int open_searches(MPI_Comm comm)
{
    char value[16] = "";
    MPI_Info info;
    int found;

    MPI_Comm_get_info(comm, &info);
    MPI_Info_get(info, "aspen_coll_open", sizeof(value) - 1, value, &found);
    MPI_Info_free(&info);
    return found ? atoi(value) : -1;
}

static void sum_of(MPI_Comm comm, int times)
{
    int own = rank, all;

    for (int i = 0; i < times; i++) {
        MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, comm);
        EXPECT(all == size * (size - 1) / 2);
    }
}

static void asks(void)
{
    EXPECT(open_searches(MPI_COMM_WORLD) == -1);
    sum_of(MPI_COMM_WORLD, 9);
    EXPECT(open_searches(MPI_COMM_WORLD) == 1);
    /* noise takes more windows to prove a choice (common/tune/search_proof.c)
     */
    for (int i = 0; i < 10 && open_searches(MPI_COMM_WORLD) > 0; i++)
        sum_of(MPI_COMM_WORLD, 200);
    EXPECT(open_searches(MPI_COMM_WORLD) == 0);
}

static void off(void)
{
    MPI_Info info;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    sum_of(comm, 9);
    EXPECT(open_searches(comm) == 1);
    MPI_Info_create(&info);
    if (rank == size - 1)
        MPI_Info_set(info, "aspen_coll", "off");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    EXPECT(open_searches(comm) == -1);
    sum_of(comm, 20);
    EXPECT(open_searches(comm) == -1);
    MPI_Comm_free(&comm);
}

/* Rows or columns of a square of ranks; where these are dealt to as many nodes
 * in turn as it has rows, a row lies in a node. */
static MPI_Comm split(int columns)
{
    MPI_Comm comm;
    int side = 1;

    while (side * side < size)
        side++;
    MPI_Comm_split(MPI_COMM_WORLD, columns ? rank / side : rank % side, 0,
                   &comm);
    return comm;
}

static void sums(MPI_Comm comm, int times, int ints)
{
    int own[64] = {rank}, all[64];

    for (int i = 0; i < times; i++)
        MPI_Allreduce(own, all, ints, MPI_INT, MPI_SUM, comm);
}

/* Open after the first call that is tuned: 1 where it begins a search. */
static int begins(MPI_Comm comm, int ints)
{
    sums(comm, 8, ints);
    return open_searches(comm);
}

static void again(void)
{
    for (int columns = 0; columns < 2; columns++) {
        MPI_Comm comm = split(columns);

        EXPECT(begins(comm, 1) == 1);
        sums(comm, 100, 1);
        EXPECT(open_searches(comm) == 0);
        MPI_Comm_free(&comm);
    }
    for (int columns = 0; columns < 2; columns++) {
        MPI_Comm comm = split(columns);

        EXPECT(begins(comm, 1) == 0);
        sums(comm, 200, 1);
        sums(comm, 1, 64); /* this one is new */
        EXPECT(open_searches(comm) == 1);
        MPI_Comm_free(&comm);
    }
}

/* Ranks that have learnt different things, for the two that meet now were in
 * different communicators: they must not wait for each other. */
static void mixed(void)
{
    for (int round = 0; round < 12; round++) {
        MPI_Comm comm;
        int color = round % 3 == 0 ? rank / 2 : round % 3 == 1 ? rank % 2 : 0;

        MPI_Comm_split(MPI_COMM_WORLD, color, round % 2 ? -rank : rank, &comm);
        sums(comm, 40 + round * (color ? 1 : 7), 1 + color);
        sums(comm, 40, 64);
        MPI_Comm_free(&comm);
    }
}

static void many(void)
{
    MPI_Comm comms[8];

    for (int i = 0; i < 1000; i++) {
        MPI_Comm *comm = &comms[i % 8];

        if (i >= 8)
            MPI_Comm_free(comm);
        MPI_Comm_dup(MPI_COMM_WORLD, comm);
        sum_of(*comm, i % 20);
    }
    for (int i = 0; i < 8; i++)
        MPI_Comm_free(&comms[i]);
}

/* No room for a communicator of Aspen's: the program must not notice. */
static void full(void)
{
    static MPI_Comm comms[8192];
    int n = 0;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (n < 8192 && MPI_Comm_dup(MPI_COMM_WORLD, &comms[n]) == MPI_SUCCESS)
        n++;
    EXPECT(n < 8192);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    sum_of(MPI_COMM_WORLD, 20);
    EXPECT(open_searches(MPI_COMM_WORLD) == -1);
    /* Room for the duplicate, and for nothing else. */
    MPI_Comm_free(&comms[--n]);
    sum_of(comms[0], 20);
    while (n > 0)
        MPI_Comm_free(&comms[--n]);
}

/* As MPICH's own tests do: an error somewhere, and no hang. */
static void lengths(void)
{
    static char data[4096];
    int rc, failed, all;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 20; i++)
        MPI_Bcast(data, 100, MPI_CHAR, 0, MPI_COMM_WORLD);
    rc = MPI_Bcast(data, rank == 0 ? 100 : 90, MPI_CHAR, 0, MPI_COMM_WORLD);
    failed = rc != MPI_SUCCESS;
    MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(all > 0);
}

static void *use(void *comm)
{
    sum_of(*(MPI_Comm *) comm, 2000);
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    MPI_Comm comms[2];

    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    pthread_create(&thread, NULL, use, &comms[0]);
    use(&comms[1]);
    pthread_join(thread, NULL);
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
}

struct watch {
    MPI_Comm comm;
    _Atomic bool stop;
    int others; /* looks that met another handler than the program's */
};

static void *watch_handler(void *arg)
{
    struct watch *watch = arg;

    while (!watch->stop) {
        MPI_Errhandler handler;

        MPI_Comm_get_errhandler(watch->comm, &handler);
        watch->others += handler != MPI_ERRORS_ARE_FATAL;
        MPI_Errhandler_free(&handler);
    }
    return NULL;
}

/* An error of another thread's must find it at any time. */
static void handler(void)
{
    for (int round = 0; round < 20; round++) {
        struct watch watch = {.stop = false};
        pthread_t thread;

        MPI_Comm_dup(MPI_COMM_WORLD, &watch.comm);
        pthread_create(&thread, NULL, watch_handler, &watch);
        sum_of(watch.comm, 12);
        watch.stop = true;
        pthread_join(thread, NULL);
        EXPECT(watch.others == 0);
        MPI_Comm_free(&watch.comm);
    }
}

/* Be late, so that another waits. */
static void late(void)
{
    if (rank == 0)
        pause_ms(30);
    sum_of(MPI_COMM_WORLD, 20);
}

enum { ROUNDS = 60, BLOCK = 2, GAPS = 2 };

/* Rank 0 sends from where its receive buffer begins, which has no block
 * there: no error of that rank, so it has to go where the others go. */
static void aliases(void)
{
    int *counts = calloc((size_t) size, sizeof(*counts));
    int *displs = calloc((size_t) size, sizeof(*displs));
    int *got = calloc((size_t) size * BLOCK * GAPS + 2 * BLOCK, sizeof(*got));
    int other[BLOCK], *send = rank == 0 ? got : other;
    MPI_Datatype spaced;

    MPI_Type_create_resized(MPI_INT, 0, GAPS * sizeof(int), &spaced);
    MPI_Type_commit(&spaced);
    for (int r = 0; r < size; r++) {
        counts[r] = BLOCK;
        displs[r] = BLOCK + BLOCK * r;
    }
    for (int i = 0; i < ROUNDS; i++) {
        send[0] = 100 * i + rank;
        send[1] = send[0] + 50;
        MPI_Allgatherv(send, BLOCK, MPI_INT, got, counts, displs, spaced,
                       MPI_COMM_WORLD);
        for (int r = 0; r < size; r++)
            for (int b = 0; b < BLOCK; b++)
                EXPECT(got[GAPS * (displs[r] + b)] == 100 * i + r + 50 * b);
    }
    MPI_Type_free(&spaced);
    free(counts);
    free(displs);
    free(got);
}

/* MPI refuses a call of the root's alone, before anything moves: the others
 * wait for one that is right. */
static void refused_round(int root, int i, bool waits)
{
    int own = rank + i, sum = 0, *all = calloc((size_t) size, sizeof(*all));
    bool refused = rank == root;
    MPI_Request request = MPI_REQUEST_NULL;

    for (int wrong_first = refused; wrong_first >= 0; wrong_first--) {
        int *to = wrong_first ? &own : &sum, rc;

        rc = waits ? MPI_Reduce(&own, to, 1, MPI_INT, MPI_SUM, root,
                                MPI_COMM_WORLD)
                   : MPI_Ireduce(&own, to, 1, MPI_INT, MPI_SUM, root,
                                 MPI_COMM_WORLD, &request);
        EXPECT((rc != MPI_SUCCESS) == wrong_first);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(rank != root || sum == size * (size - 1) / 2 + size * i);
    for (int wrong_first = refused; waits && wrong_first >= 0; wrong_first--)
        EXPECT((MPI_Gather(wrong_first ? all + rank : &own, 1, MPI_INT, all, 1,
                           MPI_INT, root, MPI_COMM_WORLD) != MPI_SUCCESS) ==
               wrong_first);
    for (int r = 0; waits && rank == root && r < size; r++)
        EXPECT(all[r] == r + i);
    free(all);
}

static void refused(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < ROUNDS; i++)
        refused_round(i % size, i, i % 4 != 1);
}

/* One rank's data and type are not right at first. */
static void types_round(int wrong_rank, int i, const int *data,
                        MPI_Datatype type)
{
    bool refused = rank == wrong_rank;
    int own = rank + i, *all = calloc((size_t) size, sizeof(*all));
    int *ones = calloc((size_t) size, sizeof(*ones));
    int *displs = calloc((size_t) size, sizeof(*displs));

    for (int r = 0; r < size; r++) {
        ones[r] = 1;
        displs[r] = r;
    }
    for (int wrong_first = refused; wrong_first >= 0; wrong_first--) {
        const int *from = wrong_first ? data : &own;
        MPI_Datatype sent = wrong_first ? type : MPI_INT;
        int rc;

        if (i % 3 == 0)
            rc = MPI_Allgather(from, 1, sent, all, 1, MPI_INT, MPI_COMM_WORLD);
        else if (i % 3 == 1)
            rc = MPI_Allgatherv(from, 1, sent, all, ones, displs, MPI_INT,
                                MPI_COMM_WORLD);
        else
            rc = MPI_Gather(from, 1, sent, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
        EXPECT((rc != MPI_SUCCESS) == wrong_first);
    }
    for (int r = 0; (i % 3 < 2 || rank == 0) && r < size; r++)
        EXPECT(all[r] == r + i);
    free(all);
    free(ones);
    free(displs);
}

static void types(void)
{
    int data = -1;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < ROUNDS; i++) {
        bool commits = i % 2 == 0;
        MPI_Datatype type;

        MPI_Type_contiguous(1, MPI_INT, &type);
        if (commits)
            MPI_Type_commit(&type);
        types_round(i % size, i, commits ? NULL : &data, type);
        MPI_Type_free(&type);
    }
}

/* Elsewhere than at the root these buffers may be anything. */
static void unmeant_round(int root, int i, bool waits)
{
    int own = rank + i, *all = calloc((size_t) size, sizeof(*all)), got = -1;
    void *at_root = rank == root ? all : MPI_IN_PLACE;
    MPI_Request requests[3];

    for (int r = 0; r < size; r++)
        all[r] = 7 * r + i;
    if (waits) {
        MPI_Scatter(at_root, 1, MPI_INT, &got, 1, MPI_INT, root,
                    MPI_COMM_WORLD);
        EXPECT(got == 7 * rank + i);
        MPI_Gather(&own, 1, MPI_INT, at_root, 1, MPI_INT, root, MPI_COMM_WORLD);
        EXPECT(rank != root || all[size - 1] == size - 1 + i);
        MPI_Reduce(&own, at_root, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        EXPECT(rank != root || all[0] == size * (size - 1) / 2 + size * i);
    } else {
        MPI_Iscatter(at_root, 1, MPI_INT, &got, 1, MPI_INT, root,
                     MPI_COMM_WORLD, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        EXPECT(got == 7 * rank + i);
        MPI_Igather(&own, 1, MPI_INT, at_root, 1, MPI_INT, root, MPI_COMM_WORLD,
                    &requests[1]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        EXPECT(rank != root || all[size - 1] == size - 1 + i);
        MPI_Ireduce(&own, at_root, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD,
                    &requests[2]);
        MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
        EXPECT(rank != root || all[0] == size * (size - 1) / 2 + size * i);
    }
    free(all);
}

static void unmeant(void)
{
    for (int i = 0; i < ROUNDS; i++)
        unmeant_round(i % size, i, i % 2 == 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} stories[] = {{"aliases", aliases}, {"refused", refused}, {"types", types},
               {"unmeant", unmeant}, {"asks", asks},       {"off", off},
               {"many", many},       {"again", again},     {"mixed", mixed},
               {"full", full},       {"lengths", lengths}, {"threads", threads},
               {"late", late},       {"handler", handler}};

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    bool threaded = strcmp(wanted, "threads") == 0 ||
                    strcmp(wanted, "handler") == 0;
    int provided, all;

    MPI_Init_thread(&argc, &argv,
                    threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
        if (strcmp(stories[i].name, wanted) == 0)
            stories[i].run();
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0 && all == 0)
        printf("story %s: ok\n", wanted);
    return wrong != 0;
}
