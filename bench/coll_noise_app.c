/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: coll_noise_app CALLS
 *
 * The shape of what calls of collectives take, one after the other, on their
 * slowest rank, as rows of the table in common/tune/noise.c. A call is slow if
 * it takes more than 1.5 times the median. Run by tests/ghostrun -g 0:
 *
 *   {"allreduce 8 B", share of slow calls, share of them behind a slow call,
 *    {quantiles of the others}, {quantiles of slow ones}}, over the median */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 65536, QUANTILES = 9 };

static const double quantiles[QUANTILES] = {0.01, 0.05, 0.1,  0.25, 0.5,
                                            0.75, 0.9,  0.95, 0.99};
static const double slow_from = 1.5;

static char in[BYTES], out[BYTES];

static void allreduce(void)
{
    MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(void)
{
    MPI_Bcast(out, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void alltoall(void)
{
    MPI_Alltoall(in, 4096, MPI_BYTE, out, 4096, MPI_BYTE, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*call)(void);
} operations[] = {{"allreduce 8 B", allreduce},
                  {"barrier", barrier},
                  {"bcast 64 KiB", bcast},
                  {"alltoall 4 KiB", alltoall}};
enum { OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

static double now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return 1e6 * (double) ts.tv_sec + 1e-3 * (double) ts.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double one = *(const double *) a, other = *(const double *) b;

    return (one > other) - (one < other);
}

static void put(const double *sorted, int n, double median)
{
    for (int q = 0; q < QUANTILES; q++)
        printf("%s%.3f", q ? ", " : "{",
               n ? sorted[(int) (quantiles[q] * n)] / median : 1);
    printf("}");
}

static void tell(const char *name, const double *us, double *sorted, int n)
{
    double median, limit;
    int fast = 0, again = 0, slow;

    memcpy(sorted, us, (size_t) n * sizeof(*us));
    qsort(sorted, (size_t) n, sizeof(*us), ascending);
    median = sorted[n / 2];
    limit = slow_from * median;
    while (fast < n && sorted[fast] <= limit)
        fast++;
    slow = n - fast;
    for (int i = 1; i < n; i++)
        again += us[i - 1] > limit && us[i] > limit;
    printf("{\"%s\", %.4f, %.3f, ", name, (double) slow / n,
           slow ? (double) again / slow : 0);
    put(sorted, fast, median);
    printf(", ");
    put(sorted + fast, slow, median);
    printf("}, /* median %.2f us */\n", median);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0, rank;
    double *us, *most;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    us = n > 0 ? calloc((size_t) n, sizeof(*us)) : NULL;
    most = n > 0 ? calloc((size_t) n, sizeof(*most)) : NULL;
    if (!us || !most) {
        fprintf(stderr, "usage: coll_noise_app CALLS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    for (int i = 0; i < OPERATIONS; i++) {
        for (int call = 0; call < n; call++) {
            double begun = now_us();

            operations[i].call();
            us[call] = now_us() - begun;
        }
        MPI_Reduce(us, most, n, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            tell(operations[i].name, most, us, n);
    }
    free(us);
    free(most);
    MPI_Finalize();
    return 0;
}
