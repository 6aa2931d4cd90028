/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugate gradients (Nishtala 2009, section 7.3): two dot products for each
 * iteration are what is collective about it. How they are made:
 *
 *   allreduce  MPI_Allreduce of a number
 *   reduce     MPI_Reduce and MPI_Bcast of a number, as in the dissertation, and
 *              MPI_Barrier before each product with the matrix
 *
 * The right side is that of the solution (1, 1, ...). */
#include "bench.h"

#include "matrix.h"

#include <math.h>
#include <stdlib.h>

static const double TOLERANCE = 1e-8; /* |b - A x| / |b|, where it stops */
static const double CHECK_FACTOR = 10;

struct cg {
    struct matrix *matrix;
    double *x, *r, *p, *q, *b; /* p has room for what others have */
    double residual;           /* relative, as the last run had it */
};

static double sum_all(struct bench *bench, double part)
{
    double sum = 0;

    if (bench->opt.how == HOW_ALLREDUCE) {
        SPEND(
            bench, IN_COLL,
            MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        return sum;
    }
    SPEND(bench, IN_COLL,
          MPI_Reduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
    SPEND(bench, IN_COLL, MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    return sum;
}

static double dot(struct bench *bench, const struct cg *cg, const double *a,
                  const double *b)
{
    double part = 0;

    for (int i = 0; i < cg->matrix->rows; i++)
        part += a[i] * b[i];
    return sum_all(bench, part);
}

/* to += factor * from */
static void add(const struct cg *cg, double *to, double factor,
                const double *from)
{
    for (int i = 0; i < cg->matrix->rows; i++)
        to[i] += factor * from[i];
}

static void *cg_open(struct bench *bench)
{
    struct cg *cg = zeros(1, sizeof(*cg));
    size_t rows;

    need(bench, bench->opt.n >= bench->size, "order must be ranks or more");
    cg->matrix = matrix_make(bench);
    MPI_Allreduce(&cg->matrix->entries, &bench->nonzeros, 1, MPI_LONG, MPI_SUM,
                  MPI_COMM_WORLD);
    rows = (size_t) cg->matrix->rows;
    cg->x = zeros(rows, sizeof(double));
    cg->r = zeros(rows, sizeof(double));
    cg->q = zeros(rows, sizeof(double));
    cg->b = zeros(rows, sizeof(double));
    cg->p = zeros(rows + (size_t) cg->matrix->needed, sizeof(double));
    for (size_t i = 0; i < rows; i++)
        cg->p[i] = 1;
    matrix_multiply(bench, cg->matrix, cg->p, cg->b);
    return cg;
}

static void cg_reset(struct bench *bench, void *state)
{
    struct cg *cg = state;

    (void) bench;
    for (int i = 0; i < cg->matrix->rows; i++) {
        cg->x[i] = 0;
        cg->r[i] = cg->p[i] = cg->b[i];
    }
}

static void cg_run(struct bench *bench, void *state)
{
    struct cg *cg = state;
    double now = dot(bench, cg, cg->r, cg->r), before;
    double all = now, stop = now * TOLERANCE * TOLERANCE;
    int n = 0;

    for (; n < bench->opt.most && now > stop; n++) {
        double step;

        if (bench->opt.how == HOW_REDUCE)
            SPEND(bench, IN_BARRIER, MPI_Barrier(MPI_COMM_WORLD));
        matrix_multiply(bench, cg->matrix, cg->p, cg->q);
        step = now / dot(bench, cg, cg->p, cg->q);
        add(cg, cg->x, step, cg->p);
        add(cg, cg->r, -step, cg->q);
        before = now;
        now = dot(bench, cg, cg->r, cg->r);
        for (int i = 0; i < cg->matrix->rows; i++)
            cg->p[i] = cg->r[i] + now / before * cg->p[i];
    }
    bench->count = bench->rank == 0 ? n : 0;
    cg->residual = sqrt(now / all);
}

/* The residual, from x itself: small, or with opt.most what the iterations came
 * to, which is to be less than at their begin. */
static struct verdict cg_check(struct bench *bench, void *state)
{
    struct cg *cg = state;
    double limit = CHECK_FACTOR * fmax(TOLERANCE, cg->residual), left, right;

    for (int i = 0; i < cg->matrix->rows; i++)
        cg->p[i] = cg->x[i];
    matrix_multiply(bench, cg->matrix, cg->p, cg->q);
    add(cg, cg->q, -1, cg->b);
    left = dot(bench, cg, cg->q, cg->q);
    right = dot(bench, cg, cg->b, cg->b);
    return (struct verdict){sqrt(left / right), fmin(limit, 1)};
}

static void cg_close(void *state)
{
    struct cg *cg = state;

    matrix_free(cg->matrix);
    free(cg->x);
    free(cg->r);
    free(cg->p);
    free(cg->q);
    free(cg->b);
    free(cg);
}

const struct app cg_app = {.name = "cg",
                           .counted = "iterations",
                           .first = HOW_ALLREDUCE,
                           .last = HOW_REDUCE,
                           .open = cg_open,
                           .reset = cg_reset,
                           .run = cg_run,
                           .check = cg_check,
                           .close = cg_close};
