/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without windows: everyone to the next, beside a computation. */
#include "bench.h"
#include "bench/buffer.h"

#include <stdio.h>
#include <stdlib.h>

static char *out, *in;

static void exchange(struct bench *bench)
{
    int next = (bench->rank + 1) % bench->size;
    int last = (bench->rank + bench->size - 1) % bench->size;
    int bytes = bench->opt.kib << 10;
    MPI_Status statuses[2];
    MPI_Request both[2];

    out[0] = out[bytes - 1] = (char) ++bench->round;
    MPI_Irecv(in, bytes, MPI_BYTE, last, 0, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(out, bytes, MPI_BYTE, next, 0, MPI_COMM_WORLD, &both[1]);
    compute(bench->opt.compute_us);
    MPI_Waitall(2, both, statuses);
    if (in[0] != out[0] || in[bytes - 1] != out[0]) {
        fprintf(stderr, "adapt_app: round %ld: wrong data\n", bench->round);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

void messages_run(struct bench *bench)
{
    size_t bytes = (size_t) bench->opt.kib << 10;

    out = buffer_pages(bytes);
    in = buffer_pages(bytes);
    repeat(bench, exchange);
    free(in);
    free(out);
}
