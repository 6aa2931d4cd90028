/* SPDX-License-Identifier: BSD-3-Clause */
/* A = L L' of a dense matrix, blocks dealt to a grid of ranks like the fields
 * of a checkerboard (Nishtala 2009, section 5.4.2, which has U = L'). Each
 * panel takes three rounds of broadcasts:
 *
 *   1. the block on the diagonal, once it is factored, along its column: those
 *      there solve for their blocks of the panel
 *   2. the panel along the rows of the grid
 *   3. the panel along the columns, from those who have it as a row: with as
 *      many rows as columns one broadcast, else one for each row that has some
 *
 * and all subtract the outer product of what they got. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LIMIT = 1e-12; /* relative to A */

struct cholesky {
    struct grid grid;
    size_t blocks, block; /* in a row of the whole; numbers in a row of one */
    double **own;         /* [blocks][blocks]: those of the lower half here */
    double *diagonal;
    double *by_row, *by_col; /* of the panel: those of our rows; columns */
    double *some;            /* those of by_col that one row of the grid has */
};

static size_t area(const struct cholesky *ch)
{
    return ch->block * ch->block;
}

static double **block_at(const struct cholesky *ch, size_t i, size_t j)
{
    return &ch->own[i * ch->blocks + j];
}

static bool is_in_row(const struct cholesky *ch, size_t i, int row)
{
    return i % (size_t) ch->grid.rows == (size_t) row;
}

static bool is_in_col(const struct cholesky *ch, size_t j, int col)
{
    return j % (size_t) ch->grid.cols == (size_t) col;
}

/* ---- blocks -------------------------------------------------------------- */

/* a = l l', in place; what is right of the diagonal becomes 0. */
static void factor(double *a, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < j; k++)
            for (size_t i = j; i < n; i++)
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
        a[j * n + j] = sqrt(a[j * n + j]);
        for (size_t i = j + 1; i < n; i++) {
            a[i * n + j] /= a[j * n + j];
            a[j * n + i] = 0;
        }
    }
}

/* The x with x l' = a, in place of a. */
static void solve(double *a, const double *l, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            for (size_t k = 0; k < j; k++)
                a[i * n + j] -= a[i * n + k] * l[j * n + k];
            a[i * n + j] /= l[j * n + j];
        }
}

/* c -= a b' */
static void subtract(double *c, const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;

            for (size_t k = 0; k < n; k++)
                sum += a[i * n + k] * b[j * n + k];
            c[i * n + j] -= sum;
        }
}

/* ---- a panel ------------------------------------------------------------- */

static void send_blocks(struct bench *bench, const struct cholesky *ch,
                        double *data, size_t n, int root, MPI_Comm team)
{
    SPEND(bench, IN_COLL,
          MPI_Bcast(data, (int) (n * area(ch)), MPI_DOUBLE, root, team));
}

/* Round 1, for those who have blocks of the panel. */
static void solve_panel(struct bench *bench, struct cholesky *ch, size_t k)
{
    double *own = *block_at(ch, k, k);

    if (!is_in_col(ch, k, ch->grid.col))
        return;
    if (own) {
        factor(own, ch->block);
        memcpy(ch->diagonal, own, area(ch) * sizeof(double));
    }
    send_blocks(bench, ch, ch->diagonal, 1, (int) (k % (size_t) ch->grid.rows),
                ch->grid.col_team);
    for (size_t i = k + 1; i < ch->blocks; i++)
        if (*block_at(ch, i, k))
            solve(*block_at(ch, i, k), ch->diagonal, ch->block);
}

/* Round 2: the blocks of our rows, one after the other. */
static void send_along_rows(struct bench *bench, struct cholesky *ch, size_t k)
{
    size_t n = 0;

    for (size_t i = k + 1; i < ch->blocks; i++) {
        if (!is_in_row(ch, i, ch->grid.row))
            continue;
        if (*block_at(ch, i, k))
            memcpy(ch->by_row + n * area(ch), *block_at(ch, i, k),
                   area(ch) * sizeof(double));
        n++;
    }
    if (n > 0)
        send_blocks(bench, ch, ch->by_row, n,
                    (int) (k % (size_t) ch->grid.cols), ch->grid.row_team);
}

/* Where block i of the panel is in by_row, and block j in by_col. */
static double *in_rows(const struct cholesky *ch, size_t k, size_t i)
{
    size_t rows = (size_t) ch->grid.rows, row = i % rows;
    size_t before = (k + rows - row) / rows; /* up to k, in this row */

    return ch->by_row + ((i - row) / rows - before) * area(ch);
}

static double *in_cols(const struct cholesky *ch, size_t j)
{
    return ch->by_col + j / (size_t) ch->grid.cols * area(ch);
}

/* Round 3, from one row of the grid to the others of our column. */
static void send_along_col(struct bench *bench, struct cholesky *ch, size_t k,
                           int row)
{
    size_t n = 0, at = 0;

    for (size_t j = k + 1; j < ch->blocks; j++) {
        if (!is_in_col(ch, j, ch->grid.col) || !is_in_row(ch, j, row))
            continue;
        if (ch->grid.row == row)
            memcpy(ch->some + n * area(ch), in_rows(ch, k, j),
                   area(ch) * sizeof(double));
        n++;
    }
    if (n == 0)
        return;
    send_blocks(bench, ch, ch->some, n, row, ch->grid.col_team);
    for (size_t j = k + 1; j < ch->blocks; j++)
        if (is_in_col(ch, j, ch->grid.col) && is_in_row(ch, j, row))
            memcpy(in_cols(ch, j), ch->some + at++ * area(ch),
                   area(ch) * sizeof(double));
}

