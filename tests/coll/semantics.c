/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI promises of collectives, whichever way they take:
 *
 *   coll_semantics scribble N   N calls: who receives writes into the buffer up
 *                               to the call, who sends overwrites it right after
 *   coll_semantics barriers N   N barriers that ranks come to when they like: no
 *                               one leaves before the last has come
 *   coll_semantics isend N      a message that needs its receiver is begun before
 *                               a barrier and received after it, N times
 *   coll_semantics threads N    two threads on two communicators, N calls each of
 *                               different kinds, while communicators and windows
 *                               are made and freed; MPI's control variables are
 *                               as before
 *
 * Times are compared between ranks: all must be on one machine. */
#include "../expect.h"
#include "../random/prng.h"

#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    INTS_MOST = 4096,
    LATE_MOST_US = 200,
    BATCH = 1000, /* barriers that are compared at once */
    MESSAGE = 1 << 20,
    MAKE_EVERY = 200, /* calls between two communicators or windows */
    VARIABLES = 2048,
};

static int size;
static struct prng own; /* this rank's */

/* ---- buffers ---------------------------------------------------------------- */

static int value(long call, int from, int i)
{
    return (int) (call * 31 + from * 7 + i) % 1009;
}

static void fill(int *at, int n, long call, int from)
{
    for (int i = 0; i < n; i++)
        at[i] = value(call, from, i);
}

static void scribble(int *at, int n)
{
    memset(at, 0xa5, (size_t) n * sizeof(*at));
}

static void expect(const int *at, int n, long call, int from)
{
    int bad = 0;

    for (int i = 0; i < n; i++)
        bad += at[i] != value(call, from, i);
    EXPECT(bad == 0);
}

static void expect_sum(const int *at, int n, long call)
{
    int bad = 0;

    for (int i = 0; i < n; i++) {
        int sum = 0;

        for (int r = 0; r < size; r++)
            sum += value(call, r, i);
        bad += at[i] != sum;
    }
    EXPECT(bad == 0);
}

static void scribble_call(long call, int kind, int n, int root, int *in,
                          int *out)
{
    fill(in, n, call, rank);
    scribble(out, n * size);
    switch (kind) {
    case 0:
        MPI_Bcast(rank == root ? in : out, n, MPI_INT, root, MPI_COMM_WORLD);
        if (rank != root)
            expect(out, n, call, root);
        break;
    case 1:
        MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect_sum(out, n, call);
        break;
    case 2:
        MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        scribble(in, n);
        if (rank == root)
            expect_sum(out, n, call);
        break;
    case 3:
        MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, root, MPI_COMM_WORLD);
        scribble(in, n);
        for (int r = 0; rank == root && r < size; r++)
            expect(out + r * n, n, call, r);
        break;
    default:
        MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD);
        scribble(in, n);
        for (int r = 0; r < size; r++)
            expect(out + r * n, n, call, r);
    }
    scribble(in, n);
}

static void buffers(long calls)
{
    static const int lengths[] = {1, 2, 50, 1024, INTS_MOST};
    int *in = malloc(INTS_MOST * sizeof(int));
    int *out = malloc((size_t) INTS_MOST * (size_t) size * sizeof(int));
    struct prng all = {5};

    for (long call = 0; call < calls; call++) {
        int kind = prng_below(&all, 5), root = prng_below(&all, size);
        int n = lengths[prng_below(&all, prng_chance(&all, 5) ? 5 : 3)];

        if (prng_chance(&own, 1))
            usleep((unsigned) prng_below(&own, LATE_MOST_US));
        scribble_call(call, kind, n, root, in, out);
    }
    free(in);
    free(out);
}

/* ---- barriers --------------------------------------------------------------- */

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double) now.tv_sec + 1e-3 * (double) now.tv_nsec;
}

