/* SPDX-License-Identifier: BSD-3-Clause */
/* Does a rank that has posted a non-blocking collective and then computes
 * delay others? Each rank in turn posts an operation and computes, without a
 * call of MPI, until all the others have completed theirs, which it reads in
 * memory that they share; or for a limit, after which it gives up. No clock
 * decides: without help an operation that needs the computing rank cannot end
 * before the limit.
 *
 *   coll_attentive KINDS LIMIT_MS
 *
 * KINDS is "all" or names with commas; "loop" calls MPI_Iallreduce without end,
 * "ahead" posts 128 MB to a root that is late.
 * Prints for each operation and size how
 * often all others were done while a rank computed, and how long the slowest
 * took; ends with 1 where that was not so in all turns. */
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { WARM = 10, INTS_MOST = 4096 };

static int rank, size;
static int *in, *out;
static _Atomic int *done; /* others that have completed, one for each turn */

static int root_of(int computing)
{
    /* Somebody else, so that it is an intermediate rank or a leaf. */
    return (computing + 1) % size;
}

static void post(const char *kind, int n, int root, MPI_Request *request)
{
    if (strcmp(kind, "ibarrier") == 0)
        MPI_Ibarrier(MPI_COMM_WORLD, request);
    else if (strcmp(kind, "ibcast") == 0)
        MPI_Ibcast(rank == root ? in : out, n, MPI_INT, root, MPI_COMM_WORLD,
                   request);
    else if (strcmp(kind, "ireduce") == 0)
        MPI_Ireduce(in, out, n, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD,
                    request);
    else if (strcmp(kind, "iallreduce") == 0)
        MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, request);
    else if (strcmp(kind, "igather") == 0)
        MPI_Igather(in, n, MPI_INT, out, n, MPI_INT, root, MPI_COMM_WORLD,
                    request);
    else if (strcmp(kind, "iscatter") == 0)
        MPI_Iscatter(in, n, MPI_INT, out, n, MPI_INT, root, MPI_COMM_WORLD,
                     request);
    else if (strcmp(kind, "iallgather") == 0)
        MPI_Iallgather(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD,
                       request);
    else if (strcmp(kind, "ialltoall") == 0)
        MPI_Ialltoall(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD, request);
    else
        exit(2);
}

