/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

#include "bench/buffer.h"

#include <stdlib.h>

double in_mpi_s;

/* A layer at `start` of an axis. The other axes: the points without ghosts, or
 * with those that an exchange along an axis before has filled. */
static MPI_Datatype layer(const struct grid *g, enum axis axis, int start,
                          enum filling filling)
{
    int sizes[AXES], parts[AXES], starts[AXES];
    MPI_Datatype type;

    for (int a = 0; a < AXES; a++) {
        const int k = AXES - 1 - a; /* MPI names the axis X last */
        const int with_ghosts = filling == CORNERS && a < (int) axis;

        sizes[k] = g->n[a] + 2;
        parts[k] = with_ghosts ? g->n[a] + 2 : g->n[a];
        starts[k] = with_ghosts ? 0 : 1;
        if (a == (int) axis) {
            parts[k] = 1;
            starts[k] = start;
        }
    }
    MPI_Type_create_subarray(AXES, sizes, parts, starts, MPI_ORDER_C,
                             MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Points have values that differ, and are small enough to be summed exactly. */
static void fill(struct grid *g)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel for
    for (int z = 1; z <= g->n[Z]; z++)
        for (int y = 1; y <= g->n[Y]; y++)
            for (int x = 1; x <= g->n[X]; x++)
                g->at[grid_index(g, x, y, z)] = (x * 7 + y * 31 + z * 101 +
                                                 rank * 13) %
                                                1009;
}

void grid_open(struct grid *g, const int n[AXES], enum filling filling)
{
    size_t points = 1;

    for (int a = 0; a < AXES; a++) {
        g->n[a] = n[a];
        points *= (size_t) n[a] + 2;
    }
    g->at = buffer_pages(points * sizeof(double));
    for (int a = 0; a < AXES; a++) {
        g->out[a][LOW] = layer(g, (enum axis) a, 1, filling);
        g->out[a][HIGH] = layer(g, (enum axis) a, n[a], filling);
        g->in[a][LOW] = layer(g, (enum axis) a, 0, filling);
        g->in[a][HIGH] = layer(g, (enum axis) a, n[a] + 1, filling);
    }
    fill(g);
}

void grid_close(struct grid *g)
{
    for (int a = 0; a < AXES; a++)
        for (int s = 0; s < SIDES; s++) {
            MPI_Type_free(&g->out[a][s]);
            MPI_Type_free(&g->in[a][s]);
        }
    free(g->at);
}

/* What one rank sends from its low side the other has beyond its high one. */
static void start_axis(struct grid *g, int a, MPI_Request requests[2 * SIDES])
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int s = 0; s < SIDES; s++)
        MPI_Irecv(g->at, 1, g->in[a][s], 1 - rank, SIDES * a + (1 - s),
                  MPI_COMM_WORLD, &requests[s]);
    for (int s = 0; s < SIDES; s++)
        MPI_Isend(g->at, 1, g->out[a][s], 1 - rank, SIDES * a + s,
                  MPI_COMM_WORLD, &requests[SIDES + s]);
}

void grid_exchange(struct grid *g, enum filling filling)
{
    const double begin = MPI_Wtime();
    MPI_Request requests[AXES][2 * SIDES];
    MPI_Status statuses[AXES * 2 * SIDES];

    for (int a = 0; a < AXES; a++) {
        start_axis(g, a, requests[a]);
        if (filling == CORNERS)
            MPI_Waitall(2 * SIDES, requests[a], statuses);
    }
    if (filling == FACES)
        MPI_Waitall(AXES * 2 * SIDES, requests[0], statuses);
    in_mpi_s += MPI_Wtime() - begin;
}

double grid_sum(const struct grid *g)
{
    const size_t points = grid_index(g, g->n[X] + 1, g->n[Y] + 1, g->n[Z] + 1);
    double sum = 0;

    for (size_t i = 0; i <= points; i++)
        sum += g->at[i] * (double) (i % 61 + 1);
    return sum;
}
