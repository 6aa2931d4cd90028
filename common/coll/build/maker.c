/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a build, and the offsets of blocks. */
#include "common/coll/build/maker.h"

#include <errno.h>
#include <stdlib.h>

struct asp_coll_memory {
    struct asp_coll_memory *next;
    max_align_t bytes[];
};

void *asp_coll_keep(struct asp_coll_maker *m, size_t n, size_t size)
{
    struct asp_coll_memory *memory = calloc(1, sizeof(*memory) + n * size);

    if (!memory) {
        m->s->error = ENOMEM;
        return NULL;
    }
    memory->next = m->memory;
    m->memory = memory;
    return memory->bytes;
}

void asp_coll_release(struct asp_coll_maker *m)
{
    while (m->memory) {
        struct asp_coll_memory *memory = m->memory;

        m->memory = memory->next;
        free(memory);
    }
}

const size_t *asp_coll_even(struct asp_coll_maker *m, uint32_t n, size_t bytes)
{
    size_t *at = asp_coll_keep(m, n + 1, sizeof(*at));

    for (uint32_t i = 0; at && i <= n; i++)
        at[i] = i * bytes;
    return at;
}

const size_t *asp_coll_counted(struct asp_coll_maker *m, uint32_t n,
                               const size_t *counts)
{
    size_t *at = asp_coll_keep(m, n + 1, sizeof(*at));

    for (uint32_t i = 0; at && i < n; i++)
        at[i + 1] = at[i] + counts[i];
    return at;
}

const size_t *asp_coll_offsets(struct asp_coll_maker *m)
{
    const struct asp_coll_problem *p = m->problem;

    return asp_coll_has_counts(p->op) ? asp_coll_counted(m, p->ranks, p->counts)
                                      : asp_coll_even(m, p->ranks, p->bytes);
}

const size_t *asp_coll_shares(struct asp_coll_maker *m, uint32_t n,
                              size_t bytes)
{
    size_t element_size = m->problem->element_size, all = bytes / element_size;
    size_t *at = asp_coll_keep(m, n + 1, sizeof(*at));

    for (uint32_t i = 0; at && i <= n; i++)
        at[i] = (all / n * i + (i < all % n ? i : all % n)) * element_size;
    if (at)
        at[n] = bytes; /* of no whole element, where nothing is reduced */
    return at;
}

size_t asp_coll_segment(const struct asp_coll_maker *m, size_t total)
{
    size_t element_size = m->problem->element_size;
    size_t segment = m->config->segment / element_size * element_size;

    if (!m->config->segment)
        return total;
    return segment ? segment : element_size;
}

uint32_t asp_coll_factor(uint32_t n, uint32_t k)
{
    uint32_t factor = n < k ? n : k;

    while (n % factor)
        factor--;
    return factor;
}

bool asp_coll_smooth(uint32_t n, uint32_t k)
{
    while (n > 1) {
        uint32_t factor = asp_coll_factor(n, k);

        if (factor == 1)
            return false;
        n /= factor;
    }
    return true;
}

void asp_coll_move(struct asp_coll_maker *m, struct asp_coll_place from,
                   struct asp_coll_place to, size_t bytes)
{
    bool overlap = from.buffer == to.buffer &&
                   from.offset < to.offset + bytes &&
                   to.offset < from.offset + bytes;
    struct asp_coll_place copy;

    if (asp_coll_same(from, to))
        return;
    if (overlap) {
        copy = asp_coll_scratch(m->s, bytes);
        asp_coll_copy(m->s, from, copy, bytes);
        from = copy;
    }
    asp_coll_copy(m->s, from, to, bytes);
}
