/* SPDX-License-Identifier: BSD-3-Clause */
/* Each creator makes a type with MPI, and a map in the plainest way, with and
 * without large counts. The only thing that MPI is asked is the extent of the
 * types that another is made of. */
#include "pack.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 12, DIMS_MAX = 4 };

/* What a creator works with. */
struct making {
    struct prng *prng;
    size_t bytes; /* of the new type, at most */
    int depth;
    struct made inner; /* the first type it is made of */
    long extent;       /* of that */
    bool large;        /* use the creator with suffix _c */
    struct made made;
};

__attribute__((format(printf, 2, 3))) static void say(struct making *m,
                                                      const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(m->made.text, TEXT_MAX, format, ap);
    va_end(ap);
}

static long extent_of(MPI_Datatype type)
{
    MPI_Aint lb, extent;

    MPI_Type_get_extent(type, &lb, &extent);
    return (long) extent;
}

/* How many of the inner type still fit; a few at most. */
static int some(struct making *m, int most)
{
    size_t left = m->bytes > m->made.map.n ? m->bytes - m->made.map.n : 0;
    size_t fit = m->inner.map.n ? left / m->inner.map.n : (size_t) most;

    if (prng_chance(m->prng, 8))
        return 0;
    return prng_below(
        m->prng, (int) (fit < (size_t) most ? fit + 1 : (size_t) most + 1));
}

/* MPICH 4.0 divides by zero where an empty type is inside, and mistakes the
 * displacements of negative extents in MPI_Type_create_indexed_block(). */
static void inherit(struct made *made, const struct made *inner)
{
    made->is_odd = made->is_odd || inner->is_odd || !inner->map.n ||
                   extent_of(inner->type) < 0;
}

static void add_run(struct making *m, const struct map *map, long n,
                    long extent, long at)
{
    for (long i = 0; i < n; i++)
        map_add(&m->made.map, map, at + i * extent);
}

/* ---- basic types ---------------------------------------------------------- */

struct pair_of_long_double {
    long double value;
    int index;
};

static const struct {
    MPI_Datatype type;
    const char *name;
    int size, second, second_size; /* second: a pair's index */
    bool has_padding;              /* which MPI need not copy */
} basics[] = {
    {MPI_CHAR, "char", 1, 0, 0, false},
    {MPI_BYTE, "byte", 1, 0, 0, false},
    {MPI_SHORT, "short", 2, 0, 0, false},
    {MPI_INT, "int", 4, 0, 0, false},
    {MPI_DOUBLE, "double", 8, 0, 0, false},
    {MPI_INT64_T, "int64", 8, 0, 0, false},
    {MPI_C_DOUBLE_COMPLEX, "complex", 16, 0, 0, false},
    {MPI_LONG_DOUBLE, "long_double", sizeof(long double), 0, 0, true},
    {MPI_PACKED, "packed", 1, 0, 0, false},
    {MPI_2INT, "2int", 8, 0, 0, false},
    {MPI_SHORT_INT, "short_int", 2, 4, 4, false},
    {MPI_DOUBLE_INT, "double_int", 8, 8, 4, false},
    {MPI_FLOAT_INT, "float_int", 4, 4, 4, false},
    {MPI_LONG_INT, "long_int", 8, 8, 4, false},
    {MPI_LONG_DOUBLE_INT, "long_double_int", sizeof(long double),
     offsetof(struct pair_of_long_double, index), 4, true},
};

static struct made make_basic(struct prng *prng)
{
    int k = prng_below(prng, sizeof(basics) / sizeof(basics[0]));
    struct made made = {
        .type = basics[k].type,
        .is_named = true,
        .is_odd = basics[k].has_padding,
        .text = strdup(basics[k].name),
    };
    const struct map byte = {1, (long[]){0}};

    for (int i = 0; i < basics[k].size; i++)
        map_add(&made.map, &byte, i);
    for (int i = 0; i < basics[k].second_size; i++)
        map_add(&made.map, &byte, basics[k].second + i);
    return made;
}

/* ---- loops ---------------------------------------------------------------- */

