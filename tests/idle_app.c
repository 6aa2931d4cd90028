/* SPDX-License-Identifier: BSD-3-Clause */
/* What Aspen's thread in this rank does while there is nothing to do: the rank
 * sleeps for SETTLE seconds, then for MEASURE more, and each prints a line
 *     N wake-ups, U us of CPU time in MEASURE s
 * of the second part, from the thread's switches and CPU time in /proc.
 *
 * usage: idle_app [SETTLE [MEASURE]]      (3 and 10) */
#include "tests/helper_threads.h"

#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static struct helper_use used(void)
{
    struct helper_use use = helper_use("aspen-");

    if (use.threads != 1) {
        fprintf(stderr, "%d helpers in this rank\n", use.threads);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return use;
}

int main(int argc, char **argv)
{
    unsigned settle = argc > 1 ? (unsigned) atoi(argv[1]) : 3;
    unsigned measure = argc > 2 ? (unsigned) atoi(argv[2]) : 10;
    struct helper_use before, after;

    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    sleep(settle);
    before = used();
    sleep(measure);
    after = used();
    printf("%ld wake-ups, %llu us of CPU time in %u s\n",
           after.wakeups - before.wakeups,
           (after.cpu_ns - before.cpu_ns) / 1000, measure);
    MPI_Finalize();
    return 0;
}
