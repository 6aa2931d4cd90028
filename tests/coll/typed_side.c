/* SPDX-License-Identifier: BSD-3-Clause */
#include "typed.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 512 }; /* bytes */

/* Displacements are drawn first, then the memory, then the type: one with
 * absolute addresses needs them. */
enum form {
    BASIC,
    CONTIGUOUS,
    VECTOR,      /* with gaps */
    NEGATIVE,    /* lies before the address of the call */
    INTERLEAVED, /* the next copy begins one element further */
    PERMUTED,
    STRUCT, /* with parts of no elements */
    FORMS
};

/* ---- where elements lie ------------------------------------------------- */

static char *element(const struct side *side, char *origin, int block, int i)
{
    long copy = side->first[block] + i / side->map;

    return origin + copy * side->extent + side->at[i % side->map];
}

/* Returns how many copies of the type the blocks take together. */
static int place_blocks(struct side *side, const struct wish *wish,
                        struct prng *own)
{
    int turn = wish->scattered ? prng_below(own, wish->blocks) : 0, end = 0;

    for (int i = 0; i < wish->blocks; i++) {
        int block = (i + turn) % wish->blocks;

        side->count[block] = wish->length[block] / side->map;
        side->first[block] = end + (wish->scattered ? prng_below(own, 3) : 0);
        end = side->first[block] + side->count[block];
    }
    return end > 0 ? end : 1;
}

static void shuffle(long *at, int n, struct prng *own)
{
    for (int i = n - 1; i > 0; i--) {
        int other = prng_below(own, i + 1);
        long kept = at[i];

        at[i] = at[other];
        at[other] = kept;
    }
}

static void draw_map(struct side *side, enum form form, int copies,
                     struct prng *own)
{
    long z = side->size, pad = z * prng_below(own, 3), step = z, first = 0;

    side->extent = side->map * z;
    if (form == VECTOR || form == NEGATIVE || form == PERMUTED ||
        form == STRUCT) {
        step = z * prng_range(own, 2, 3);
        side->extent = side->map * step + pad;
    }
    if (form == NEGATIVE)
        first = -z * prng_range(own, 1, 2 * side->map);
    if (form == INTERLEAVED) {
        step = copies * z;
        side->extent = z;
        first = prng_chance(own, 30) ? -3 * z : 0;
    }
    for (int i = 0; i < side->map; i++)
        side->at[i] = first + i * step;
    if (form == PERMUTED)
        shuffle(side->at, side->map, own);
}

/* ---- memory ------------------------------------------------------------- */

static void take_memory(struct side *side, int copies)
{
    long low = 0, high = 0;

    for (int i = 0; i < side->map; i++)
        for (int end = 0; end < 2; end++) {
            long at = side->at[i] + (end ? copies - 1 : 0) * side->extent;

            low = at < low ? at : low;
            high = at + side->size > high ? at + side->size : high;
        }
    low = low / 16 * 16; /* an element is aligned as its type wants it */
    side->bytes = (size_t) (high - low) + 2 * GUARD;
    side->memory = malloc(side->bytes);
    side->wanted = malloc(side->bytes);
    side->origin = side->memory + GUARD - low;
    for (size_t i = 0; i < side->bytes; i++)
        side->memory[i] = (char) (0x5a + i * 7);
}

/* ---- types -------------------------------------------------------------- */

static MPI_Datatype by_addresses(const struct side *side)
{
    MPI_Aint at[MAP_MOST];
    MPI_Datatype type;

    for (int i = 0; i < side->map; i++)
        at[i] = (MPI_Aint) side->at[i];
    MPI_Type_create_hindexed_block(side->map, 1, at, side->basic, &type);
    return type;
}

static MPI_Datatype by_parts(const struct side *side)
{
    int lengths[2 * MAP_MOST], n = 0;
    MPI_Datatype types[2 * MAP_MOST], type;
    MPI_Aint at[2 * MAP_MOST];

    for (int i = 0; i < side->map; i++) {
        lengths[n] = 0;
        types[n] = MPI_DOUBLE;
        at[n++] = 4000;
        lengths[n] = 1;
        types[n] = side->basic;
        at[n++] = (MPI_Aint) side->at[i];
    }
    MPI_Type_create_struct(n, lengths, at, types, &type);
    return type;
}

