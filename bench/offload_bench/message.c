/* SPDX-License-Identifier: BSD-3-Clause */
/* What is sent, and whether it has arrived. Each word of a block is made of the
 * rank, the block and its place; a step marks the first and the last, so that
 * what an earlier step left behind does not count as arrived. */
#include "bench.h"

#include <stdio.h>

static int words(const struct bench *bench)
{
    return bench->opt.bytes / 8;
}

static int64_t word(int rank, int block, int i)
{
    return (int64_t) (rank + 1) << 40 | (int64_t) block << 32 | i;
}

static bool is_marked(const struct bench *bench, int i)
{
    return i == 0 || i == words(bench) - 1;
}

static int64_t marked(int64_t plain, int step)
{
    return plain + ((int64_t) (step + 1) << 44);
}

void fill(struct bench *bench, int blocks)
{
    for (int block = 0; block < blocks; block++) {
        for (int i = 0; i < words(bench); i++)
            bench->out[block * words(bench) + i] = word(bench->rank, block, i);
    }
}

void mark(struct bench *bench, int blocks, int step)
{
    for (int block = 0; block < blocks; block++) {
        int64_t *data = bench->out + block * words(bench);
        int last = words(bench) - 1;

        data[last] = marked(word(bench->rank, block, last), step);
        data[0] = marked(word(bench->rank, block, 0), step);
    }
}

static int64_t expected(const struct bench *bench, int from, int block, int i,
                        int step)
{
    int64_t plain = word(from, block, i);

    return is_marked(bench, i) ? marked(plain, step) : plain;
}

/* from = -1: the sum over all ranks. */
static int64_t expected_of(const struct bench *bench, int from, int block,
                           int i, int step)
{
    int64_t sum = 0;

    if (from >= 0)
        return expected(bench, from, block, i, step);
    for (int rank = 0; rank < bench->size; rank++)
        sum += expected(bench, rank, block, i, step);
    return sum;
}

void check(const struct bench *bench, const int64_t *data, int from, int block,
           int step, bool whole)
{
    int last = words(bench) - 1, stride = whole || last == 0 ? 1 : last;

    for (int i = 0; i <= last; i += stride) {
        if (data[i] == expected_of(bench, from, block, i, step))
            continue;
        fprintf(stderr,
                "offload_app: rank %d, step %d: wrong word %d of block %d "
                "from %d\n",
                bench->rank, step, i, block, from);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static int collective(struct bench *bench, MPI_Request *request)
{
    void *out = bench->out, *in = bench->in;
    int bytes = bench->opt.bytes;

    switch ((enum op) bench->opt.op) {
    case OP_IBCAST:
        return MPI_Ibcast(bench->rank == 0 ? out : in, bytes, MPI_BYTE, 0,
                          MPI_COMM_WORLD, request);
    case OP_IALLREDUCE:
        return MPI_Iallreduce(out, in, words(bench), MPI_INT64_T, MPI_SUM,
                              MPI_COMM_WORLD, request);
    case OP_IALLTOALL:
        return MPI_Ialltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE,
                             MPI_COMM_WORLD, request);
    case OP_IALLGATHER:
        return MPI_Iallgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE,
                              MPI_COMM_WORLD, request);
    case OP_ISEND:
    case OP_IRECV:
        break;
    }
    return MPI_ERR_INTERN;
}

int post(struct bench *bench, int step, MPI_Request requests[2],
         double *seconds_p)
{
    double times[3];

    mark(bench, bench->size, step);
    times[0] = now();
    if (bench->opt.op > OP_IRECV) {
        collective(bench, &requests[0]);
        *seconds_p = now() - times[0];
        return 1;
    }
    MPI_Irecv(bench->in, bench->opt.bytes, MPI_BYTE, bench->peer, 0,
              MPI_COMM_WORLD, &requests[0]);
    times[1] = now();
    MPI_Isend(bench->out, bench->opt.bytes, MPI_BYTE, bench->peer, 0,
              MPI_COMM_WORLD, &requests[1]);
    times[2] = now();
    *seconds_p = bench->opt.op == OP_IRECV ? times[1] - times[0]
                                           : times[2] - times[1];
    return 2;
}

void wait_all(int n, MPI_Request requests[])
{
    MPI_Status statuses[2 * WINDOW_MOST]; /* gcc takes none for too small */

    MPI_Waitall(n, requests, statuses);
}

void check_posted(struct bench *bench, int step, bool whole)
{
    switch ((enum op) bench->opt.op) {
    case OP_ISEND:
    case OP_IRECV:
        check(bench, bench->in, bench->peer, 0, step, whole);
        break;
    case OP_IBCAST:
        if (bench->rank != 0)
            check(bench, bench->in, 0, 0, step, whole);
        break;
    case OP_IALLREDUCE:
        check(bench, bench->in, -1, 0, step, whole);
        break;
    case OP_IALLTOALL:
    case OP_IALLGATHER:
        for (int rank = 0; rank < bench->size; rank++)
            check(bench, bench->in + rank * words(bench), rank,
                  bench->opt.op == OP_IALLTOALL ? bench->rank : 0, step, whole);
        break;
    }
}
