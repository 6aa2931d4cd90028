/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of a communication is over when the program comes back to it. */
#include "bench.h"

#include <math.h>

enum { WARM_UP = 3, LENGTHS_MOST = 12 };

#define GROWTH      1.5 /* of the work, from one length to the next */
#define LENGTH_FROM 0.5
#define LENGTH_TO                                                              \
    3.0 /* of the communication: the overlap is what it can be                 \
         */

/* Times of a step, each the greatest over the ranks. */
enum { TOTAL, WAITED, TIMES };
struct times {
    double of[TIMES][SAMPLES_MOST];
};

/* Post, stay away, wait. Time outside MPI does not count in the total. */
static void step(struct bench *bench, int i, double away_s, struct times *out)
{
    MPI_Request requests[2];
    double begin, seconds, away = 0, wait;
    int n;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = now();
    n = post(bench, i, requests, &seconds);
    if (away_s > 0)
        away = compute(bench, away_s);
    wait = now();
    wait_all(n, requests);
    out->of[WAITED][i] = now() - wait;
    out->of[TOTAL][i] = now() - begin - away;
    check_posted(bench, i, i == 0);
}

/* The medians of both times over n steps; all ranks get them. */
static void medians(struct bench *bench, int n, double away_s,
                    double found[TIMES])
{
    static struct times mine, all;

    for (int i = 0; i < n; i++)
        step(bench, i, away_s, &mine);
    for (int k = 0; k < TIMES; k++) {
        MPI_Allreduce(mine.of[k], all.of[k], n, MPI_DOUBLE, MPI_MAX,
                      MPI_COMM_WORLD);
        found[k] = median(all.of[k], n);
    }
}

/* In percent; nothing is the least there can be (the scheduler makes less). */
static double share(double part, double whole)
{
    return part > 0 ? 100 * part / whole : 0;
}

/* The paper's figure: the wait before minus the wait after a delay, as a part
 * of the time of the communication. */
void overlap_run(struct bench *bench, struct samples *samples)
{
    double plain[TIMES], after[TIMES], away_s;

    medians(bench, WARM_UP, 0, plain);
    medians(bench, plan(bench, plain[TOTAL]), 0, plain);
    away_s = fmax(bench->opt.delay_us * 1e-6, plain[TOTAL]);
    medians(bench, plan(bench, away_s + plain[TOTAL]), away_s, after);
    switch ((enum overlap_value) bench->opt.value) {
    case OVERLAP:
        add(samples, share(plain[WAITED] - after[WAITED], plain[TOTAL]));
        break;
    case COMMUNICATION:
        add(samples, plain[TOTAL] * 1e6);
        break;
    case WAIT:
        add(samples, plain[WAITED] * 1e6);
        break;
    case WAIT_AFTER:
        add(samples, after[WAITED] * 1e6);
        break;
    case HIDDEN:
        add(samples, share(plain[WAITED] - after[WAITED], plain[WAITED]));
        break;
    }
}

/* Sandia's post-work-wait: one message, the measured side works between, the
 * other only waits. Returns what the iteration takes beyond the work. */
static double one_way(struct bench *bench, int i, double work_s)
{
    bool sender = bench->rank == 0, mine = sender != bench->opt.receiver;
    MPI_Request request;
    double begin, worked = 0;

    mark(bench, 1, i);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = now();
    if (sender)
        MPI_Isend(bench->out, bench->opt.bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD,
                  &request);
    else
        MPI_Irecv(bench->in, bench->opt.bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                  &request);
    if (work_s > 0)
        worked = compute(bench, mine ? work_s : work_s / 2);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    begin = now() - begin - worked;
    if (!sender)
        check(bench, bench->in, 0, 0, i, i == 0);
    return begin;
}

static double overhead(struct bench *bench, int n, double work_s)
{
    static double times[SAMPLES_MOST];
    double found;

    for (int i = 0; i < n; i++)
        times[i] = one_way(bench, i, work_s);
    found = median(times, n);
    MPI_Bcast(&found, 1, MPI_DOUBLE, bench->opt.receiver ? 1 : 0,
              MPI_COMM_WORLD);
    return found;
}

/* availability = 1 - (iter - work) / base, with work that grows until it
 * covers the communication. */
void availability_run(struct bench *bench, struct samples *samples)
{
    double base, extra = 0, work_s, from;

    if (bench->size < 2)
        MPI_Abort(MPI_COMM_WORLD, 3);
    base = overhead(bench, WARM_UP, 0);
    base = overhead(bench, plan(bench, base), 0);
    from = fmax(LENGTH_FROM * base, bench->opt.delay_us * 1e-6);
    for (work_s = from; work_s < LENGTH_TO * from / LENGTH_FROM;
         work_s *= GROWTH)
        extra = overhead(bench, plan(bench, LENGTHS_MOST * work_s), work_s);
    add(samples, share(base - extra, base));
}