/* Returns whether the result is right. in[i] of rank r is r + i. */
static bool is_right(const char *kind, int n, int root)
{
    int sum = size * (size - 1) / 2;

    for (int i = 0; i < n; i++) {
        if (strcmp(kind, "ibcast") == 0 && rank != root && out[i] != root + i)
            return false;
        if ((strcmp(kind, "iallreduce") == 0 ||
             (strcmp(kind, "ireduce") == 0 && rank == root)) &&
            out[i] != sum + size * i)
            return false;
        if (strcmp(kind, "iscatter") == 0 && out[i] != root + rank * n + i)
            return false;
        for (int r = 0; r < size; r++) {
            if ((strcmp(kind, "iallgather") == 0 ||
                 (strcmp(kind, "igather") == 0 && rank == root)) &&
                out[r * n + i] != r + i)
                return false;
            if (strcmp(kind, "ialltoall") == 0 &&
                out[r * n + i] != r + rank * n + i)
                return false;
        }
    }
    return true;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

/* Computing, which gives the CPU up now and then where ranks share one. */
static bool compute(const _Atomic int *counter, double limit_s)
{
    double end = now() + limit_s;

    while (atomic_load(counter) < size - 1) {
        struct timespec pause = {.tv_nsec = 100000};

        if (now() > end)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* One turn. Returns whether others were done while it computed; their time in
 * *slowest. */
static bool turn(const char *kind, int n, int computing, double limit_s,
                 double *slowest)
{
    _Atomic int *counter = &done[computing];
    MPI_Request request;
    double begun, took;
    int apart = 1, right;

    if (rank == 0)
        atomic_store(counter, 0);
    memset(out, 0xff, sizeof(int) * INTS_MOST * (size_t) size);
    MPI_Barrier(MPI_COMM_WORLD);
    begun = now();
    post(kind, n, root_of(computing), &request);
    if (rank == computing) {
        apart = compute(counter, limit_s);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        took = 0;
    } else {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        took = now() - begun;
        atomic_fetch_add(counter, 1);
    }
    right = is_right(kind, n, root_of(computing));
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!right) {
        if (rank == 0)
            fprintf(stderr, "%s of %d ints: wrong\n", kind, n);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Allreduce(MPI_IN_PLACE, &apart, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Reduce(rank ? &took : MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, 0,
               MPI_COMM_WORLD);
    if (rank == 0 && took > *slowest)
        *slowest = took;
    return apart;
}

/* Ibarriers and barriers, so that whoever counts calls has seen some. */
static void warm_up(void)
{
    for (int i = 0; i < WARM; i++) {
        MPI_Request request;

        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Memory of this machine, pretended nodes included. */
static void share_counters(void)
{
    size_t bytes = sizeof(*done) * (size_t) size;
    char name[] = "/tmp/coll_attentive.XXXXXX";
    int fd = -1;

    if (rank == 0) {
        fd = mkstemp(name);
        if (fd < 0 || ftruncate(fd, (off_t) bytes) != 0)
            MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank != 0)
        fd = open(name, O_RDWR);
    done = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (done == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 2);
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(name);
}

/* All turns of an operation. Returns in how many the others were done. */
static int try_all(const char *kind, int n, double limit_s)
{
    double slowest = 0;
    int apart = 0;

    for (int computing = 0; computing < size; computing++)
        apart += turn(kind, n, computing, limit_s, &slowest);
    if (rank == 0)
        printf("%s of %d ints: apart %d of %d, slowest %.1f ms\n", kind, n,
               apart, size, 1e3 * slowest);
    return apart;
}

/* More than any memory of the library's holds at once, to a root that comes
 * late, and ranks that are done with it at different times. */
static void run_ahead(void)
{
    enum { CALLS = 8000 };

    for (int call = 0; call < CALLS; call++) {
        MPI_Request request;

        if (rank == 0 && call == 0)
            usleep(300000);
        MPI_Ireduce(in, out, INTS_MOST, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD,
                    &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        puts("ran ahead");
}

/* For whoever wants to disturb it. */
static void loop_for_ever(void)
{
    if (rank == 0) {
        puts("looping");
        fflush(stdout);
    }
    for (;;) {
        MPI_Request request;

        MPI_Iallreduce(in, out, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                       &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"ibarrier",   "ibcast",   "ireduce",
                                        "iallreduce", "igather",  "iscatter",
                                        "iallgather", "ialltoall"};
    static const int sizes[] = {1, 1000};
    double limit_s = argc > 2 ? atof(argv[2]) / 1e3 : 200e-3;
    int missing = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    in = malloc(sizeof(int) * INTS_MOST * (size_t) size);
    out = malloc(sizeof(int) * INTS_MOST * (size_t) size);
    for (int i = 0; i < INTS_MOST * size; i++)
        in[i] = rank + i;
    share_counters();
    warm_up();
    if (argc > 1 && strcmp(argv[1], "loop") == 0)
        loop_for_ever();
    if (argc > 1 && strcmp(argv[1], "ahead") == 0) {
        run_ahead();
        MPI_Finalize();
        return 0;
    }
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
            if ((strcmp(argv[1], "all") == 0 || strstr(argv[1], kinds[k])) &&
                (s == 0 || strcmp(kinds[k], "ibarrier") != 0))
                missing += size - try_all(kinds[k], sizes[s], limit_s);
    if (rank == 0)
        printf(missing ? "%d turns were not apart\n" : "all apart\n", missing);
    MPI_Finalize();
    return missing != 0;
}
