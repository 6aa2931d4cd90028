/* SPDX-License-Identifier: BSD-3-Clause */
/* C = A B by outer products (SUMMA; Nishtala 2009, section 5.4.1). Each matrix
 * is dealt in blocks to a grid of ranks. For each panel of `block` columns of A
 * and rows of B, those who have them send them along their row and their
 * column; all add the product of both. prefetch: the next panels are under way
 * meanwhile (MPI_Ibcast). */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALL_ORDER = 128, SOME_ENTRIES = 64 }; /* checked against plain sums */
enum { OF_A = 1, OF_B = 2, AHEAD = 2 };
static const double LIMIT = 1e-12; /* relative to the order */

struct summa {
    struct grid grid;
    size_t n, block;
    size_t rows, cols; /* of C: those of A, and of B, as well */
    size_t inner_a;    /* columns of A here */
    size_t inner_b;    /* rows of B here */
    double *a, *b, *c;
    double *panel_a[AHEAD], *panel_b[AHEAD]; /* one in use, one on its way */
    MPI_Request requests[AHEAD][2];
};

/* The part of A that is panel k: its columns, copied by who has them. */
static int own_panel_a(struct summa *summa, size_t k, double *out)
{
    size_t first = k * summa->block, owner = first / summa->inner_a;

    if (owner == (size_t) summa->grid.col)
        for (size_t i = 0; i < summa->rows; i++)
            memcpy(out + i * summa->block,
                   summa->a + i * summa->inner_a + first % summa->inner_a,
                   summa->block * sizeof(double));
    return (int) owner;
}

static int own_panel_b(struct summa *summa, size_t k, double *out)
{
    size_t first = k * summa->block, owner = first / summa->inner_b;

    if (owner == (size_t) summa->grid.row)
        memcpy(out, summa->b + first % summa->inner_b * summa->cols,
               summa->block * summa->cols * sizeof(double));
    return (int) owner;
}

/* Begin to send, or receive, panel k, or do it. */
static void fetch(struct bench *bench, struct summa *summa, size_t k)
{
    double *a = summa->panel_a[k % AHEAD], *b = summa->panel_b[k % AHEAD];
    int from_a = own_panel_a(summa, k, a), from_b = own_panel_b(summa, k, b);
    int size_a = (int) (summa->rows * summa->block);
    int size_b = (int) (summa->block * summa->cols);
    MPI_Request *requests = summa->requests[k % AHEAD];

    if (bench->opt.how == HOW_BLOCKING) {
        SPEND(bench, IN_COLL,
              MPI_Bcast(a, size_a, MPI_DOUBLE, from_a, summa->grid.row_team));
        SPEND(bench, IN_COLL,
              MPI_Bcast(b, size_b, MPI_DOUBLE, from_b, summa->grid.col_team));
        return;
    }
    SPEND(bench, IN_COLL,
          MPI_Ibcast(a, size_a, MPI_DOUBLE, from_a, summa->grid.row_team,
                     &requests[0]));
    SPEND(bench, IN_COLL,
          MPI_Ibcast(b, size_b, MPI_DOUBLE, from_b, summa->grid.col_team,
                     &requests[1]));
}

/* c += a b */
static void multiply(const struct summa *summa, const double *a,
                     const double *b)
{
    for (size_t i = 0; i < summa->rows; i++) {
        double *c = summa->c + i * summa->cols;

        for (size_t k = 0; k < summa->block; k++) {
            double factor = a[i * summa->block + k];
            const double *row = b + k * summa->cols;

            for (size_t j = 0; j < summa->cols; j++)
                c[j] += factor * row[j];
        }
    }
}

