/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of arrays: a loop or two for each dimension, the fastest innermost. */
#include "config.h"

#include "creators.h"

/* Where the arguments of MPI_Type_create_subarray() and _darray() lie among
 * the values: large counts come after the integers. */
struct array {
    int64_t ndims;
    bool fortran;                     /* the first index is fastest */
    const int64_t *sizes;             /* of the whole array */
    const int64_t *subsizes, *starts; /* subarray */
    const int64_t *distribs, *dargs, *processes; /* darray */
    int64_t rank, nprocesses;                    /* darray */
};

/* One dimension. */
struct dim {
    int64_t size;   /* of the whole array */
    int64_t stride; /* bytes from one index to the next */
};

static bool next_dim(struct dim *dim, int64_t size)
{
    bool fits = !__builtin_mul_overflow(dim->stride, dim->size, &dim->stride);

    dim->size = size;
    return fits;
}

static bool shift(struct aspx_placed *placed, int64_t index, int64_t stride)
{
    int64_t bytes;

    return !__builtin_mul_overflow(index, stride, &bytes) &&
           !__builtin_add_overflow(placed->offset, bytes, &placed->offset);
}

/* The dimension that is the i-th fastest. */
static int64_t dim_of(const struct array *a, int64_t i)
{
    return a->fortran ? i : a->ndims - 1 - i;
}

/* ---- subarray ------------------------------------------------------------- */

static struct array subarray_of(const struct aspx_contents *c)
{
    const int64_t *v = c->values, n = v[0];
    const int64_t *lists = c->large ? v + 2 : v + 1;

    return (struct array){
        .ndims = n,
        .fortran = (c->large ? v[1] : v[1 + 3 * n]) == MPI_ORDER_FORTRAN,
        .sizes = lists,
        .subsizes = lists + n,
        .starts = lists + 2 * n,
    };
}

bool aspx_create_subarray(const struct aspx_creation *c,
                          struct aspx_placed *placed)
{
    const struct array a = subarray_of(c->contents);
    struct dim dim = {.size = 1, .stride = c->inner[0].extent};

    *placed = c->inner[0].placed;
    for (int64_t i = 0; i < a.ndims; i++) {
        int64_t d = dim_of(&a, i);

        if (!next_dim(&dim, a.sizes[d]) ||
            !aspx_node_loop(c->region, (uint64_t) a.subsizes[d], dim.stride,
                            *placed, placed) ||
            !shift(placed, a.starts[d], dim.stride))
            return false;
    }
    return true;
}

/* ---- darray --------------------------------------------------------------- */

static struct array darray_of(const struct aspx_contents *c)
{
    const int64_t *v = c->values, n = v[2];
    const int64_t *lists = c->large ? v + 3 : v + 3 + n;

    return (struct array){
        .ndims = n,
        .fortran = (c->large ? lists[3 * n] : v[3 + 4 * n]) ==
                   MPI_ORDER_FORTRAN,
        .sizes = c->large ? lists + 3 * n + 1 : v + 3,
        .distribs = lists,
        .dargs = lists + n,
        .processes = lists + 2 * n,
        .rank = v[1],
        .nprocesses = v[0],
    };
}

/* Place of the process in dimension d of the grid, the last of which counts
 * fastest, whatever the order of the array. */
static int64_t coordinate(const struct array *a, int64_t d)
{
    int64_t rank = a->rank, left = a->nprocesses;

    for (int64_t i = 0; i < d; i++) {
        left /= a->processes[i];
        rank %= left;
    }
    return rank / (left / a->processes[d]);
}

/* How many indices one process has at a time. */
static int64_t block_of(const struct array *a, int64_t d)
{
    int64_t n = a->processes[d];

    if (a->distribs[d] == MPI_DISTRIBUTE_NONE)
        return a->sizes[d];
    if (a->dargs[d] != MPI_DISTRIBUTE_DFLT_DARG)
        return a->dargs[d];
    return a->distribs[d] == MPI_DISTRIBUTE_BLOCK ? (a->sizes[d] + n - 1) / n
                                                  : 1;
}

/* Every n-th block of indices from `first` on: whole blocks, and what is left
 * of the last one. */
static bool distribute(struct aspx_region *region, const struct dim *dim,
                       int64_t block, int64_t first, int64_t n,
                       struct aspx_placed *placed)
{
    int64_t mine = dim->size > first ? dim->size - first : 0, round, step;
    int64_t whole, rest;
    struct aspx_placed run, parts[2];

    if (__builtin_mul_overflow(block, n, &round) ||
        __builtin_mul_overflow(round, dim->stride, &step))
        return false;
    whole = mine / round + (mine % round >= block);
    rest = mine % round >= block ? 0 : mine % round;
    return aspx_node_loop(region, (uint64_t) block, dim->stride, *placed,
                          &run) &&
           aspx_node_loop(region, (uint64_t) whole, step, run, &parts[0]) &&
           aspx_node_loop(region, (uint64_t) rest, dim->stride, *placed,
                          &parts[1]) &&
           shift(&parts[0], first, dim->stride) &&
           shift(&parts[1], first + whole * round, dim->stride) &&
           aspx_node_list(region, parts, 2, placed);
}

bool aspx_create_darray(const struct aspx_creation *c,
                        struct aspx_placed *placed)
{
    const struct array a = darray_of(c->contents);
    struct dim dim = {.size = 1, .stride = c->inner[0].extent};

    *placed = c->inner[0].placed;
    for (int64_t i = 0; i < a.ndims; i++) {
        int64_t d = dim_of(&a, i), block = block_of(&a, d), first;

        if (!next_dim(&dim, a.sizes[d]) ||
            __builtin_mul_overflow(block, coordinate(&a, d), &first) ||
            !distribute(c->region, &dim, block, first, a.processes[d], placed))
            return false;
    }
    return true;
}
