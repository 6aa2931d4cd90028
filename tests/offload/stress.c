/* SPDX-License-Identifier: BSD-3-Clause */
/* Many threads in MPI at once, each on a communicator of its own, doing at
 * random what programs do: blocking, non-blocking and persistent messages,
 * probes, collectives, cancelled receives. Every byte received is checked.
 * Knows nothing of Aspen.
 *
 * usage: offload_stress THREADS SECONDS [SEED] */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 16, BYTES_MAX = 300000, BURST = 12, STEPS = 32 };

struct worker {
    pthread_t thread;
    int id, rank, size;
    MPI_Comm comm;
    uint64_t random; /* the same sequence in all ranks */
    uint64_t steps, bytes;
    uint64_t wrong;
    unsigned char *in, *out;
};

static double seconds;

static uint32_t draw(struct worker *w, uint32_t below)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (w->random >> 33) % below;
}

static int draw_bytes(struct worker *w)
{
    static const int sizes[] = {0, 1, 8, 300, 4096, 20000, 70000, BYTES_MAX};

    return sizes[draw(w, 8)];
}

/* What rank `from` sends in this step under `tag`. */
static unsigned char pattern(const struct worker *w, int from, int tag, int i)
{
    return (unsigned char) (w->id * 41 + from * 13 + tag * 7 + i * 3 +
                            (int) w->steps);
}

static void fill(const struct worker *w, unsigned char *buf, int tag, int n)
{
    for (int i = 0; i < n; i++)
        buf[i] = pattern(w, w->rank, tag, i);
}

static void check(struct worker *w, const unsigned char *buf, int from, int tag,
                  int n)
{
    for (int i = 0; i < n; i++)
        w->wrong += buf[i] != pattern(w, from, tag, i);
    w->bytes += (uint64_t) n;
}

static void check_status(struct worker *w, const MPI_Status *status, int from,
                         int tag, int n)
{
    int got;

    MPI_Get_count(status, MPI_BYTE, &got);
    w->wrong += status->MPI_SOURCE != from || status->MPI_TAG != tag ||
                got != n;
}

static int left(const struct worker *w)
{
    return (w->rank + w->size - 1) % w->size;
}

static int right(const struct worker *w)
{
    return (w->rank + 1) % w->size;
}

static void exchange(struct worker *w)
{
    int n = draw_bytes(w), tag = (int) draw(w, 100);
    MPI_Status status;

    fill(w, w->out, tag, n);
    MPI_Sendrecv(w->out, n, MPI_BYTE, right(w), tag, w->in, BYTES_MAX, MPI_BYTE,
                 left(w), tag, w->comm, &status);
    check_status(w, &status, left(w), tag, n);
    check(w, w->in, left(w), tag, n);
}