static void summa_run(struct bench *bench, void *state)
{
    struct summa *summa = state;
    size_t panels = summa->n / summa->block;
    bool ahead = bench->opt.how == HOW_PREFETCH;

    if (ahead)
        fetch(bench, summa, 0);
    for (size_t k = 0; k < panels; k++) {
        if (!ahead)
            fetch(bench, summa, k);
        else if (k + 1 < panels)
            fetch(bench, summa, k + 1);
        SPEND(bench, IN_COLL, wait_all(2, summa->requests[k % AHEAD]));
        multiply(summa, summa->panel_a[k % AHEAD], summa->panel_b[k % AHEAD]);
    }
}

/* The part of a matrix that begins at this row and column of the whole. */
static double *make_part(size_t rows, size_t cols, size_t row, size_t col,
                         uint64_t matrix)
{
    double *part = zeros(rows * cols, sizeof(double));

    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            part[i * cols + j] = value_at(row + i, col + j, matrix);
    return part;
}

static void make_panels(struct summa *summa)
{
    for (int i = 0; i < AHEAD; i++) {
        summa->panel_a[i] = zeros(summa->rows * summa->block, sizeof(double));
        summa->panel_b[i] = zeros(summa->block * summa->cols, sizeof(double));
        summa->requests[i][0] = summa->requests[i][1] = MPI_REQUEST_NULL;
    }
}

static void *summa_open(struct bench *bench)
{
    struct summa *summa = zeros(1, sizeof(*summa));
    struct grid *grid = &summa->grid;
    size_t n = (size_t) bench->opt.n, block = (size_t) bench->opt.block;

    grid_make(bench, grid);
    need(bench,
         n % (block * (size_t) grid->rows) == 0 &&
             n % (block * (size_t) grid->cols) == 0,
         "n must be a multiple of the block in each row and column");
    summa->n = n;
    summa->block = block;
    summa->rows = summa->inner_b = n / (size_t) grid->rows;
    summa->cols = summa->inner_a = n / (size_t) grid->cols;
    summa->a = make_part(summa->rows, summa->inner_a,
                         (size_t) grid->row * summa->rows,
                         (size_t) grid->col * summa->inner_a, OF_A);
    summa->b = make_part(summa->inner_b, summa->cols,
                         (size_t) grid->row * summa->inner_b,
                         (size_t) grid->col * summa->cols, OF_B);
    summa->c = zeros(summa->rows * summa->cols, sizeof(double));
    make_panels(summa);
    return summa;
}

static void summa_reset(struct bench *bench, void *state)
{
    struct summa *summa = state;

    (void) bench;
    memset(summa->c, 0, summa->rows * summa->cols * sizeof(double));
}

static double plain_sum(const struct summa *summa, size_t row, size_t col)
{
    double sum = 0;

    for (size_t k = 0; k < summa->n; k++)
        sum += value_at(row, k, OF_A) * value_at(k, col, OF_B);
    return sum;
}

static struct verdict summa_check(struct bench *bench, void *state)
{
    struct summa *summa = state;
    size_t all = summa->rows * summa->cols;
    size_t stride = summa->n <= ALL_ORDER ? 1 : all / SOME_ENTRIES + 1;
    double worst = 0;

    (void) bench;
    for (size_t at = 0; at < all; at += stride) {
        size_t row = at / summa->cols + (size_t) summa->grid.row * summa->rows;
        size_t col = at % summa->cols + (size_t) summa->grid.col * summa->cols;

        worst = fmax(worst, fabs(summa->c[at] - plain_sum(summa, row, col)));
    }
    return (struct verdict){worst / (double) summa->n, LIMIT};
}

static void summa_close(void *state)
{
    struct summa *summa = state;

    for (int i = 0; i < AHEAD; i++) {
        free(summa->panel_a[i]);
        free(summa->panel_b[i]);
    }
    free(summa->a);
    free(summa->b);
    free(summa->c);
    grid_free(&summa->grid);
    free(summa);
}

const struct app summa_app = {.name = "summa",
                              .first = HOW_BLOCKING,
                              .last = HOW_PREFETCH,
                              .open = summa_open,
                              .reset = summa_reset,
                              .run = summa_run,
                              .check = summa_check,
                              .close = summa_close};