static void update(struct cholesky *ch, size_t k)
{
    for (size_t i = k + 1; i < ch->blocks; i++)
        for (size_t j = k + 1; j <= i; j++)
            if (*block_at(ch, i, j))
                subtract(*block_at(ch, i, j), in_rows(ch, k, i), in_cols(ch, j),
                         ch->block);
}

static void cholesky_run(struct bench *bench, void *state)
{
    struct cholesky *ch = state;

    for (size_t k = 0; k < ch->blocks; k++) {
        solve_panel(bench, ch, k);
        send_along_rows(bench, ch, k);
        for (int row = 0; row < ch->grid.rows; row++)
            send_along_col(bench, ch, k, row);
        update(ch, k);
    }
}

/* ---- the matrix, and the check ------------------------------------------- */

/* Symmetric, and positive definite by its diagonal. */
static double entry(const struct cholesky *ch, size_t i, size_t j)
{
    if (i == j)
        return (double) (ch->blocks * ch->block);
    return i > j ? value_at(i, j, 0) : value_at(j, i, 0);
}

static void *cholesky_open(struct bench *bench)
{
    struct cholesky *ch = zeros(1, sizeof(*ch));
    size_t n = (size_t) bench->opt.n;

    grid_make(bench, &ch->grid);
    ch->block = (size_t) bench->opt.block;
    ch->blocks = n / ch->block;
    need(bench, n % ch->block == 0, "n must be a multiple of the block");
    ch->own = zeros(ch->blocks * ch->blocks, sizeof(*ch->own));
    for (size_t i = 0; i < ch->blocks; i++)
        for (size_t j = 0; j <= i; j++)
            if (is_in_row(ch, i, ch->grid.row) &&
                is_in_col(ch, j, ch->grid.col))
                *block_at(ch, i, j) = zeros(area(ch), sizeof(double));
    ch->diagonal = zeros(area(ch), sizeof(double));
    ch->by_row = zeros(ch->blocks * area(ch), sizeof(double));
    ch->by_col = zeros(ch->blocks * area(ch), sizeof(double));
    ch->some = zeros(ch->blocks * area(ch), sizeof(double));
    return ch;
}

/* Do something(i, j, number) for all entries of blocks here, of the whole. */
#define EACH_ENTRY(ch, i, j, number)                                           \
    for (size_t i = 0; i < (ch)->blocks * (ch)->block; i++)                    \
        for (size_t j = 0; j < (i / (ch)->block + 1) * (ch)->block; j++)       \
            for (double *number = entry_here(ch, i, j); number; number = NULL)

/* Where the entry is, if it is here. */
static double *entry_here(const struct cholesky *ch, size_t i, size_t j)
{
    double *own = *block_at(ch, i / ch->block, j / ch->block);

    return own ? own + i % ch->block * ch->block + j % ch->block : NULL;
}

static void cholesky_reset(struct bench *bench, void *state)
{
    struct cholesky *ch = state;

    (void) bench;
    EACH_ENTRY(ch, i, j, number)
    *number = entry(ch, i, j);
}

/* |A x - L (L' x)| / |A x| with an x that is as good as random. */
static struct verdict cholesky_check(struct bench *bench, void *state)
{
    struct cholesky *ch = state;
    size_t n = ch->blocks * ch->block;
    double *half = zeros(n, sizeof(double)), *all = zeros(n, sizeof(double));
    double left = 0, right = 0;

    (void) bench;
    EACH_ENTRY(ch, i, j, number)
    half[j] += *number * value_at(i, 0, 1);
    MPI_Allreduce(MPI_IN_PLACE, half, (int) n, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    EACH_ENTRY(ch, i, j, number)
    all[i] += *number * half[j];
    MPI_Allreduce(MPI_IN_PLACE, all, (int) n, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    for (size_t i = 0; i < n; i++) {
        double exact = 0;

        for (size_t j = 0; j < n; j++)
            exact += entry(ch, i, j) * value_at(j, 0, 1);
        left += (all[i] - exact) * (all[i] - exact);
        right += exact * exact;
    }
    free(half);
    free(all);
    return (struct verdict){sqrt(left / right), LIMIT};
}

static void cholesky_close(void *state)
{
    struct cholesky *ch = state;

    for (size_t i = 0; i < ch->blocks * ch->blocks; i++)
        free(ch->own[i]);
    free(ch->own);
    free(ch->diagonal);
    free(ch->by_row);
    free(ch->by_col);
    free(ch->some);
    grid_free(&ch->grid);
    free(ch);
}

const struct app cholesky_app = {.name = "cholesky",
                                 .first = HOW_BLOCKING,
                                 .last = HOW_BLOCKING,
                                 .open = cholesky_open,
                                 .reset = cholesky_reset,
                                 .run = cholesky_run,
                                 .check = cholesky_check,
                                 .close = cholesky_close};
