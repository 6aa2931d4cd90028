/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: coll_cost_app CALLS OPERATION:BYTES...
 *
 * Times CALLS calls of each collective, the first ones included, and as many
 * again; on a communicator of its own, behind ten barriers. A line for each:
 *
 *   call=allreduce:8 first_us=3512.2 later_us=3302.9 least_us=2.91
 *
 * first_us, later_us: of CALLS calls together. least_us: a call, of the fastest
 * tenth part of the later ones. On rank 0. The later ones are made by
 * measure_calls(), for bench/callgrind.py. */
#include "buffer.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 10, BARRIERS = 10 };

static MPI_Comm comm;
static int rank, size, bytes;
static char *in, *out;

static void barrier(void)
{
    MPI_Barrier(comm);
}

static void bcast(void)
{
    MPI_Bcast(out, bytes, MPI_BYTE, 0, comm);
}

static void allreduce(void)
{
    MPI_Allreduce(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
}

static void alltoall(void)
{
    MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
}

static const struct {
    const char *name;
    void (*call)(void);
} operations[] = {{"barrier", barrier},
                  {"bcast", bcast},
                  {"allreduce", allreduce},
                  {"alltoall", alltoall}};
enum { OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

void measure_calls(void (*call)(void), int calls);

__attribute__((noinline)) void measure_calls(void (*call)(void), int calls)
{
    for (int i = 0; i < calls; i++)
        call();
}

static double time_of(void (*call)(void), int calls)
{
    double begun = MPI_Wtime();

    measure_calls(call, calls);
    return 1e6 * (MPI_Wtime() - begun);
}

static double first_of(void (*call)(void), int calls)
{
    double begun = MPI_Wtime();

    for (int i = 0; i < calls; i++)
        call();
    return 1e6 * (MPI_Wtime() - begun);
}

static void run(const char *what, void (*call)(void), int calls)
{
    double first = first_of(call, calls), later = 0, least = 0;

    for (int part = 0; part < PARTS; part++) {
        double took = time_of(call, calls / PARTS);

        later += took;
        if (part == 0 || took < least)
            least = took;
    }
    if (rank == 0)
        printf("call=%s first_us=%.1f later_us=%.1f least_us=%.3f\n", what,
               first, later, least / (calls / PARTS));
}

static int do_one(const char *what, int calls)
{
    const char *colon = strchr(what, ':');

    for (int i = 0; colon && i < OPERATIONS; i++) {
        size_t n = (size_t) (colon - what);

        if (strlen(operations[i].name) != n ||
            strncmp(what, operations[i].name, n) != 0)
            continue;
        bytes = atoi(colon + 1);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        in = buffer_pages((size_t) (bytes + 8) * (size_t) size);
        out = buffer_pages((size_t) (bytes + 8) * (size_t) size);
        for (int b = 0; b < BARRIERS; b++)
            barrier();
        run(what, operations[i].call, calls);
        MPI_Comm_free(&comm);
        free(in);
        free(out);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int calls = argc > 2 ? atoi(argv[1]) : 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 2; i < argc; i++)
        if (calls < PARTS || !do_one(argv[i], calls)) {
            fprintf(stderr, "coll_cost_app: cannot make sense of '%s'\n",
                    argv[i]);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    MPI_Finalize();
    return calls ? 0 : 2;
}