static void make_dup(struct making *m)
{
    MPI_Type_dup(m->inner.type, &m->made.type);
    add_run(m, &m->inner.map, 1, 0, 0);
    say(m, "dup(%s)", m->inner.text);
}

static void make_contiguous(struct making *m)
{
    int n = some(m, 20);

    if (m->large)
        MPI_Type_contiguous_c(n, m->inner.type, &m->made.type);
    else
        MPI_Type_contiguous(n, m->inner.type, &m->made.type);
    add_run(m, &m->inner.map, n, m->extent, 0);
    say(m, "contiguous(%d, %s)", n, m->inner.text);
}

/* The lower bound may be negative, the extent shorter than the data or 0. */
static void make_resized(struct making *m)
{
    int lb = prng_range(m->prng, -40, 40);
    int extent = prng_chance(m->prng, 30)
                     ? prng_range(m->prng, -30, 60)
                     : (int) m->extent + prng_range(m->prng, 0, 30);

    if (m->large)
        MPI_Type_create_resized_c(m->inner.type, lb, extent, &m->made.type);
    else
        MPI_Type_create_resized(m->inner.type, lb, extent, &m->made.type);
    add_run(m, &m->inner.map, 1, 0, 0);
    say(m, "resized(%d, %d, %s)", lb, extent, m->inner.text);
}

/* One in three touches or overlaps itself. */
static int random_stride(struct making *m, int block)
{
    switch (prng_below(m->prng, 6)) {
    case 0:
        return block;
    case 1:
        return prng_range(m->prng, -2 * block - 3, block);
    default:
        return block + prng_range(m->prng, 1, 2 * block + 3);
    }
}

static void make_vector(struct making *m)
{
    int block = some(m, 6);
    int n = block ? some(m, 24) / block : prng_below(m->prng, 5);
    int stride = random_stride(m, block);

    if (m->large)
        MPI_Type_vector_c(n, block, stride, m->inner.type, &m->made.type);
    else
        MPI_Type_vector(n, block, stride, m->inner.type, &m->made.type);
    for (int i = 0; i < n; i++)
        add_run(m, &m->inner.map, block, m->extent, i * stride * m->extent);
    say(m, "vector(%d, %d, %d, %s)", n, block, stride, m->inner.text);
}

static void make_hvector(struct making *m)
{
    int block = some(m, 6);
    int n = block ? some(m, 24) / block : prng_below(m->prng, 5);
    int stride = prng_chance(m->prng, 30)
                     ? prng_range(m->prng, -100, 100)
                     : random_stride(m, block) * (int) m->extent;

    if (m->large)
        MPI_Type_create_hvector_c(n, block, stride, m->inner.type,
                                  &m->made.type);
    else
        MPI_Type_create_hvector(n, block, stride, m->inner.type, &m->made.type);
    for (int i = 0; i < n; i++)
        add_run(m, &m->inner.map, block, m->extent, (long) i * stride);
    say(m, "hvector(%d, %d, %d, %s)", n, block, stride, m->inner.text);
}

/* ---- lists ---------------------------------------------------------------- */

/* A list in the types of all creators. */
struct list {
    int n;
    int length[ENTRIES_MAX];
    long at[ENTRIES_MAX];
    int narrow_at[ENTRIES_MAX];
    MPI_Aint wide_at[ENTRIES_MAX];
    MPI_Count large_length[ENTRIES_MAX], large_at[ENTRIES_MAX];
};

/* Regular, ascending with gaps of all sizes, or in any order; lengths may be
 * 0. `unit` is what a displacement counts, as far as it should be disjoint. */
static struct list random_list(struct making *m, bool equal, int unit)
{
    struct list list = {.n = prng_below(m->prng, ENTRIES_MAX + 1)};
    int kind = prng_below(m->prng, 4), length = some(m, 4);
    long at = prng_range(m->prng, -5, 20);
    size_t left = m->bytes > m->made.map.n ? m->bytes - m->made.map.n : 0;

