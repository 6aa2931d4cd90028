/* SPDX-License-Identifier: BSD-3-Clause */
/* Derived datatypes of one predefined type: where each element lies, for the
 * model, and the MPI datatype that says the same, for the call. */
#include "random.h"

void layout_plain(struct layout *layout, int n)
{
    *layout = (struct layout){PLAIN, n, 1, {0}, {1}, 1, 1, 0};
}

/* The largest divisor of n up to a random bound. */
static int divisor(struct prng *prng, int n)
{
    int d = prng_range(prng, 1, MAX_BLOCKS);

    while (n % d)
        d--;
    return d;
}

/* Blocks of equal length at equal distances. */
static void even(struct layout *layout, struct prng *prng, int m)
{
    int blocks = divisor(prng, m), len = m / blocks;
    int stride = len + prng_below(prng, 4);

    layout->blocks = blocks;
    for (int i = 0; i < blocks; i++) {
        layout->at[i] = i * stride;
        layout->len[i] = len;
    }
    layout->extent = (blocks - 1) * stride + len;
}

/* A window of a two-dimensional array, in rows; the first starts anywhere. */
static void rows(struct layout *layout, struct prng *prng, int m)
{
    int blocks = divisor(prng, m), len = m / blocks;
    int columns = len + prng_below(prng, 3);
    int first = prng_below(prng, columns - len + 1);
    int above = prng_below(prng, 2), below = prng_below(prng, 2);

    layout->blocks = blocks;
    for (int i = 0; i < blocks; i++) {
        layout->at[i] = (above + i) * columns + first;
        layout->len[i] = len;
    }
    layout->extent = (above + blocks + below) * columns;
    layout->shift = columns; /* kept for layout_build */
}

/* Blocks of random lengths, with gaps, in random order of addresses. */
static void uneven(struct layout *layout, struct prng *prng, int m)
{
    int blocks = prng_range(prng, 1, m < MAX_BLOCKS ? m : MAX_BLOCKS);
    int left = m, at = 0;

    layout->blocks = blocks;
    for (int i = 0; i < blocks; i++) {
        int spare = left - (blocks - 1 - i);
        int len = i == blocks - 1 ? left : prng_range(prng, 1, spare);

        layout->at[i] = at;
        layout->len[i] = len;
        left -= len;
        at += len + prng_below(prng, 3);
        layout->extent = layout->at[i] + len;
    }
    for (int i = blocks - 1; i > 0; i--) {
        int j = prng_below(prng, i + 1);
        int swap_at = layout->at[i], swap_len = layout->len[i];

        layout->at[i] = layout->at[j];
        layout->len[i] = layout->len[j];
        layout->at[j] = swap_at;
        layout->len[j] = swap_len;
    }
}

static void fill_shape(struct layout *layout, struct prng *prng, int n)
{
    int single = layout->shape == HINDEXED || layout->shape == ABSOLUTE;
    int count = single ? 1 : divisor(prng, n), m = n / count;

    layout->count = count;
    layout->per = m;
    switch (layout->shape) {
    case PLAIN:
    case SHAPES:
        layout_plain(layout, n);
        break;
    case CONTIGUOUS:
    case RESIZED:
        layout->blocks = 1;
        layout->at[0] = 0;
        layout->len[0] = m;
        layout->extent = m;
        if (layout->shape == RESIZED)
            layout->extent += prng_below(prng, 4);
        break;
    case VECTOR:
        even(layout, prng, m);
        break;
    case SUBARRAY:
        rows(layout, prng, m);
        break;
    case INDEXED:
    case HINDEXED:
    case STRUCT:
    case ABSOLUTE:
        uneven(layout, prng, m);
        break;
    }
}

void layout_random(struct layout *layout, struct prng *prng, int n, int slots,
                   int shift, int of_origin)
{
    for (int tries = 0; n > 0 && tries < 4; tries++) {
        enum shape shape = (enum shape) prng_below(prng, of_origin ? SHAPES
                                                                   : ABSOLUTE);

        if (tries == 3 && !shift)
            break;
        *layout = (struct layout){0};
        layout->shape = shift ? HINDEXED : shape;
        fill_shape(layout, prng, n);
        if (layout_span(layout) <= slots) {
            if (shift)
                layout->shift = shift;
            return;
        }
    }
    layout_plain(layout, n);
    if (shift) { /* one block behind the bytes to skip */
        layout->shape = HINDEXED;
        layout->count = 1;
        layout->per = layout->len[0] = layout->extent = n;
        layout->shift = shift;
    }
}

int layout_slot(const struct layout *layout, int i)
{
    int in = i % layout->per, b = 0;

    while (in >= layout->len[b])
        in -= layout->len[b++];
    return i / layout->per * layout->extent + layout->at[b] + in;
}

int layout_span(const struct layout *layout)
{
    int end = 0;

    for (int b = 0; b < layout->blocks; b++)
        if (layout->at[b] + layout->len[b] > end)
            end = layout->at[b] + layout->len[b];
    return layout->count ? (layout->count - 1) * layout->extent + end : 0;
}

/* hindexed, struct and absolute: displacements in bytes */
static void build_bytes(const struct layout *layout, const struct type *type,
                        const void *absolute, MPI_Datatype *out)
{
    MPI_Aint at[MAX_BLOCKS], from = layout->shift;
    MPI_Datatype basic[MAX_BLOCKS];

    if (layout->shape == ABSOLUTE)
        MPI_Get_address(absolute, &from);
    for (int b = 0; b < layout->blocks; b++) {
        at[b] = from + (MPI_Aint) layout->at[b] * type->extent;
        basic[b] = type->mpi;
    }
    if (layout->shape == STRUCT)
        MPI_Type_create_struct(layout->blocks, layout->len, at, basic, out);
    else
        MPI_Type_create_hindexed(layout->blocks, layout->len, at, type->mpi,
                                 out);
}

static void build_rows(const struct layout *layout, const struct type *type,
                       MPI_Datatype *out)
{
    int columns = layout->shift, first = layout->at[0];
    int sizes[2] = {layout->extent / columns, columns};
    int part[2] = {layout->blocks, layout->len[0]};
    int start[2] = {first / columns, first % columns};

    MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, type->mpi,
                             out);
}

static void build_resized(const struct layout *layout, const struct type *type,
                          MPI_Datatype *out)
{
    MPI_Datatype inner;

    MPI_Type_contiguous(layout->per, type->mpi, &inner);
    MPI_Type_create_resized(inner, 0, (MPI_Aint) layout->extent * type->extent,
                            out);
    MPI_Type_free(&inner);
}

MPI_Datatype layout_build(const struct layout *layout, const struct type *type,
                          const void *absolute)
{
    MPI_Datatype out = type->mpi;
    int stride = layout->blocks > 1 ? layout->at[1] - layout->at[0] : 1;

    switch (layout->shape) {
    case PLAIN:
    case SHAPES:
        return out;
    case CONTIGUOUS:
        MPI_Type_contiguous(layout->per, type->mpi, &out);
        break;
    case VECTOR:
        MPI_Type_vector(layout->blocks, layout->len[0], stride, type->mpi,
                        &out);
        break;
    case INDEXED:
        MPI_Type_indexed(layout->blocks, layout->len, layout->at, type->mpi,
                         &out);
        break;
    case HINDEXED:
    case STRUCT:
    case ABSOLUTE:
        build_bytes(layout, type, absolute, &out);
        break;
    case SUBARRAY:
        build_rows(layout, type, &out);
        break;
    case RESIZED:
        build_resized(layout, type, &out);
        break;
    }
    MPI_Type_commit(&out);
    return out;
}