/* Complete `count` requests in one of the ways that MPI has. */
static void complete(struct worker *w, MPI_Request *requests, int count)
{
    int variant = (int) draw(w, 6), done = 0, n, flag, which[2 * BURST];
    MPI_Status statuses[2 * BURST];

    if (variant == 0) {
        MPI_Waitall(count, requests, statuses);
    } else if (variant == 1) {
        for (int i = count; i-- > 0;)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    } else if (variant == 2) {
        while (done++ < count)
            MPI_Waitany(count, requests, &n, MPI_STATUS_IGNORE);
    } else if (variant == 3) {
        for (; done < count; done += n)
            MPI_Waitsome(count, requests, &n, which, statuses);
    } else if (variant == 4) {
        do
            MPI_Testall(count, requests, &flag, statuses);
        while (!flag);
    } else {
        for (; done < count; done += flag && n != MPI_UNDEFINED)
            MPI_Testany(count, requests, &n, &flag, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < count; i++)
        w->wrong += requests[i] != MPI_REQUEST_NULL;
}

static void burst(struct worker *w)
{
    MPI_Request requests[2 * BURST];
    int count = 1 + (int) draw(w, BURST), n = draw_bytes(w) / BURST;

    for (int i = 0; i < count; i++) {
        fill(w, w->out + i * n, i, n);
        MPI_Irecv(w->in + i * n, n, MPI_BYTE, left(w), i, w->comm,
                  &requests[i]);
    }
    for (int i = 0; i < count; i++)
        (i % 3 == 2 ? MPI_Issend : MPI_Isend)(w->out + i * n, n, MPI_BYTE,
                                              right(w), i, w->comm,
                                              &requests[count + i]);
    complete(w, requests, 2 * count);
    for (int i = 0; i < count; i++)
        check(w, w->in + i * n, left(w), i, n);
}

static void persistent(struct worker *w)
{
    MPI_Request requests[2];
    int n = draw_bytes(w), tag = (int) draw(w, 100);
    int rounds = 1 + (int) draw(w, 4);

    MPI_Recv_init(w->in, n, MPI_BYTE, left(w), tag, w->comm, &requests[0]);
    MPI_Send_init(w->out, n, MPI_BYTE, right(w), tag, w->comm, &requests[1]);
    while (rounds-- > 0) {
        MPI_Status statuses[2];

        fill(w, w->out, tag, n);
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        check_status(w, &statuses[0], left(w), tag, n);
        check(w, w->in, left(w), tag, n);
        w->steps++;
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void probe(struct worker *w)
{
    int n = draw_bytes(w), tag = (int) draw(w, 100), matched = (int) draw(w, 2);
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;

    fill(w, w->out, tag, n);
    MPI_Isend(w->out, n, MPI_BYTE, right(w), tag, w->comm, &request);
    if (matched) {
        MPI_Mprobe(MPI_ANY_SOURCE, tag, w->comm, &message, &status);
        check_status(w, &status, left(w), tag, n);
        MPI_Mrecv(w->in, n, MPI_BYTE, &message, &status);
        w->wrong += message != MPI_MESSAGE_NULL;
    } else {
        MPI_Probe(left(w), MPI_ANY_TAG, w->comm, &status);
        check_status(w, &status, left(w), tag, n);
        MPI_Recv(w->in, n, MPI_BYTE, left(w), tag, w->comm, &status);
    }
    check_status(w, &status, left(w), tag, n);
    check(w, w->in, left(w), tag, n);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void bcast(struct worker *w)
{
    int n = draw_bytes(w), root = (int) draw(w, (uint32_t) w->size);
    int later = (int) draw(w, 2);

    memset(w->in, 0, (size_t) n);
    if (w->rank == root)
        fill(w, w->in, 1, n);
    if (later) {
        MPI_Request request;

        MPI_Ibcast(w->in, n, MPI_BYTE, root, w->comm, &request);
        complete(w, &request, 1);
    } else {
        MPI_Bcast(w->in, n, MPI_BYTE, root, w->comm);
    }
    check(w, w->in, root, 1, n);
}

static void allreduce(struct worker *w)
{
    long mine = w->rank + (long) w->steps, sum = -1;
    MPI_Request request;

    if (draw(w, 2)) {
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, w->comm);
    } else {
        MPI_Iallreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, w->comm, &request);
        MPI_Barrier(w->comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    w->wrong += sum != w->size * (w->size - 1) / 2 + w->size * (long) w->steps;
}

static void duplicate(struct worker *w)
{
    MPI_Comm comm;
    int result = -1;

    MPI_Comm_dup(w->comm, &comm);
    MPI_Comm_compare(w->comm, comm, &result);
    w->wrong += result != MPI_CONGRUENT;
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
}

static void cancel(struct worker *w)
{
    MPI_Request request;
    MPI_Status status;
    int cancelled = 0;

    MPI_Irecv(w->in, 8, MPI_BYTE, left(w), 1000, w->comm, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    w->wrong += !cancelled;
}

static void *work(void *argument)
{
    static void (*const kinds[])(struct worker *) = {
        exchange, exchange, burst,     burst,     persistent,
        probe,    bcast,    allreduce, duplicate, cancel};
    struct worker *w = argument;
    double start = MPI_Wtime();
    int go = 1;

    while (go) {
        for (int i = 0; i < STEPS; i++) {
            kinds[draw(w, sizeof(kinds) / sizeof(kinds[0]))](w);
            w->steps++;
        }
        go = MPI_Wtime() - start < seconds;
        MPI_Bcast(&go, 1, MPI_INT, 0, w->comm);
    }
    return NULL;
}

static void start(struct worker *w, int id, uint64_t seed)
{
    *w = (struct worker){.id = id,
                         .random = seed * 977 + (uint64_t) id,
                         .in = malloc(BYTES_MAX),
                         .out = malloc(BYTES_MAX)};
    MPI_Comm_dup(MPI_COMM_WORLD, &w->comm);
    MPI_Comm_rank(w->comm, &w->rank);
    MPI_Comm_size(w->comm, &w->size);
    if (!w->in || !w->out)
        MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS_MAX];
    int threads = argc > 1 ? atoi(argv[1]) : 0, provided, rank;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    uint64_t sums[3] = {0}, totals[3];

    seconds = argc > 2 ? atof(argv[2]) : 1;
    if (threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: offload_stress THREADS SECONDS [SEED]\n");
        return 2;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < threads; i++)
        start(&workers[i], i, seed);
    for (int i = 0; i < threads; i++)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        sums[0] += workers[i].steps;
        sums[1] += workers[i].bytes;
        sums[2] += workers[i].wrong;
        MPI_Comm_free(&workers[i].comm);
        free(workers[i].in);
        free(workers[i].out);
    }
    MPI_Reduce(sums, totals, 3, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%llu steps, %llu bytes, %llu wrong\n",
               (unsigned long long) totals[0], (unsigned long long) totals[1],
               (unsigned long long) totals[2]);
    MPI_Finalize();
    return 0;
}
