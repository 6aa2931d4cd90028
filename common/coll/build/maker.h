/* SPDX-License-Identifier: BSD-3-Clause */
/* What the builders of schedules share: who takes part, where blocks are,
 * memory for the time of a build. Private to common/coll. */
#ifndef ASPEN_COMMON_COLL_BUILD_MAKER_H
#define ASPEN_COMMON_COLL_BUILD_MAKER_H

#include "common/coll/build/index.h"
#include "common/coll/schedule/nodes.h"

struct asp_coll_memory; /* a piece of memory, freed after the build */

/* A build of one rank's schedule. */
struct asp_coll_maker {
    struct asp_coll_schedule *s;
    const struct asp_coll_config *config;
    const struct asp_coll_problem *problem;
    const struct asp_coll_nodes *nodes;
    uint32_t rank;
    uint32_t round; /* first of this phase; see asp_coll_next_phase() */
    struct asp_coll_memory *memory;
};

/* Ranks that do something together; me is this rank's index in it. */
struct asp_coll_group {
    uint32_t n;
    uint32_t me;
    const uint32_t *ranks; /* by index; NULL: they are their own index */
};

/* Blocks one after the other: block i of n is at[i] to at[i + 1] after base. */
struct asp_coll_blocks {
    struct asp_coll_place base;
    const size_t *at;
};

static inline uint32_t asp_coll_rank(const struct asp_coll_group *g,
                                     uint32_t index)
{
    return g->ranks ? g->ranks[index] : index;
}

static inline size_t asp_coll_span(const struct asp_coll_blocks *b,
                                   uint32_t first, uint32_t end)
{
    return b->at[end] - b->at[first];
}

static inline struct asp_coll_place asp_coll_block(
    const struct asp_coll_blocks *b, uint32_t i)
{
    return asp_coll_past(b->base, b->at[i]);
}

/* All ranks of the problem. */
static inline struct asp_coll_group asp_coll_all(const struct asp_coll_maker *m)
{
    return (struct asp_coll_group){m->problem->ranks, m->rank, NULL};
}

/* Where the caller's contribution is. */
static inline struct asp_coll_place asp_coll_input(
    const struct asp_coll_maker *m)
{
    return asp_coll_at(m->problem->in_place ? ASP_COLL_OUT : ASP_COLL_IN, 0);
}

static inline bool asp_coll_same(struct asp_coll_place one,
                                 struct asp_coll_place other)
{
    return one.buffer == other.buffer && one.offset == other.offset;
}

/* COPY, by way of scratch memory if the ranges overlap; nothing if they are the
 * same. */
void asp_coll_move(struct asp_coll_maker *m, struct asp_coll_place from,
                   struct asp_coll_place to, size_t bytes);

/* An algorithm has the rounds m->round to m->round + ASP_COLL_PHASE - 1, and one
 * that is made of others goes on to the next phase itself, at most STAGE of
 * them.
 */
enum { ASP_COLL_PHASE = 1 << 16, ASP_COLL_STAGE = 8 };

static inline void asp_coll_next_phase(struct asp_coll_maker *m)
{
    m->round += ASP_COLL_PHASE;
}

/* Stage number i of a row: the same rounds on all ranks, whatever they had a
 * part in before. */
static inline void asp_coll_stage(struct asp_coll_maker *m, uint32_t i)
{
    m->round = i * ASP_COLL_STAGE * ASP_COLL_PHASE;
}

/* Zeroed memory until the end of the build, of n things of size bytes. NULL
 * with
 * m->s->error set when there is none. */
void *asp_coll_keep(struct asp_coll_maker *m, size_t n, size_t size);
void asp_coll_release(struct asp_coll_maker *m);

/* Offsets of n blocks: of bytes each; as counts say (by index of the group);
 * a vector cut at whole elements, as even as can be. NULL as asp_coll_keep().
 */
const size_t *asp_coll_even(struct asp_coll_maker *m, uint32_t n, size_t bytes);
const size_t *asp_coll_counted(struct asp_coll_maker *m, uint32_t n,
                               const size_t *counts);
const size_t *asp_coll_shares(struct asp_coll_maker *m, uint32_t n,
                              size_t bytes);

/* Offsets of the blocks of all ranks, equal or by counts. */
const size_t *asp_coll_offsets(struct asp_coll_maker *m);

/* Bytes of a segment: at most config->segment, whole elements; total if it is
 * 0. */
size_t asp_coll_segment(const struct asp_coll_maker *m, size_t total);

/* The largest factor of n that is at most k, 1 if there is none but 1: how many
 * take part in a step of a recursive exchange of radix k. */
uint32_t asp_coll_factor(uint32_t n, uint32_t k);

/* Has n no prime factor above k? */
bool asp_coll_smooth(uint32_t n, uint32_t k);

/* Part i of n things cut in parts: where it begins. The first are the larger.
 */
static inline uint32_t asp_coll_part(uint32_t n, uint32_t parts, uint32_t i)
{
    return n / parts * i + (i < n % parts ? i : n % parts);
}

/* This rank's index among ranks of a tree rooted at index root. */
static inline uint32_t asp_coll_virtual(uint32_t index, uint32_t root,
                                        uint32_t n)
{
    return index >= root ? index - root : index + n - root;
}

static inline uint32_t asp_coll_actual(uint32_t v, uint32_t root, uint32_t n)
{
    return v + root < n ? v + root : v + root - n;
}

#endif
