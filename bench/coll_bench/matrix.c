/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank makes its own rows; both ends of a pair come to the same entry,
 * because all of it follows from the pair's number. */
#include "matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAIR_ROW = 1, PAIR_REACH, PAIR_VALUE, TAG = 1 };

/* Called for entries beside the diagonal of rows of this rank. */
typedef void see_f(struct matrix *matrix, int row, int column, double value);

static int first_of(int order, int size, int rank)
{
    return (int) ((long) order * rank / size);
}

/* ---- entries ------------------------------------------------------------- */

static void see_own(struct matrix *matrix, see_f *see, int row, int column,
                    double value)
{
    if (row >= matrix->first && row < matrix->first + matrix->rows)
        see(matrix, row - matrix->first, column, value);
}

/* The neighbours of a point, in a grid whose last plane may be incomplete. */
static void see_stencil(struct matrix *matrix, see_f *see, int side)
{
    int plane = side * side;

    for (int row = matrix->first; row < matrix->first + matrix->rows; row++) {
        int own = row - matrix->first;

        if (row >= plane)
            see(matrix, own, row - plane, -1);
        if (row % plane >= side)
            see(matrix, own, row - side, -1);
        if (row % side > 0)
            see(matrix, own, row - 1, -1);
        if (row % side < side - 1 && row + 1 < matrix->order)
            see(matrix, own, row + 1, -1);
        if (row % plane < plane - side && row + side < matrix->order)
            see(matrix, own, row + side, -1);
        if (row + plane < matrix->order)
            see(matrix, own, row + plane, -1);
    }
}

/* A number below `most` that belongs to this pair. */
static int draw(int pair, int what, int most)
{
    double drawn = value_at((uint64_t) pair, (uint64_t) what, 0) / 2 + 0.5;
    int number = (int) (drawn * most);

    return number < most ? number : most - 1;
}

static void see_pairs(struct matrix *matrix, see_f *see, int pairs, int reach)
{
    for (int pair = 0; pair < pairs; pair++) {
        int row = draw(pair, PAIR_ROW, matrix->order);
        int column = row + 1 + draw(pair, PAIR_REACH, reach);
        double value = value_at((uint64_t) pair, PAIR_VALUE, 0);

        if (column >= matrix->order)
            continue;
        see_own(matrix, see, row, column, value);
        see_own(matrix, see, column, row, value);
    }
}

static void see_all(const struct bench *bench, struct matrix *matrix,
                    see_f *see)
{
    const struct options *opt = &bench->opt;
    int side = (int) cbrt(matrix->order + 0.5);
    int reach = opt->reach ? opt->reach : side * side;

    side += side < 1;
    see_stencil(matrix, see, side);
    see_pairs(matrix, see, (int) ((long) matrix->order * opt->extra / 100),
              reach);
}

static void count_entry(struct matrix *matrix, int row, int column,
                        double value)
{
    (void) column;
    matrix->start[row + 1]++;
    matrix->diagonal[row] += fabs(value);
    matrix->entries++;
}

/* start[row] is where the next one goes; in the end, where the next row begins.
 */
static void keep_entry(struct matrix *matrix, int row, int column, double value)
{
    int at = matrix->start[row]++;

    matrix->column[at] = column;
    matrix->value[at] = value;
}

static void fill(const struct bench *bench, struct matrix *matrix)
{
    size_t rows = (size_t) matrix->rows;

    matrix->start = zeros(rows + 1, sizeof(int));
    matrix->diagonal = zeros(rows, sizeof(double));
    see_all(bench, matrix, count_entry);
    for (size_t row = 0; row < rows; row++) {
        matrix->start[row + 1] += matrix->start[row];
        matrix->diagonal[row] += bench->opt.shift / 1000.0;
    }
    matrix->column = zeros((size_t) matrix->entries, sizeof(int));
    matrix->value = zeros((size_t) matrix->entries, sizeof(double));
    see_all(bench, matrix, keep_entry);
    memmove(matrix->start + 1, matrix->start, rows * sizeof(int));
    matrix->start[0] = 0;
    matrix->entries += matrix->rows;
}

/* ---- neighbours ---------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    int x = *(const int *) a, y = *(const int *) b;

    return (x > y) - (x < y);
}

static bool is_own(const struct matrix *matrix, int column)
{
    return column >= matrix->first && column < matrix->first + matrix->rows;
}

/* The columns of other ranks, in order, each once; sets needed. */
static int *find_needed(struct matrix *matrix)
{
    int n = matrix->start[matrix->rows], found = 0;
    int *needed = zeros((size_t) n, sizeof(int));

    for (int i = 0; i < n; i++)
        if (!is_own(matrix, matrix->column[i]))
            needed[found++] = matrix->column[i];
    qsort(needed, (size_t) found, sizeof(int), compare);
    for (int i = 0; i < found; i++)
        if (i == 0 || needed[i] != needed[matrix->needed - 1])
            needed[matrix->needed++] = needed[i];
    return needed;
}