static void barriers(long calls)
{
    static double came[BATCH], left[BATCH], last[BATCH], first[BATCH];

    for (long done = 0; done < calls; done += BATCH) {
        for (int i = 0; i < BATCH; i++) {
            if (prng_chance(&own, 10))
                usleep((unsigned) prng_below(&own, LATE_MOST_US));
            came[i] = now_us();
            MPI_Barrier(MPI_COMM_WORLD);
            left[i] = now_us();
        }
        MPI_Allreduce(came, last, BATCH, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(left, first, BATCH, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        for (int i = 0; i < BATCH; i++)
            EXPECT(last[i] <= first[i]);
    }
}

static void isend(long calls)
{
    char *to = calloc(MESSAGE, 1), *from = calloc(MESSAGE, 1);
    int right = (rank + 1) % size, before = (rank + size - 1) % size;

    for (long call = 0; call < calls; call++) {
        MPI_Request request;

        if (prng_chance(&own, 10))
            pause_ms(1);
        from[0] = (char) (call + rank);
        MPI_Isend(from, MESSAGE, MPI_BYTE, right, 0, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Recv(to, MESSAGE, MPI_BYTE, before, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT(to[0] == (char) (call + before));
    }
    free(to);
    free(from);
}

/* ---- threads ---------------------------------------------------------------- */

struct user {
    MPI_Comm comm;
    int ints;
    long calls;
    int wrong, makes;
};

/* A communicator or a window, of this thread's own communicator. */
static void make_one(const struct user *user, long call)
{
    MPI_Comm comm;
    MPI_Win win;
    void *base;

    if (call / MAKE_EVERY % 2) {
        MPI_Comm_dup(user->comm, &comm);
        MPI_Comm_free(&comm);
    } else {
        MPI_Win_allocate(64, 1, MPI_INFO_NULL, user->comm, &base, &win);
        MPI_Win_free(&win);
    }
}

static void *use(void *data)
{
    struct user *user = data;
    int in[64], out[64];

    for (long call = 0; call < user->calls; call++) {
        for (int i = 0; i < user->ints; i++)
            in[i] = value(call, rank, i);
        if (user->makes)
            MPI_Allreduce(in, out, user->ints, MPI_INT, MPI_MAX, user->comm);
        else
            MPI_Allreduce(in, out, user->ints, MPI_INT, MPI_SUM, user->comm);
        for (int i = 0; i < user->ints; i++) {
            int sum = 0, most = -1;

            for (int r = 0; r < size; r++) {
                int one = value(call, r, i);

                sum += one;
                most = one > most ? one : most;
            }
            user->wrong += out[i] != (user->makes ? most : sum);
        }
        if (call % MAKE_EVERY == 0)
            make_one(user, call);
    }
    return NULL;
}

/* Values of those that are numbers. Returns how many. */
static int read_variables(int *values)
{
    int number;

    MPI_T_cvar_get_num(&number);
    for (int i = 0; i < number && i < VARIABLES; i++) {
        int verbosity, bind, scope, count;
        MPI_T_cvar_handle handle;
        MPI_Datatype type;
        MPI_T_enum names;

        values[i] = 0;
        MPI_T_cvar_get_info(i, NULL, NULL, &verbosity, &type, &names, NULL,
                            NULL, &bind, &scope);
        if (type != MPI_INT ||
            MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) != MPI_SUCCESS)
            continue;
        if (count == 1)
            MPI_T_cvar_read(handle, &values[i]);
        MPI_T_cvar_handle_free(&handle);
    }
    return number < VARIABLES ? number : VARIABLES;
}

static void threads(long calls)
{
    static int before[VARIABLES], after[VARIABLES];
    struct user users[2] = {{.ints = 2, .calls = calls},
                            {.ints = 64, .calls = calls, .makes = 1}};
    pthread_t thread;
    int n, provided;

    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    n = read_variables(before);
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &users[i].comm);
    pthread_create(&thread, NULL, use, &users[0]);
    use(&users[1]);
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++) {
        EXPECT(users[i].wrong == 0);
        MPI_Comm_free(&users[i].comm);
    }
    EXPECT(read_variables(after) == n);
    EXPECT(memcmp(before, after, (size_t) n * sizeof(before[0])) == 0);
    MPI_T_finalize();
}

static const struct {
    const char *name;
    void (*run)(long calls);
} stories[] = {{"scribble", buffers},
               {"barriers", barriers},
               {"isend", isend},
               {"threads", threads}};

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    long calls = argc > 2 ? atol(argv[2]) : 1000;
    int provided, all;

    MPI_Init_thread(&argc, &argv,
                    strcmp(wanted, "threads") ? MPI_THREAD_SINGLE
                                              : MPI_THREAD_MULTIPLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    own.state = 77 + (uint64_t) rank;
    for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
        if (strcmp(stories[i].name, wanted) == 0)
            stories[i].run(calls);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("%s: %ld calls, %d wrong\n", wanted, calls, all);
    return wrong != 0;
}
