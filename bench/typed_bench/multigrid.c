/* SPDX-License-Identifier: BSD-3-Clause */
/* V cycles for the Laplacian with periodic bounds, on n^3 points of each rank
 * and half as many along each axis on every level below, down to two. It has
 * the exchanges of the NAS benchmark MG: after each sweep all ghost points,
 * edges and corners too, axis by axis, on all levels. */
#include "bench.h"

#include <string.h>

enum { LEVELS_MAX = 12, POINTS_LEAST = 2 };

/* Of a level: the solution, the right side, and what is left of it. */
static struct level {
    struct grid u, v, r;
} levels[LEVELS_MAX];
static int nlevels;

void multigrid_open(int n)
{
    for (nlevels = 0; n >= POINTS_LEAST && nlevels < LEVELS_MAX; n /= 2) {
        struct level *level = &levels[nlevels++];
        const int size[AXES] = {n, n, n};

        grid_open(&level->u, size, CORNERS);
        grid_open(&level->v, size, CORNERS);
        grid_open(&level->r, size, CORNERS);
    }
}

/* Of one point: u at its six neighbours. */
static double around(const struct grid *g, size_t i)
{
    const size_t row = (size_t) g->n[X] + 2;
    const size_t plane = row * ((size_t) g->n[Y] + 2);

    return g->at[i - 1] + g->at[i + 1] + g->at[i - row] + g->at[i + row] +
           g->at[i - plane] + g->at[i + plane];
}

/* Call f for each row of points, `first` being the place of its first. */
static void for_rows(struct level *l, void (*f)(struct level *, size_t first))
{
#pragma omp parallel for
    for (int z = 1; z <= l->u.n[Z]; z++)
        for (int y = 1; y <= l->u.n[Y]; y++)
            f(l, grid_index(&l->u, 1, y, z));
}

/* r = v - A u, where A u = 6 u - the neighbours */
static void residual_row(struct level *l, size_t first)
{
    for (size_t i = first; i < first + (size_t) l->u.n[X]; i++)
        l->r.at[i] = l->v.at[i] - 6 * l->u.at[i] + around(&l->u, i);
}

static void residual(struct level *l)
{
    for_rows(l, residual_row);
    grid_exchange(&l->r, CORNERS);
}

/* A damped Jacobi step, when r is made: u += 2/3 r / 6. */
static void correct_row(struct level *l, size_t first)
{
    for (size_t i = first; i < first + (size_t) l->u.n[X]; i++)
        l->u.at[i] += l->r.at[i] / 9;
}

static void smooth(struct level *l)
{
    residual(l);
    for_rows(l, correct_row);
    grid_exchange(&l->u, CORNERS);
}

/* Eight points of the finer grid for each of the coarser. */
static void restrict_to(struct grid *coarse, const struct grid *fine)
{
#pragma omp parallel for
    for (int z = 1; z <= coarse->n[Z]; z++)
        for (int y = 1; y <= coarse->n[Y]; y++)
            for (int x = 1; x <= coarse->n[X]; x++) {
                double sum = 0;

                for (int k = 0; k < 8; k++)
                    sum += fine->at[grid_index(fine, 2 * x - (k & 1),
                                               2 * y - (k >> 1 & 1),
                                               2 * z - (k >> 2))];
                coarse->at[grid_index(coarse, x, y, z)] = sum / 2;
            }
    grid_exchange(coarse, CORNERS);
}

/* A point of the coarser grid for eight of the finer. */
static void add_to(struct grid *fine, const struct grid *coarse)
{
#pragma omp parallel for
    for (int z = 1; z <= fine->n[Z]; z++)
        for (int y = 1; y <= fine->n[Y]; y++)
            for (int x = 1; x <= fine->n[X]; x++)
                fine->at[grid_index(fine, x, y, z)] += coarse->at[grid_index(
                    coarse, (x + 1) / 2, (y + 1) / 2, (z + 1) / 2)];
    grid_exchange(fine, CORNERS);
}

static void clear(struct grid *g)
{
    const size_t last = grid_index(g, g->n[X] + 1, g->n[Y] + 1, g->n[Z] + 1);

    memset(g->at, 0, (last + 1) * sizeof(*g->at));
}

void multigrid_step(void)
{
    for (int k = 0; k < nlevels - 1; k++) {
        smooth(&levels[k]);
        residual(&levels[k]);
        restrict_to(&levels[k + 1].v, &levels[k].r);
        clear(&levels[k + 1].u);
    }
    smooth(&levels[nlevels - 1]);
    for (int k = nlevels - 2; k >= 0; k--) {
        add_to(&levels[k].u, &levels[k + 1].u);
        smooth(&levels[k]);
    }
}

double multigrid_close(void)
{
    double sum = 0;

    for (int k = 0; k < nlevels; k++) {
        sum += grid_sum(&levels[k].u);
        grid_close(&levels[k].u);
        grid_close(&levels[k].v);
        grid_close(&levels[k].r);
    }
    return sum;
}