/* From numbers in the whole to places in a vector of this rank. */
static void renumber(struct matrix *matrix, const int *needed)
{
    for (int i = 0; i < matrix->start[matrix->rows]; i++) {
        int *column = &matrix->column[i];

        if (is_own(matrix, *column))
            *column -= matrix->first;
        else
            *column = matrix->rows +
                      (int) ((const int *) bsearch(column, needed,
                                                   (size_t) matrix->needed,
                                                   sizeof(int), compare) -
                             needed);
    }
}

/* How many of the needed ones each rank has. */
static void count_needed(const struct bench *bench, const struct matrix *matrix,
                         const int *needed, int *counts)
{
    int rank = 0;

    for (int i = 0; i < matrix->needed; i++) {
        while (needed[i] >= first_of(matrix->order, bench->size, rank + 1))
            rank++;
        counts[rank]++;
    }
}

/* Tell each neighbour which rows are wanted of it. */
static void ask(struct matrix *matrix, const int *needed)
{
    int n = 0;

    for (int i = 0; i < matrix->n_neighbours; i++) {
        struct neighbour *other = &matrix->neighbours[i];

        MPI_Irecv(other->rows, other->sent, MPI_INT, other->rank, TAG,
                  MPI_COMM_WORLD, &matrix->requests[n++]);
        MPI_Isend(needed + other->first - matrix->rows, other->received,
                  MPI_INT, other->rank, TAG, MPI_COMM_WORLD,
                  &matrix->requests[n++]);
    }
    wait_all(n, matrix->requests);
    for (int i = 0; i < matrix->n_neighbours; i++)
        for (int k = 0; k < matrix->neighbours[i].sent; k++)
            matrix->neighbours[i].rows[k] -= matrix->first;
}

static void meet_neighbours(const struct bench *bench, struct matrix *matrix,
                            const int *needed)
{
    int *received = zeros((size_t) bench->size, sizeof(int));
    int *sent = zeros((size_t) bench->size, sizeof(int));
    int at = matrix->rows, all_sent = 0;

    count_needed(bench, matrix, needed, received);
    MPI_Alltoall(received, 1, MPI_INT, sent, 1, MPI_INT, MPI_COMM_WORLD);
    matrix->neighbours = zeros((size_t) bench->size,
                               sizeof(*matrix->neighbours));
    matrix->requests = zeros(2 * (size_t) bench->size, sizeof(MPI_Request));
    for (int rank = 0; rank < bench->size; rank++) {
        if (!received[rank] && !sent[rank])
            continue;
        matrix->neighbours[matrix->n_neighbours++] = (struct neighbour){
            rank, sent[rank], received[rank],
            zeros((size_t) sent[rank], sizeof(int)), at};
        at += received[rank];
        all_sent += sent[rank];
    }
    matrix->send = zeros((size_t) all_sent, sizeof(double));
    ask(matrix, needed);
    free(received);
    free(sent);
}

struct matrix *matrix_make(const struct bench *bench)
{
    struct matrix *matrix = zeros(1, sizeof(*matrix));
    int *needed;

    matrix->order = bench->opt.n;
    matrix->first = first_of(matrix->order, bench->size, bench->rank);
    matrix->rows = first_of(matrix->order, bench->size, bench->rank + 1) -
                   matrix->first;
    fill(bench, matrix);
    needed = find_needed(matrix);
    renumber(matrix, needed);
    meet_neighbours(bench, matrix, needed);
    free(needed);
    return matrix;
}

void matrix_free(struct matrix *matrix)
{
    for (int i = 0; i < matrix->n_neighbours; i++)
        free(matrix->neighbours[i].rows);
    free(matrix->neighbours);
    free(matrix->requests);
    free(matrix->send);
    free(matrix->start);
    free(matrix->diagonal);
    free(matrix->column);
    free(matrix->value);
    free(matrix);
}

/* ---- the product --------------------------------------------------------- */

static void exchange_halo(const struct matrix *matrix, double *in)
{
    double *send = matrix->send;
    int n = 0;

    for (int i = 0; i < matrix->n_neighbours; i++) {
        const struct neighbour *other = &matrix->neighbours[i];

        MPI_Irecv(in + other->first, other->received, MPI_DOUBLE, other->rank,
                  TAG, MPI_COMM_WORLD, &matrix->requests[n++]);
        for (int k = 0; k < other->sent; k++)
            send[k] = in[other->rows[k]];
        MPI_Isend(send, other->sent, MPI_DOUBLE, other->rank, TAG,
                  MPI_COMM_WORLD, &matrix->requests[n++]);
        send += other->sent;
    }
    wait_all(n, matrix->requests);
}

void matrix_multiply(struct bench *bench, const struct matrix *matrix,
                     double *in, double *out)
{
    SPEND(bench, IN_HALO, exchange_halo(matrix, in));
    for (int row = 0; row < matrix->rows; row++) {
        double sum = matrix->diagonal[row] * in[row];

        for (int i = matrix->start[row]; i < matrix->start[row + 1]; i++)
            sum += matrix->value[i] * in[matrix->column[i]];
        out[row] = sum;
    }
}
