/* SPDX-License-Identifier: BSD-3-Clause */
/* The shapes are those that a rank of 64 has of the paper's arrays, of 512^3
 * points and of 2^27 points that are long along one axis: 128^3, or 4096, 32
 * and 16 points along the axes; smaller with n. */
#include "bench.h"

#include "bench/buffer.h"

#include <stdlib.h>

static struct grid now, after;

static void halo_open(int x, int y, int z)
{
    const int n[AXES] = {x, y, z};

    grid_open(&now, n, FACES);
    grid_open(&after, n, FACES);
}

void cube_open(int n)
{
    halo_open(n, n, n);
}

void long_x_open(int n)
{
    halo_open(32 * n, n / 4, n / 8);
}

void long_y_open(int n)
{
    halo_open(n / 8, 32 * n, n / 4);
}

void long_z_open(int n)
{
    halo_open(n / 8, n / 4, 32 * n);
}

static double seven_points(const struct grid *g, int x, int y, int z)
{
    const size_t i = grid_index(g, x, y, z);
    const size_t row = (size_t) g->n[X] + 2;
    const size_t plane = row * ((size_t) g->n[Y] + 2);
    const double *a = g->at;

    return 0.25 * a[i] + 0.125 * (a[i - 1] + a[i + 1] + a[i - row] +
                                  a[i + row] + a[i - plane] + a[i + plane]);
}

void halo_step(void)
{
    struct grid swap;

    grid_exchange(&now, FACES);
#pragma omp parallel for
    for (int z = 1; z <= now.n[Z]; z++)
        for (int y = 1; y <= now.n[Y]; y++)
            for (int x = 1; x <= now.n[X]; x++)
                after.at[grid_index(&after, x, y, z)] = seven_points(&now, x, y,
                                                                     z);
    swap = now;
    now = after;
    after = swap;
}

double halo_close(void)
{
    double sum = grid_sum(&now);

    grid_close(&now);
    grid_close(&after);
    return sum;
}
