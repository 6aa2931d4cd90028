/* SPDX-License-Identifier: BSD-3-Clause */
/* Isend and Irecv with each neighbour, a delay, Waitall: what a step takes, or
 * the posting, or the wait. Neighbours: the peer, or four on a grid whose ends
 * meet. */
#include "bench.h"

enum { WARM_UP = 3, SIDES = 4 };

struct neighbours {
    int n, to[SIDES]; /* what goes to one side comes from the opposite one */
};

static struct neighbours find(const struct bench *bench)
{
    struct neighbours found = {1, {bench->peer}};
    int shape[2] = {0, 0}, around[2] = {1, 1};
    MPI_Comm grid;

    if (!bench->opt.grid)
        return found;
    MPI_Dims_create(bench->size, 2, shape);
    MPI_Cart_create(MPI_COMM_WORLD, 2, shape, around, 0, &grid);
    found.n = SIDES;
    for (int i = 0; i < 2; i++)
        MPI_Cart_shift(grid, i, 1, &found.to[2 * i], &found.to[2 * i + 1]);
    MPI_Comm_free(&grid);
    return found;
}

static int from(const struct neighbours *all, int side)
{
    return all->to[all->n == 1 ? 0 : side ^ 1];
}

static int64_t *block(int64_t *blocks, const struct bench *bench, int i)
{
    return blocks + (size_t) i * (size_t) bench->opt.bytes / sizeof(*blocks);
}

/* A request of each side: sends, then receives. */
static void post_all(struct bench *bench, const struct neighbours *all,
                     MPI_Request requests[])
{
    int bytes = bench->opt.bytes;

    for (int i = 0; i < all->n; i++)
        MPI_Isend(block(bench->out, bench, i), bytes, MPI_BYTE, all->to[i], i,
                  MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < all->n; i++)
        MPI_Irecv(block(bench->in, bench, i), bytes, MPI_BYTE, from(all, i), i,
                  MPI_COMM_WORLD, &requests[all->n + i]);
}

/* Seconds of the part that was asked for, of this rank. */
static double step(struct bench *bench, const struct neighbours *all, int i)
{
    MPI_Request requests[2 * SIDES];
    double begin, posted, wait, end;

    mark(bench, all->n, i);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = now();
    post_all(bench, all, requests);
    wait = posted = now();
    if (bench->opt.delay_us) {
        compute(bench, bench->opt.delay_us * 1e-6);
        wait = now();
    }
    wait_all(2 * all->n, requests);
    end = now();
    for (int side = 0; side < all->n; side++)
        check(bench, block(bench->in, bench, side), from(all, side), side, i,
              i == 0);
    switch ((enum part) bench->opt.part) {
    case PART_POST:
        return posted - begin;
    case PART_WAIT:
        return end - wait;
    case PART_ALL:
        break;
    }
    return end - begin;
}

/* Samples are the greatest over the ranks. */
void exchange_run(struct bench *bench, struct samples *samples)
{
    static double mine[SAMPLES_MOST], all[SAMPLES_MOST];
    struct neighbours found = find(bench);
    double begin = now();
    int n;

    for (int i = 0; i < WARM_UP; i++)
        step(bench, &found, i);
    n = plan(bench, (now() - begin) / WARM_UP);
    for (int i = 0; i < n; i++)
        mine[i] = step(bench, &found, i);
    MPI_Allreduce(mine, all, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        add(samples, all[i]);
}
