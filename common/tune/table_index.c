/* SPDX-License-Identifier: BSD-3-Clause */
/* The index of a table: a hash of call word and shape, with linear probing, at
 * most half full. A row stands in it for its own size and for those near it
 * that have none of their own, so that a near size costs a call no more than an
 * exact one. */
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(ASP_TUNE_SHAPES_MAX < 1 << (32 - ASP_TUNE_CALL_BITS),
               "shape and call word in 32 bits, never all ones");

static bool same_shape(const struct asp_tune_shape *a,
                       const struct asp_tune_shape *b)
{
    return a->ranks == b->ranks && a->nodes == b->nodes && a->ppn == b->ppn &&
           a->map == b->map;
}

uint32_t asp_tune_table_shape(const struct asp_tune_table *table,
                              const struct asp_tune_shape *shape)
{
    for (uint32_t i = 0; i < table->nshapes; i++)
        if (same_shape(&table->shapes[i], shape))
            return i;
    return ASP_TUNE_NO_SHAPE;
}

/* Rows are sorted by shape first. */
static int index_shapes(struct asp_tune_table *table)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < table->nrows; i++)
        if (i == 0 || !same_shape(&table->rows[i].key.shape,
                                  &table->rows[i - 1].key.shape)) {
            if (n == ASP_TUNE_SHAPES_MAX) {
                errno = EFBIG;
                return -1;
            }
            table->shapes[n++] = table->rows[i].key.shape;
        }
    table->nshapes = n;
    return 0;
}

/* A row for a word, unless one is there. */
static void insert(struct asp_tune_table *table, uint32_t word, uint32_t row)
{
    uint32_t at = asp_tune_hash(word) & (table->nslots - 1);

    while (table->slots[at].word != UINT32_MAX && table->slots[at].word != word)
        at = (at + 1) & (table->nslots - 1);
    if (table->slots[at].word == UINT32_MAX)
        table->slots[at] = (struct asp_tune_slot){.word = word, .row = row};
}

/* All rows, for the size that is `away` powers of two from their own. Of no
 * bytes there is no near size. */
static void insert_all(struct asp_tune_table *table, int away)
{
    const uint32_t mask = (1u << ASP_TUNE_BUCKET_BITS) - 1;
    uint32_t shape = 0;

    for (uint32_t i = 0; i < table->nrows; i++) {
        const struct asp_tune_key *key = &table->rows[i].key;
        uint32_t bucket = key->call & mask;
        int64_t wanted = (int64_t) bucket + away;

        if (!same_shape(&table->shapes[shape], &key->shape))
            shape++;
        if (away != 0 && (bucket == 0 || bucket == ASP_TUNE_BUCKET_ANY ||
                          wanted < 1 || wanted >= ASP_TUNE_BUCKET_ANY))
            continue;
        insert(table,
               shape << ASP_TUNE_CALL_BITS | (key->call & ~mask) |
                   (uint32_t) wanted,
               i);
    }
}

int asp_tune_table_index(struct asp_tune_table *table)
{
    uint32_t words = table->nrows * (1 + 2 * ASP_TUNE_NEAR), nslots = 16;

    while (nslots < 2 * words)
        nslots *= 2;
    free(table->shapes);
    free(table->slots);
    table->nshapes = 0;
    table->nslots = nslots;
    table->shapes = malloc(ASP_TUNE_SHAPES_MAX * sizeof(*table->shapes));
    table->slots = malloc(nslots * sizeof(*table->slots));
    if (!table->shapes || !table->slots)
        return -1;
    if (index_shapes(table) < 0)
        return -1;
    memset(table->slots, 0xff, nslots * sizeof(*table->slots));
    insert_all(table, 0);
    for (int away = 1; away <= (table->exact ? 0 : ASP_TUNE_NEAR); away++) {
        insert_all(table, away); /* the smaller of two as near comes first */
        insert_all(table, -away);
    }
    return 0;
}