    for (int i = 0; i < list.n; i++) {
        if (!equal && kind != 0)
            length = some(m, 4);
        if ((size_t) length * m->inner.map.n > left)
            length = equal ? length : 0;
        if (equal && (size_t) length * m->inner.map.n > left) {
            list.n = i;
            break;
        }
        left -= (size_t) length * m->inner.map.n;
        list.length[i] = length;
        list.at[i] = kind == 3 ? prng_range(m->prng, -60, 200) : at;
        at += (long) unit * length;
        at += kind == 0 ? unit
                        : prng_chance(m->prng, 60) * prng_below(m->prng, 9);
    }
    for (int i = 0; i < list.n; i++) {
        list.large_length[i] = list.length[i];
        list.large_at[i] = list.wide_at[i] = list.at[i];
        list.narrow_at[i] = (int) list.at[i];
    }
    return list;
}

static void add_list(struct making *m, const struct list *list, long unit,
                     const char *name)
{
    char entries[ENTRIES_MAX * 24] = "";

    for (int i = 0; i < list->n; i++) {
        add_run(m, &m->inner.map, list->length[i], m->extent,
                list->at[i] * unit);
        snprintf(entries + strlen(entries), sizeof(entries) - strlen(entries),
                 " %dx@%ld", list->length[i], list->at[i]);
    }
    say(m, "%s(%s, %s)", name, entries, m->inner.text);
}

static void make_indexed(struct making *m)
{
    struct list l = random_list(m, false, 1);

    if (m->large)
        MPI_Type_indexed_c(l.n, l.large_length, l.large_at, m->inner.type,
                           &m->made.type);
    else
        MPI_Type_indexed(l.n, l.length, l.narrow_at, m->inner.type,
                         &m->made.type);
    add_list(m, &l, m->extent, "indexed");
}

static void make_hindexed(struct making *m)
{
    struct list l = random_list(m, false, (int) m->extent);

    if (m->large)
        MPI_Type_create_hindexed_c(l.n, l.large_length, l.large_at,
                                   m->inner.type, &m->made.type);
    else
        MPI_Type_create_hindexed(l.n, l.length, l.wide_at, m->inner.type,
                                 &m->made.type);
    add_list(m, &l, 1, "hindexed");
}

static void make_indexed_block(struct making *m)
{
    struct list l = random_list(m, true, 1);
    int length = l.n ? l.length[0] : 1;

    if (m->large)
        MPI_Type_create_indexed_block_c(l.n, length, l.large_at, m->inner.type,
                                        &m->made.type);
    else
        MPI_Type_create_indexed_block(l.n, length, l.narrow_at, m->inner.type,
                                      &m->made.type);
    add_list(m, &l, m->extent, "indexed_block");
}

static void make_hindexed_block(struct making *m)
{
    struct list l = random_list(m, true, (int) m->extent);
    int length = l.n ? l.length[0] : 1;

    if (m->large)
        MPI_Type_create_hindexed_block_c(l.n, length, l.large_at, m->inner.type,
                                         &m->made.type);
    else
        MPI_Type_create_hindexed_block(l.n, length, l.wide_at, m->inner.type,
                                       &m->made.type);
    add_list(m, &l, 1, "hindexed_block");
}

/* Of two types in turn, or of one. */
static void make_struct(struct making *m)
{
    struct list l = random_list(m, false, (int) m->extent);
    size_t left = m->bytes - m->made.map.n;
    struct made other = make_type(m->prng, m->depth - 1, left / 16 + 1);
    MPI_Datatype types[ENTRIES_MAX];
    char entries[ENTRIES_MAX * 24] = "";

    for (int i = 0; i < l.n; i++) {
        const struct made *which = prng_chance(m->prng, 50) ? &other
                                                            : &m->inner;

        types[i] = which->type;
        add_run(m, &which->map, l.length[i], extent_of(which->type), l.at[i]);
        snprintf(entries + strlen(entries), sizeof(entries) - strlen(entries),
                 " %dx%c@%ld", l.length[i], which == &other ? 'b' : 'a',
                 l.at[i]);
    }
    if (m->large)
        MPI_Type_create_struct_c(l.n, l.large_length, l.large_at, types,
                                 &m->made.type);
    else
        MPI_Type_create_struct(l.n, l.length, l.wide_at, types, &m->made.type);
    inherit(&m->made, &other);
    say(m, "struct(%s, a=%s, b=%s)", entries, m->inner.text, other.text);
    free_type(&other);
}

