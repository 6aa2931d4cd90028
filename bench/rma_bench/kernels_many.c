/* SPDX-License-Identifier: BSD-3-Clause */
/* Everyone to everyone, evenly or with each node's first rank in demand; and
 * what operations do to a target that computes. */
#include "bench.h"

#include <time.h>

static void issue_to(struct bench *bench, int target, enum op op, int n,
                     int bytes)
{
    for (int i = 0; i < n; i++)
        issue(bench, op, target, i, bytes);
}

/* One round to all peers, beginning behind this rank. `hot` and `other` are
 * numbers of operations. */
static void issue_round(struct bench *bench, enum op op, int hot, int other)
{
    for (int i = 1; i < bench->size; i++) {
        int target = (bench->rank + i) % bench->size;

        if (bench->locals[target] == 0 && hot > 0)
            issue_to(bench, target, op, hot, bench->opt.hot_bytes);
        else
            issue_to(bench, target, op, other, bench->opt.bytes);
    }
}

double all_step(struct bench *bench)
{
    const struct options *o = &bench->opt;
    bool counted = o->hot_acc || o->hot_put || o->acc || o->put;
    double begin;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    MPI_Win_lock_all(0, bench->win);
    if (counted) {
        issue_round(bench, OP_ACC, o->hot_acc, o->acc);
        issue_round(bench, OP_PUT, o->hot_put, o->put);
    } else {
        issue_round(bench, (enum op) o->op, 0, o->first);
        compute(o->delay_us);
        issue_round(bench, (enum op) o->op, 0, o->n);
    }
    MPI_Win_unlock_all(bench->win);
    return MPI_Wtime() - begin;
}

/* Multiply two small matrices some times: 20 ms on a processor of 2 GHz. */
static double multiply(void)
{
    enum { N = 96, TIMES = 120 };
    static double a[N][N], b[N][N], c[N][N];

    for (int t = 0; t < TIMES; t++)
        for (int i = 0; i < N; i++)
            for (int k = 0; k < N; k++)
                for (int j = 0; j < N; j++)
                    c[i][j] += (a[i][k] + t) * b[k][j];
    return c[N / 2][N / 2];
}

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

double slowdown_step(struct bench *bench)
{
    double took = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    if (bench->rank == bench->target) {
        double wall = MPI_Wtime(), cpu = cpu_seconds();

        if (multiply() < 0) /* never, but the compiler cannot know */
            MPI_Abort(MPI_COMM_WORLD, 1);
        took = bench->opt.cpu ? cpu_seconds() - cpu : MPI_Wtime() - wall;
    } else if (bench->rank == 0) {
        lockall_step(bench);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return took;
}
