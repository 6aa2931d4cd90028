/* SPDX-License-Identifier: BSD-3-Clause */
/* What the applications share: a grid of ranks, memory, waits, refusals. */
#include "bench.h"

#include "bench/buffer.h"

#include <stdio.h>
#include <stdlib.h>

void need(const struct bench *bench, bool holds, const char *what)
{
    if (holds)
        return;
    if (bench->rank == 0)
        fprintf(stderr, "coll_app: '%s' with %d ranks: %s\n", bench->spec,
                bench->size, what);
    MPI_Finalize(); /* all came to the same */
    exit(2);
}

void *zeros(size_t n, size_t bytes)
{
    return buffer_pages(n * bytes);
}

void wait_all(int n, MPI_Request *requests)
{
    for (int i = 0; i < n; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

/* The greatest number of rows that divides `size` and is at most as many as
 * there are columns. */
static int squarest(int size)
{
    int rows = 1;

    for (int r = 1; r * r <= size; r++)
        if (size % r == 0)
            rows = r;
    return rows;
}

void grid_make(const struct bench *bench, struct grid *out)
{
    out->rows = bench->opt.rows ? bench->opt.rows : squarest(bench->size);
    need(bench, bench->size % out->rows == 0, "rows must divide the ranks");
    out->cols = bench->size / out->rows;
    out->row = bench->rank / out->cols;
    out->col = bench->rank % out->cols;
    MPI_Comm_split(MPI_COMM_WORLD, out->row, out->col, &out->row_team);
    MPI_Comm_split(MPI_COMM_WORLD, out->col, out->row, &out->col_team);
}

void grid_free(struct grid *grid)
{
    MPI_Comm_free(&grid->row_team);
    MPI_Comm_free(&grid->col_team);
}
