/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: coll_messages_app WARM CALLS NAME[:BYTES]...
 *
 * Calls each collective WARM times, then CALLS times between MPI_Pcontrol(1)
 * and MPI_Pcontrol(0), for a preload that counts messages
 * (tests/coll/count_messages.c); the first NAME is region 2, the next 3.
 * BYTES: of a message, or of each block where there is one for each rank (8; a
 * multiple of 8). Knows nothing of Aspen. */
#include "bench/buffer.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a call works on. n: doubles of a block. */
struct job {
    int n;
    double *in, *out; /* n for each rank */
};

static void barrier(const struct job *job)
{
    (void) job;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(const struct job *job)
{
    MPI_Bcast(job->out, job->n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void reduce(const struct job *job)
{
    MPI_Reduce(job->in, job->out, job->n, MPI_DOUBLE, MPI_SUM, 0,
               MPI_COMM_WORLD);
}

static void allreduce(const struct job *job)
{
    MPI_Allreduce(job->in, job->out, job->n, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
}

static void gather(const struct job *job)
{
    MPI_Gather(job->in, job->n, MPI_DOUBLE, job->out, job->n, MPI_DOUBLE, 0,
               MPI_COMM_WORLD);
}

static void scatter(const struct job *job)
{
    MPI_Scatter(job->in, job->n, MPI_DOUBLE, job->out, job->n, MPI_DOUBLE, 0,
                MPI_COMM_WORLD);
}

static void allgather(const struct job *job)
{
    MPI_Allgather(job->in, job->n, MPI_DOUBLE, job->out, job->n, MPI_DOUBLE,
                  MPI_COMM_WORLD);
}

static void alltoall(const struct job *job)
{
    MPI_Alltoall(job->in, job->n, MPI_DOUBLE, job->out, job->n, MPI_DOUBLE,
                 MPI_COMM_WORLD);
}

static void reduce_scatter_block(const struct job *job)
{
    MPI_Reduce_scatter_block(job->in, job->out, job->n, MPI_DOUBLE, MPI_SUM,
                             MPI_COMM_WORLD);
}

static void scan(const struct job *job)
{
    MPI_Scan(job->in, job->out, job->n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const struct collective {
    const char *name;
    void (*call)(const struct job *job);
} collectives[] = {
    {"barrier", barrier},
    {"bcast", bcast},
    {"reduce", reduce},
    {"allreduce", allreduce},
    {"gather", gather},
    {"scatter", scatter},
    {"allgather", allgather},
    {"alltoall", alltoall},
    {"reduce_scatter_block", reduce_scatter_block},
    {"scan", scan},
    {NULL, NULL},
};

/* Ends the job where it makes no sense. */
static const struct collective *read_name(const char *text, int *bytes)
{
    size_t length = strcspn(text, ":");
    const struct collective *found = collectives;
    char *end = NULL;

    while (found->name && (strncmp(found->name, text, length) != 0 ||
                           found->name[length] != '\0'))
        found++;
    *bytes = text[length] ? (int) strtol(text + length + 1, &end, 10) : 8;
    if (!found->name || *bytes < 0 || *bytes % 8 != 0 || (end && *end)) {
        fprintf(stderr, "coll_messages_app: cannot make sense of '%s'\n", text);
        exit(2);
    }
    return found;
}

static void run(const struct collective *collective, int bytes, int warm,
                int calls)
{
    struct job job = {.n = bytes / 8};
    int size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    job.in = buffer_pages((size_t) size * (size_t) bytes);
    job.out = buffer_pages((size_t) size * (size_t) bytes);
    for (int i = 0; i < warm; i++)
        collective->call(&job);
    MPI_Pcontrol(1);
    for (int i = 0; i < calls; i++)
        collective->call(&job);
    MPI_Pcontrol(0);
    free(job.in);
    free(job.out);
}

int main(int argc, char **argv)
{
    int warm = argc > 3 ? atoi(argv[1]) : 0;
    int calls = argc > 3 ? atoi(argv[2]) : 0;
    int bytes;

    if (calls < 1 || warm < 0) {
        fprintf(stderr,
                "usage: coll_messages_app WARM CALLS NAME[:BYTES]...\n");
        return 2;
    }
    for (int i = 3; i < argc; i++)
        read_name(argv[i], &bytes);
    MPI_Init(&argc, &argv);
    for (int i = 3; i < argc; i++) {
        const struct collective *collective = read_name(argv[i], &bytes);

        run(collective, bytes, warm, calls);
        MPI_Pcontrol(i - 1); /* regions are numbered from 2 on */
    }
    MPI_Finalize();
    return 0;
}
