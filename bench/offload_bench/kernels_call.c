/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call costs its caller, and a pause the helper. */
#include "bench.h"

#include <math.h>
#include <time.h>

enum {
    WARM_UP = 20,
    SENDRECVS = 10,
    CALLS = 100,
    CALL_WARM_UP = 3,
    IDLE_AFTER_MS = 100
};

/* One step of `post`: its whole duration. */
static double post_step(struct bench *bench, int step, bool last,
                        double *seconds_p)
{
    MPI_Request requests[2];
    double begin = now();
    int n = post(bench, step, requests, seconds_p);

    wait_all(n, requests);
    begin = now() - begin;
    check_posted(bench, step, last);
    return begin;
}

/* The time of the call that opt.op names. */
void post_run(struct bench *bench, struct samples *samples)
{
    double seconds, least = 1;
    int n;

    for (int i = 0; i < WARM_UP; i++)
        least = fmin(least, post_step(bench, i, false, &seconds));
    n = plan(bench, least);
    for (int i = 0; i < n; i++) {
        post_step(bench, i, i == n - 1, &seconds);
        add(samples, seconds);
    }
}

static double sendrecv(struct bench *bench, int step, int times, bool last)
{
    double begin;

    mark(bench, 1, step);
    begin = now();
    for (int i = 0; i < times; i++)
        MPI_Sendrecv(bench->out, bench->opt.bytes, MPI_BYTE, bench->peer, 0,
                     bench->in, bench->opt.bytes, MPI_BYTE, bench->peer, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    begin = (now() - begin) / times;
    check(bench, bench->in, bench->peer, 0, step, last);
    return begin;
}

void sendrecv_run(struct bench *bench, struct samples *samples)
{
    double least = 1;
    int n;

    for (int i = 0; i < WARM_UP; i++)
        least = fmin(least, SENDRECVS * sendrecv(bench, i, SENDRECVS, false));
    n = plan(bench, least);
    for (int i = 0; i < n; i++)
        add(samples, sendrecv(bench, i, SENDRECVS, i == n - 1));
}

/* MPI_Comm_compare of a communicator with itself: no call that has to go where
 * MPI is does less. With delay_us: the first one after so long a pause. */
static double calls(const struct bench *bench, int times)
{
    double begin;
    int result = MPI_UNEQUAL;

    if (bench->opt.delay_us)
        compute(bench, bench->opt.delay_us * 1e-6);
    begin = now();
    for (int i = 0; i < times; i++)
        MPI_Comm_compare(MPI_COMM_SELF, MPI_COMM_SELF, &result);
    begin = (now() - begin - clock_cost()) / times;
    if (result != MPI_IDENT)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return begin;
}

void call_run(struct bench *bench, struct samples *samples)
{
    int times = bench->opt.delay_us ? 1 : CALLS;
    double least = 1;
    int n;

    for (int i = 0; i < CALL_WARM_UP; i++)
        least = fmin(least, times * calls(bench, times));
    n = plan(bench, bench->opt.delay_us * 1e-6 + least);
    for (int i = 0; i < n; i++)
        add(samples, calls(bench, times));
}

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

/* Percent of a CPU that the process takes while its only thread sleeps. */
void idle_run(struct bench *bench, struct samples *samples)
{
    double begin, cpu;

    sendrecv(bench, 0, SENDRECVS, true);
    compute(bench, IDLE_AFTER_MS * 1e-3);
    cpu = cpu_seconds();
    begin = now();
    compute(bench, 10 * bench->ms * 1e-3);
    add(samples, 100 * (cpu_seconds() - cpu) / (now() - begin));
}