/* ---- arrays --------------------------------------------------------------- */

struct array {
    int n, order;
    int size[DIMS_MAX], sub[DIMS_MAX], start[DIMS_MAX];
    int distrib[DIMS_MAX], darg[DIMS_MAX], processes[DIMS_MAX];
    MPI_Count large_size[DIMS_MAX], large_sub[DIMS_MAX], large_start[DIMS_MAX];
    /* the indices that are taken, in each dimension */
    int taken[DIMS_MAX], index[DIMS_MAX][64];
};

/* The elements of an array at the taken indices, the fastest dimension first.
 * `left` dimensions are to come, the slowest of them next. */
static void add_array(struct making *m, const struct array *a, int left,
                      long at)
{
    int d, slow;
    long stride = m->extent;

    if (left == 0) {
        map_add(&m->made.map, &m->inner.map, at);
        return;
    }
    slow = left - 1;
    for (int i = 0; i < slow; i++)
        stride *= a->size[a->order == MPI_ORDER_C ? a->n - 1 - i : i];
    d = a->order == MPI_ORDER_C ? a->n - 1 - slow : slow;
    for (int i = 0; i < a->taken[d]; i++)
        add_array(m, a, left - 1, at + a->index[d][i] * stride);
}

static int random_dims(struct making *m, struct array *a)
{
    a->order = prng_chance(m->prng, 50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    a->n = prng_range(m->prng, 1, DIMS_MAX);
    return m->inner.map.n ? (int) (m->bytes / m->inner.map.n) : 50;
}

static void say_array(struct making *m, const char *name, const struct array *a)
{
    char dims[DIMS_MAX * 80] = "";

    for (int d = 0; d < a->n; d++)
        snprintf(dims + strlen(dims), sizeof(dims) - strlen(dims),
                 " %d:%d+%d/%d,%d,%d", a->size[d], a->start[d], a->sub[d],
                 a->distrib[d], a->darg[d], a->processes[d]);
    say(m, "%s(%s,%s, %s)", name, a->order == MPI_ORDER_C ? "C" : "F", dims,
        m->inner.text);
}

static void make_subarray(struct making *m)
{
    struct array a = {0};
    int fit = random_dims(m, &a);

    for (int d = 0; d < a.n; d++) {
        a.size[d] = prng_range(m->prng, 1, 9);
        a.sub[d] = prng_range(m->prng, 1, a.size[d]);
        if (a.sub[d] > fit)
            a.sub[d] = 1;
        fit /= a.sub[d];
        a.start[d] = prng_range(m->prng, 0, a.size[d] - a.sub[d]);
        a.taken[d] = a.sub[d];
        for (int i = 0; i < a.sub[d]; i++)
            a.index[d][i] = a.start[d] + i;
        a.large_size[d] = a.size[d];
        a.large_sub[d] = a.sub[d];
        a.large_start[d] = a.start[d];
    }
    if (m->large)
        MPI_Type_create_subarray_c(a.n, a.large_size, a.large_sub,
                                   a.large_start, a.order, m->inner.type,
                                   &m->made.type);
    else
        MPI_Type_create_subarray(a.n, a.size, a.sub, a.start, a.order,
                                 m->inner.type, &m->made.type);
    add_array(m, &a, a.n, 0);
    say_array(m, "subarray", &a);
}

/* Index i of a dimension belongs to process i / block % processes. */
static void distribute(struct array *a, int d, int mine)
{
    int block = a->darg[d];

    if (a->distrib[d] == MPI_DISTRIBUTE_NONE)
        block = a->size[d];
    else if (block == MPI_DISTRIBUTE_DFLT_DARG)
        block = a->distrib[d] == MPI_DISTRIBUTE_BLOCK
                    ? (a->size[d] + a->processes[d] - 1) / a->processes[d]
                    : 1;
    for (int i = 0; i < a->size[d]; i++)
        if (i / block % a->processes[d] == mine)
            a->index[d][a->taken[d]++] = i;
    a->start[d] = mine;
}

static void random_distribution(struct making *m, struct array *a, int d)
{
    static const int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC,
                                MPI_DISTRIBUTE_NONE};

    a->distrib[d] = kinds[prng_below(m->prng, 3)];
    a->processes[d] = a->distrib[d] == MPI_DISTRIBUTE_NONE
                          ? 1
                          : prng_range(m->prng, 1, 3);
    a->darg[d] = MPI_DISTRIBUTE_DFLT_DARG;
    if (prng_chance(m->prng, 50)) {
        int least = a->distrib[d] == MPI_DISTRIBUTE_BLOCK
                        ? (a->size[d] + a->processes[d] - 1) / a->processes[d]
                        : 1;

        a->darg[d] = prng_range(m->prng, least, least + 2);
    }
}

