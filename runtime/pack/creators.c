/* SPDX-License-Identifier: BSD-3-Clause */
/* One function for each creator: vectors become loops, index lists and structs
 * become lists of placed entries, and distributed arrays are loops of blocks. A
 * table leads from MPI's combiner to its function. */
#include "config.h"

#include "creators.h"

#include <stdlib.h>

/* ---- loops ---------------------------------------------------------------- */

/* A resized type is as its inner one, but for the extent, of which MPI tells.
 */
static bool create_same(const struct aspx_creation *c,
                        struct aspx_placed *placed)
{
    *placed = c->inner[0].placed;
    return true;
}

/* count */
static bool create_contiguous(const struct aspx_creation *c,
                              struct aspx_placed *placed)
{
    return aspx_node_loop(c->region, (uint64_t) c->contents->values[0],
                          c->inner[0].extent, c->inner[0].placed, placed);
}

/* count, blocklength, stride; in units of bytes. */
static bool create_strided(const struct aspx_creation *c, int64_t unit,
                           struct aspx_placed *placed)
{
    const int64_t *values = c->contents->values;
    struct aspx_placed block;
    int64_t stride;

    return !__builtin_mul_overflow(values[2], unit, &stride) &&
           aspx_node_loop(c->region, (uint64_t) values[1], c->inner[0].extent,
                          c->inner[0].placed, &block) &&
           aspx_node_loop(c->region, (uint64_t) values[0], stride, block,
                          placed);
}

static bool create_vector(const struct aspx_creation *c,
                          struct aspx_placed *placed)
{
    return create_strided(c, c->inner[0].extent, placed);
}

static bool create_hvector(const struct aspx_creation *c,
                           struct aspx_placed *placed)
{
    return create_strided(c, 1, placed);
}

/* ---- lists ---------------------------------------------------------------- */

/* A list of count entries: entry i is lengths[i * length_step] of the types
 * inner[i * inner_step], at offsets[i] units. */
struct list {
    int64_t count;
    const int64_t *lengths, *offsets;
    int64_t unit; /* bytes */
    int length_step, inner_step;
};

/* Equal entries after each other share what they are made of. */
static bool fill_entries(const struct aspx_creation *c, const struct list *list,
                         struct aspx_placed *entries)
{
    const struct aspx_inner_type *inner = NULL;
    struct aspx_placed block = {0};
    int64_t length = -1;

    for (int64_t i = 0; i < list->count; i++) {
        const struct aspx_inner_type *wanted = &c->inner[i * list->inner_step];
        int64_t offset, wanted_length = list->lengths[i * list->length_step];

        if ((wanted != inner || wanted_length != length) &&
            !aspx_node_loop(c->region, (uint64_t) wanted_length, wanted->extent,
                            wanted->placed, &block))
            return false;
        inner = wanted;
        length = wanted_length;
        entries[i] = block;
        if (__builtin_mul_overflow(list->offsets[i], list->unit, &offset) ||
            __builtin_add_overflow(block.offset, offset, &entries[i].offset))
            return false;
    }
    return true;
}

static bool create_list(const struct aspx_creation *c, struct list list,
                        struct aspx_placed *placed)
{
    struct aspx_placed *entries;
    bool ok;

    entries = list.count <= c->entries_max
                  ? malloc(((size_t) list.count + 1) * sizeof(*entries))
                  : NULL;
    if (!entries) {
        c->region->full = true;
        return false;
    }
    ok = fill_entries(c, &list, entries) &&
         aspx_node_list(c->region, entries, (size_t) list.count, placed);
    free(entries);
    return ok;
}

/* count, blocklengths, displacements */
static bool create_varied(const struct aspx_creation *c, int64_t unit,
                          int inner_step, struct aspx_placed *placed)
{
    const int64_t *values = c->contents->values;

    return create_list(c,
                       (struct list){
                           .count = values[0],
                           .lengths = values + 1,
                           .length_step = 1,
                           .offsets = values + 1 + values[0],
                           .unit = unit,
                           .inner_step = inner_step,
                       },
                       placed);
}

/* count, blocklength, displacements */
static bool create_equal(const struct aspx_creation *c, int64_t unit,
                         struct aspx_placed *placed)
{
    const int64_t *values = c->contents->values;

    return create_list(c,
                       (struct list){
                           .count = values[0],
                           .lengths = values + 1,
                           .offsets = values + 2,
                           .unit = unit,
                       },
                       placed);
}

static bool create_indexed(const struct aspx_creation *c,
                           struct aspx_placed *placed)
{
    return create_varied(c, c->inner[0].extent, 0, placed);
}

static bool create_hindexed(const struct aspx_creation *c,
                            struct aspx_placed *placed)
{
    return create_varied(c, 1, 0, placed);
}

static bool create_struct(const struct aspx_creation *c,
                          struct aspx_placed *placed)
{
    return create_varied(c, 1, 1, placed);
}

static bool create_indexed_block(const struct aspx_creation *c,
                                 struct aspx_placed *placed)
{
    return create_equal(c, c->inner[0].extent, placed);
}

static bool create_hindexed_block(const struct aspx_creation *c,
                                  struct aspx_placed *placed)
{
    return create_equal(c, 1, placed);
}

/* ---- all of them ---------------------------------------------------------- */

bool aspx_create(const struct aspx_creation *creation,
                 struct aspx_placed *placed)
{
    static bool (*const create[])(const struct aspx_creation *,
                                  struct aspx_placed *) = {
        [MPI_COMBINER_DUP] = create_same,
        [MPI_COMBINER_RESIZED] = create_same,
        [MPI_COMBINER_CONTIGUOUS] = create_contiguous,
        [MPI_COMBINER_VECTOR] = create_vector,
        [MPI_COMBINER_HVECTOR] = create_hvector,
        [MPI_COMBINER_INDEXED] = create_indexed,
        [MPI_COMBINER_HINDEXED] = create_hindexed,
        [MPI_COMBINER_INDEXED_BLOCK] = create_indexed_block,
        [MPI_COMBINER_HINDEXED_BLOCK] = create_hindexed_block,
        [MPI_COMBINER_STRUCT] = create_struct,
        [MPI_COMBINER_SUBARRAY] = aspx_create_subarray,
        [MPI_COMBINER_DARRAY] = aspx_create_darray,
    };

    return create[creation->contents->combiner](creation, placed);
}
