/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: adapt_app [--ms N] KERNEL[,KEY=VALUE...] ...
 *
 *   --ms N   about how long to repeat what is timed (100 ms)
 *
 * Prints a line for each kernel, or several: its text (and #PART), unit,
 * median, least, greatest and number of steps, tabs between. Ends itself when
 * it takes too long. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { LIMIT_S = 240 };

void emit(const struct bench *bench, const char *part, const char *unit,
          const double value[3], int count)
{
    if (bench->rank != 0)
        return;
    printf("%s%s%s\t%s\t%.3f\t%.3f\t%.3f\t%d\n", bench->spec, *part ? "#" : "",
           part, unit, value[0], value[1], value[2], count);
    fflush(stdout);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

void emit_samples(const struct bench *bench, const char *part, const char *unit,
                  double *samples, int count)
{
    qsort(samples, (size_t) count, sizeof(*samples), compare);
    emit(bench, part, unit,
         (const double[3]){samples[count / 2], samples[0], samples[count - 1]},
         count);
}

int main(int argc, char **argv)
{
    struct bench bench = {.run_ms = 100};
    int first = 1;

    if (argc > 2 && strcmp(argv[1], "--ms") == 0) {
        bench.run_ms = atof(argv[2]);
        first = 3;
    }
    alarm(LIMIT_S);
    prctl(PR_SET_TIMERSLACK, 1); /* sleeps as long as they say */
    MPI_Init(&argc, &argv);
    bench.begin_s = MPI_Wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.size);
    for (int i = first; i < argc; i++) {
        const struct kernel *kernel = options_read(argv[i], &bench.opt);

        bench.spec = argv[i];
        kernel->run(&bench);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
