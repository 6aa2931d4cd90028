/* SPDX-License-Identifier: BSD-3-Clause */
/* Many messages: from several threads, in windows, to and fro. */
#include "bench.h"
#include "bench/buffer.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    WARM_UP = 20, /* exchanges */
    WARM_UPS = 5, /* steps, to see how many fit */
    PING_PONGS = 10,
    THREADS_MOST = 64,
    REPEATS = 15,
    EXCHANGES_MOST = 1 << 22,
    TAG_ACK = 1,
};

#define RUN_S 5e-3 /* more than a time slice */

static struct {
    struct bench *bench;
    pthread_barrier_t start;
    int steps;
    double seconds[THREADS_MOST]; /* of a step, by thread */
} crowd;

/* Isend, Irecv, Waitall on a tag of its own. */
static void *exchange(void *number)
{
    struct bench *bench = crowd.bench;
    int tag = (int) (intptr_t) number, bytes = bench->opt.bytes;
    int64_t *in = buffer_pages((size_t) bytes);
    int64_t *out = buffer_pages((size_t) bytes);
    double begin;

    memcpy(out, bench->out, (size_t) bytes);
    pthread_barrier_wait(&crowd.start);
    begin = now();
    for (int i = 0; i < crowd.steps; i++) {
        MPI_Request requests[2];
        int64_t sent = (int64_t) tag << 32 | i;

        out[0] = sent;
        MPI_Isend(out, bytes, MPI_BYTE, bench->peer, tag, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Irecv(in, bytes, MPI_BYTE, bench->peer, tag, MPI_COMM_WORLD,
                  &requests[1]);
        wait_all(2, requests);
        if (in[0] != sent)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    crowd.seconds[tag] = (now() - begin) / crowd.steps;
    free(in);
    free(out);
    return NULL;
}

/* Time of a thread's step, the mean over the threads. */
static double run_crowd(struct bench *bench, int steps)
{
    pthread_t threads[THREADS_MOST];
    int n = bench->opt.threads;
    double sum = 0;

    crowd.bench = bench;
    crowd.steps = steps;
    pthread_barrier_init(&crowd.start, NULL, (unsigned) n);
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, exchange, (void *) (intptr_t) i);
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        sum += crowd.seconds[i];
    }
    pthread_barrier_destroy(&crowd.start);
    return sum / n;
}

/* Each run is long against a time slice; else the threads run one after the
 * other and do not meet. */
void threads_run(struct bench *bench, struct samples *samples)
{
    int n = WARM_UP, enough = 0;

    if (bench->opt.threads < 1 || bench->opt.threads > THREADS_MOST)
        MPI_Abort(MPI_COMM_WORLD, 3);
    while (!enough && n < EXCHANGES_MOST) {
        n *= 2;
        enough = run_crowd(bench, n) * n >= RUN_S;
        MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < REPEATS; i++)
        add(samples, run_crowd(bench, n));
}

/* A window of messages, and a word back when they go to another rank. */
static double window(struct bench *bench, int step, bool last)
{
    MPI_Request requests[2 * WINDOW_MOST];
    int w = bench->opt.window, bytes = bench->opt.bytes, n = 0;
    bool self = bench->peer == bench->rank;
    bool sends = self || bench->rank == 0, receives = self || !sends;
    double begin;

    mark(bench, w, step);
    begin = now();
    for (int i = 0; i < w && receives; i++)
        MPI_Irecv((char *) bench->in + (size_t) i * (size_t) bytes, bytes,
                  MPI_BYTE, bench->peer, 0, MPI_COMM_WORLD, &requests[n++]);
    for (int i = 0; i < w && sends; i++)
        MPI_Isend((char *) bench->out + (size_t) i * (size_t) bytes, bytes,
                  MPI_BYTE, bench->peer, 0, MPI_COMM_WORLD, &requests[n++]);
    wait_all(n, requests);
    if (!self && sends)
        MPI_Recv(NULL, 0, MPI_BYTE, bench->peer, TAG_ACK, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    else if (!self)
        MPI_Send(NULL, 0, MPI_BYTE, bench->peer, TAG_ACK, MPI_COMM_WORLD);
    begin = now() - begin;
    for (int i = 0; i < w && receives; i++)
        check(bench, bench->in + (size_t) i * (size_t) bytes / 8, bench->peer,
              i, step, last);
    return begin;
}

void bandwidth_run(struct bench *bench, struct samples *samples)
{
    double bytes = (double) bench->opt.window * bench->opt.bytes, least = 1;
    int n;

    if (bench->opt.window > WINDOW_MOST)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; i < WARM_UPS; i++)
        least = fmin(least, window(bench, i, false));
    n = plan(bench, least);
    for (int i = 0; i < n; i++)
        add(samples, bytes / window(bench, i, i == n - 1) / 1e6);
}

/* One way of a ping-pong; op=irecv: by Isend, Irecv and Wait. */
static void send(struct bench *bench)
{
    MPI_Request request;

    if (bench->opt.op != OP_IRECV) {
        MPI_Send(bench->out, bench->opt.bytes, MPI_BYTE, bench->peer, 0,
                 MPI_COMM_WORLD);
        return;
    }
    MPI_Isend(bench->out, bench->opt.bytes, MPI_BYTE, bench->peer, 0,
              MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void receive(struct bench *bench)
{
    MPI_Request request;

    if (bench->opt.op != OP_IRECV) {
        MPI_Recv(bench->in, bench->opt.bytes, MPI_BYTE, bench->peer, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Irecv(bench->in, bench->opt.bytes, MPI_BYTE, bench->peer, 0,
              MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static double ping_pong(struct bench *bench, int step, bool last)
{
    double begin;

    mark(bench, 1, step);
    begin = now();
    for (int i = 0; i < PING_PONGS; i++) {
        if (bench->rank == 0)
            send(bench);
        receive(bench);
        if (bench->rank != 0)
            send(bench);
    }
    begin = (now() - begin) / PING_PONGS / 2;
    check(bench, bench->in, bench->peer, 0, step, last);
    return begin;
}

void latency_run(struct bench *bench, struct samples *samples)
{
    double least = 1;
    int n;

    if (bench->size != 2)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; i < WARM_UPS; i++)
        least = fmin(least, 2 * PING_PONGS * ping_pong(bench, i, false));
    n = plan(bench, least);
    for (int i = 0; i < n; i++)
        add(samples, ping_pong(bench, i, i == n - 1));
}