static void make_darray(struct making *m)
{
    struct array a = {0};
    int fit = random_dims(m, &a), size = 1, rank = 0;

    for (int d = 0; d < a.n; d++) {
        int mine;

        a.size[d] = prng_range(m->prng, 1, fit < 9 ? 1 : 9);
        fit /= a.size[d];
        random_distribution(m, &a, d);
        mine = prng_below(m->prng, a.processes[d]);
        rank = rank * a.processes[d] + mine;
        size *= a.processes[d];
        distribute(&a, d, mine);
        a.large_size[d] = a.size[d];
    }
    if (m->large)
        MPI_Type_create_darray_c(size, rank, a.n, a.large_size, a.distrib,
                                 a.darg, a.processes, a.order, m->inner.type,
                                 &m->made.type);
    else
        MPI_Type_create_darray(size, rank, a.n, a.size, a.distrib, a.darg,
                               a.processes, a.order, m->inner.type,
                               &m->made.type);
    add_array(m, &a, a.n, 0);
    say_array(m, "darray", &a);
}

/* ---- all of them ---------------------------------------------------------- */

static struct {
    const char *name;
    void (*make)(struct making *);
    long used, used_large;
} creators[] = {
    {"dup", make_dup, 0, 0},
    {"contiguous", make_contiguous, 0, 0},
    {"resized", make_resized, 0, 0},
    {"vector", make_vector, 0, 0},
    {"hvector", make_hvector, 0, 0},
    {"indexed", make_indexed, 0, 0},
    {"hindexed", make_hindexed, 0, 0},
    {"indexed_block", make_indexed_block, 0, 0},
    {"hindexed_block", make_hindexed_block, 0, 0},
    {"struct", make_struct, 0, 0},
    {"subarray", make_subarray, 0, 0},
    {"darray", make_darray, 0, 0},
};

struct made make_type(struct prng *prng, int depth, size_t bytes)
{
    struct making m = {.prng = prng, .bytes = bytes, .depth = depth};
    int k = prng_below(prng, sizeof(creators) / sizeof(creators[0]));

    if (depth <= 0 || prng_chance(prng, 10))
        return make_basic(prng);
    m.large = prng_chance(prng, 40);
    m.inner = make_type(prng, depth - 1,
                        bytes / (size_t) prng_range(prng, 1, 6));
    m.extent = extent_of(m.inner.type);
    inherit(&m.made, &m.inner);
    m.made.text = malloc(TEXT_MAX);
    creators[k].make(&m);
    creators[k].used++;
    creators[k].used_large += m.large;
    free_type(&m.inner);
    return m.made;
}

void free_type(struct made *made)
{
    if (!made->is_named)
        MPI_Type_free(&made->type);
    map_free(&made->map);
    free(made->text);
}

void print_creators(void)
{
    for (size_t i = 0; i < sizeof(creators) / sizeof(creators[0]); i++)
        printf("%s: %ld, with large counts %ld\n", creators[i].name,
               creators[i].used, creators[i].used_large);
}