static MPI_Datatype by_stride(const struct side *side)
{
    MPI_Aint step = side->map > 1 ? (MPI_Aint) (side->at[1] - side->at[0]) : 0;
    MPI_Datatype type;

    MPI_Type_create_hvector(side->map, 1, step, side->basic, &type);
    return type;
}

static MPI_Datatype unbounded_type(const struct side *side, enum form form)
{
    MPI_Datatype type;

    if (form == CONTIGUOUS) {
        MPI_Type_contiguous(side->map, side->basic, &type);
        return type;
    }
    if (form == STRUCT)
        return by_parts(side);
    if (side->at[0] != 0 || form == PERMUTED)
        return by_addresses(side);
    return by_stride(side);
}

/* The lower bound says nothing about where elements lie. */
static void make_type(struct side *side, enum form form, struct prng *own)
{
    static const MPI_Aint lower[] = {0, 0, -16, -1000, 24};
    MPI_Datatype inner = unbounded_type(side, form);

    MPI_Type_create_resized(inner,
                            form == CONTIGUOUS ? 0 : lower[prng_below(own, 5)],
                            (MPI_Aint) side->extent, &side->type);
    MPI_Type_free(&inner);
}

static void make_absolute(struct side *side)
{
    int one = 1;
    MPI_Aint address;
    MPI_Datatype inner = side->type, moved;

    MPI_Get_address(side->origin, &address);
    MPI_Type_create_hindexed(1, &one, &address, inner, &moved);
    MPI_Type_create_resized(moved, address, (MPI_Aint) side->extent,
                            &side->type);
    MPI_Type_free(&moved);
    if (inner != side->basic)
        MPI_Type_free(&inner);
    side->buf = MPI_BOTTOM;
}

/* ---- a side ------------------------------------------------------------- */

/* Copies of a type that has no elements. */
static void make_empty(struct side *side)
{
    MPI_Type_contiguous(0, side->basic, &side->type);
    MPI_Type_commit(&side->type);
    for (int b = 0; b < side->blocks; b++)
        side->count[b] = 5;
}

static int draw_map_size(const struct wish *wish, struct prng *own)
{
    int map = 1 << prng_below(own, 5);

    while (wish->unit % map)
        map /= 2;
    return map;
}

void side_make(struct side *side, const struct wish *wish, struct prng *own)
{
    enum form form = wish->plain ? BASIC : (enum form) prng_below(own, FORMS);
    int copies, elements = 0;
    int absolute = !wish->plain && prng_chance(own, 15) &&
                   !getenv("TYPED_RELATIVE");

    *side = (struct side){
        .type = wish->basic,
        .basic = wish->basic,
        .size = wish->size,
        .blocks = wish->blocks,
        .map = form == BASIC ? 1 : draw_map_size(wish, own),
    };
    for (int b = 0; b < wish->blocks; b++)
        elements += wish->length[b];
    copies = place_blocks(side, wish, own);
    draw_map(side, form, copies, own);
    take_memory(side, copies);
    side->buf = side->origin;
    if (elements == 0 && wish->empty) {
        make_empty(side);
        return;
    }
    if (form != BASIC)
        make_type(side, form, own);
    if (absolute)
        make_absolute(side);
    if (side->type != side->basic)
        MPI_Type_commit(&side->type);
}

void side_free_type(struct side *side)
{
    if (side->type != side->basic)
        MPI_Type_free(&side->type);
    side->type = side->basic;
}

void side_free(struct side *side)
{
    side_free_type(side);
    free(side->memory);
    free(side->wanted);
}

void side_set(struct side *side, int block, int i, const void *value)
{
    memcpy(element(side, side->origin, block, i), value, (size_t) side->size);
}

void side_want(struct side *side, int block, int i, const void *value)
{
    memcpy(
        element(side, side->wanted + (side->origin - side->memory), block, i),
        value, (size_t) side->size);
}

void side_keep(struct side *side)
{
    memcpy(side->wanted, side->memory, side->bytes);
}

long side_differs(const struct side *side)
{
    for (size_t i = 0; i < side->bytes; i++)
        if (side->memory[i] != side->wanted[i])
            return (long) i - (long) (side->origin - side->memory);
    return LONG_MAX;
}
