/* SPDX-License-Identifier: BSD-3-Clause */
/* A sparse symmetric positive definite matrix, whose rows are dealt to ranks in
 * blocks: the 7-point stencil of a three-dimensional grid, with random pairs of
 * entries near the diagonal; the diagonal is greater than the others of its row
 * together. */
#ifndef ASPEN_BENCH_MATRIX_H
#define ASPEN_BENCH_MATRIX_H

#include "bench.h"

/* What this rank exchanges with another before a product. */
struct neighbour {
    int rank, sent, received; /* numbers */
    int *rows;                /* which of our own are sent */
    int first;                /* received ones are from here on in a vector */
};

/* The rows of this rank. Columns are those of its own rows, then those of
 * others that it needs, by their number in the whole. */
struct matrix {
    int order, first, rows; /* of the whole; of this rank */
    int needed;             /* of others */
    long entries;           /* of this rank, with the diagonal */
    double *diagonal, *value;
    int *start, *column; /* of the entries beside the diagonal */
    struct neighbour *neighbours;
    int n_neighbours;
    double *send;          /* room for what goes to all neighbours */
    MPI_Request *requests; /* two for each neighbour */
};

/* Collective; sizes are those of the options. Ends the job when there is no
 * memory. */
struct matrix *matrix_make(const struct bench *bench);
void matrix_free(struct matrix *matrix);

/* out = matrix * in; `in` has room for `needed` numbers behind the own ones.
 * Collective among neighbours. */
void matrix_multiply(struct bench *bench, const struct matrix *matrix,
                     double *in, double *out);

#endif
