/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls MPI functions that cost little themselves, many times each, and prints
 * nanoseconds per call, the median and the least. bench/wrapper_cost and
 * bench/profile_cost run it in several ways and under callgrind, which sees
 * each function below as one line of its profile. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MEASURE(name, call)                                                    \
    void measure_##name(long loops);                                           \
    __attribute__((noinline)) void measure_##name(long loops)                  \
    {                                                                          \
        for (long i = 0; i < loops; i++)                                       \
            call;                                                              \
    }

static int sink;
static double sink_time;
static MPI_Status status;

/* A communicator (world), its PMPI twin, none (pass), not an int (pass), and
 * twelve arguments of which six are on the stack (world). */
MEASURE(MPI_Comm_rank, MPI_Comm_rank(MPI_COMM_WORLD, &sink))
MEASURE(PMPI_Comm_rank, PMPI_Comm_rank(MPI_COMM_WORLD, &sink))
MEASURE(MPI_Type_size, MPI_Type_size(MPI_INT, &sink))
MEASURE(MPI_Wtime, sink_time += MPI_Wtime())
MEASURE(MPI_Sendrecv,
        MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, NULL, 0, MPI_INT,
                     MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status))

static double now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double) ts.tv_sec * 1e9 + (double) ts.tv_nsec;
}

/* Messages of 8 bytes: to this rank itself, or from rank 0 to rank 1. */
enum { WINDOW = 64, STEP_NS = 100000 };
static int rank, flag, at;
static char out[8], in[WINDOW][8];
static MPI_Request requests[2 * WINDOW], none = MPI_REQUEST_NULL;
static MPI_Status statuses[2 * WINDOW];

static void receive_window(int from, MPI_Comm comm)
{
    for (int i = 0; i < WINDOW; i++)
        MPI_Irecv(in[i], sizeof(in[i]), MPI_BYTE, from, 1, comm, &requests[i]);
}

static void send_window(int to, MPI_Comm comm, MPI_Request *request)
{
    for (int i = 0; i < WINDOW; i++)
        MPI_Isend(out, sizeof(out), MPI_BYTE, to, 1, comm, &request[i]);
}

static void window_to_self(void)
{
    receive_window(0, MPI_COMM_SELF);
    send_window(0, MPI_COMM_SELF, requests + WINDOW);
    MPI_Waitall(2 * WINDOW, requests, statuses);
}

static void message_to_self(void)
{
    MPI_Irecv(in[0], sizeof(in[0]), MPI_BYTE, 0, 1, MPI_COMM_SELF, requests);
    MPI_Send(out, sizeof(out), MPI_BYTE, 0, 1, MPI_COMM_SELF);
    MPI_Wait(requests, &status);
}

static void window_to_other(void)
{
    if (rank == 0)
        send_window(1, MPI_COMM_WORLD, requests);
    else
        receive_window(0, MPI_COMM_WORLD);
    MPI_Waitall(WINDOW, requests, statuses);
    /* the receiver keeps the sender from running away */
    if (rank == 0)
        MPI_Recv(in[0], 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &status);
    else
        MPI_Send(out, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
}

static void there_and_back(void)
{
    int other = !rank;

    if (rank == 0)
        MPI_Send(out, sizeof(out), MPI_BYTE, other, 1, MPI_COMM_WORLD);
    MPI_Recv(in[0], sizeof(in[0]), MPI_BYTE, other, 1, MPI_COMM_WORLD, &status);
    if (rank == 1)
        MPI_Send(out, sizeof(out), MPI_BYTE, other, 1, MPI_COMM_WORLD);
}

static void step(void)
{
    double begin = now_ns();

    while (now_ns() - begin < STEP_NS)
        ;
    for (int i = 0; i < 8; i++)
        message_to_self();
}

MEASURE(rate_self, window_to_self())
MEASURE(send_self, message_to_self())
MEASURE(MPI_Iprobe, MPI_Iprobe(0, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE))
MEASURE(MPI_Pack,
        (at = 0, MPI_Pack(out, 8, MPI_BYTE, in, 8, &at, MPI_COMM_SELF)))
MEASURE(MPI_Wait, MPI_Wait(&none, &status))
MEASURE(step, step())
MEASURE(rate_pair, window_to_other())
MEASURE(ping_pair, there_and_back())

static const struct {
    const char *group, *name;
    void (*run)(long loops);
    int messages; /* of one loop */
} measures[] = {
    {"wrapper", "MPI_Comm_rank", measure_MPI_Comm_rank, 1},
    {"wrapper", "PMPI_Comm_rank", measure_PMPI_Comm_rank, 1},
    {"wrapper", "MPI_Type_size", measure_MPI_Type_size, 1},
    {"wrapper", "MPI_Wtime", measure_MPI_Wtime, 1},
    {"wrapper", "MPI_Sendrecv", measure_MPI_Sendrecv, 1},
    {"self", "rate_self", measure_rate_self, WINDOW},
    {"self", "send_self", measure_send_self, 1},
    {"self", "MPI_Iprobe", measure_MPI_Iprobe, 1},
    {"self", "MPI_Pack", measure_MPI_Pack, 1},
    {"self", "MPI_Wait", measure_MPI_Wait, 1},
    {"step", "step", measure_step, 1},
    {"pair", "rate_pair", measure_rate_pair, WINDOW},
    {"pair", "ping_pair", measure_ping_pair, 2},
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* usage: wrapper_cost_app LOOPS REPEATS [GROUP|NAME] */
int main(int argc, char **argv)
{
    long loops = argc > 1 ? atol(argv[1]) : 1000000;
    int repeats = argc > 2 ? atoi(argv[2]) : 11;
    const char *group = argc > 3 ? argv[3] : "wrapper";
    double ns[101];

    if (loops < 1 || repeats < 1 || repeats > 101)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t m = 0; m < sizeof(measures) / sizeof(measures[0]); m++) {
        long n = (loops + measures[m].messages - 1) / measures[m].messages;

        if (strcmp(measures[m].group, group) != 0 &&
            strcmp(measures[m].name, group) != 0)
            continue;
        for (int r = 0; r < repeats; r++) {
            double begin = now_ns();

            measures[m].run(n);
            ns[r] = (now_ns() - begin) / (double) (n * measures[m].messages);
        }
        qsort(ns, (size_t) repeats, sizeof(ns[0]), compare);
        if (rank == 0)
            printf("%s %.2f %.2f\n", measures[m].name, ns[repeats / 2], ns[0]);
    }
    MPI_Finalize();
    return 0;
}
