/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithms: each adds the steps of one rank to a schedule, for any group
 * of ranks and any places, so that they can be put together. Private to
 * common/coll.
 *
 * Ranks and roots are indexes of the group; sizes are bytes. The group of one
 * rank is allowed everywhere. Errors are kept in m->s->error. `own` is a rank's
 * contribution, which is only written if it is also the place of the result. */
#ifndef ASPEN_COMMON_COLL_BUILD_ALGORITHMS_H
#define ASPEN_COMMON_COLL_BUILD_ALGORITHMS_H

#include "common/coll/build/maker.h"

/* bcast.c. at: the message, of the root; of the others where it comes to. */
void asp_coll_add_bcast(struct asp_coll_maker *m,
                        const struct asp_coll_group *g, uint32_t root,
                        const struct asp_coll_tree *tree,
                        struct asp_coll_place at, size_t bytes);

/* The same by scatter and allgather of shares: a ring, or an exchange of radix
 * k > 0. */
void asp_coll_add_spread(struct asp_coll_maker *m,
                         const struct asp_coll_group *g, uint32_t root,
                         uint32_t k, struct asp_coll_place at, size_t bytes);

/* reduce.c. into: of the root only. */
void asp_coll_add_reduce(struct asp_coll_maker *m,
                         const struct asp_coll_group *g, uint32_t root,
                         const struct asp_coll_tree *tree,
                         struct asp_coll_place own, struct asp_coll_place into,
                         size_t bytes);

/* gather.c. b: the root's blocks; its offsets are known to all.
 * held: all ranks have b, with blocks at the same offsets, and root is 0. */
void asp_coll_add_scatter(struct asp_coll_maker *m,
                          const struct asp_coll_group *g, uint32_t root,
                          const struct asp_coll_tree *tree,
                          const struct asp_coll_blocks *b, bool held,
                          struct asp_coll_place own);
void asp_coll_add_gather(struct asp_coll_maker *m,
                         const struct asp_coll_group *g, uint32_t root,
                         const struct asp_coll_tree *tree,
                         const struct asp_coll_blocks *b, bool held,
                         struct asp_coll_place own);

/* allgather.c. Each rank's own block is in its place in b already. exchange
 * needs n without prime factors above k; any is that or else dissemination. */
void asp_coll_add_ring(struct asp_coll_maker *m, const struct asp_coll_group *g,
                       const struct asp_coll_blocks *b);
void asp_coll_add_exchange(struct asp_coll_maker *m,
                           const struct asp_coll_group *g,
                           const struct asp_coll_blocks *b, uint32_t k);
void asp_coll_add_doubling(struct asp_coll_maker *m,
                           const struct asp_coll_group *g,
                           const struct asp_coll_blocks *b, uint32_t k);
void asp_coll_add_any(struct asp_coll_maker *m, const struct asp_coll_group *g,
                      const struct asp_coll_blocks *b, uint32_t k);

/* alltoall.c. The own block is left to the caller. */
void asp_coll_add_pairs(struct asp_coll_maker *m,
                        const struct asp_coll_group *g,
                        const struct asp_coll_blocks *from,
                        const struct asp_coll_blocks *to);
void asp_coll_add_bruck(struct asp_coll_maker *m,
                        const struct asp_coll_group *g, uint32_t k,
                        struct asp_coll_place from, struct asp_coll_place to,
                        size_t bytes);

/* barrier.c. A signal tells of all signals that came before. */
void asp_coll_add_dissemination(struct asp_coll_maker *m,
                                const struct asp_coll_group *g, uint32_t k);
void asp_coll_add_arrive(struct asp_coll_maker *m,
                         const struct asp_coll_group *g,
                         const struct asp_coll_tree *tree);
void asp_coll_add_release(struct asp_coll_maker *m,
                          const struct asp_coll_group *g,
                          const struct asp_coll_tree *tree);

/* allreduce.c. into: of all. */
void asp_coll_add_allreduce_exchange(struct asp_coll_maker *m,
                                     const struct asp_coll_group *g, uint32_t k,
                                     struct asp_coll_place own,
                                     struct asp_coll_place into, size_t bytes);
void asp_coll_add_halving(struct asp_coll_maker *m,
                          const struct asp_coll_group *g,
                          struct asp_coll_place own, struct asp_coll_place into,
                          size_t bytes);
void asp_coll_add_allreduce_ring(struct asp_coll_maker *m,
                                 const struct asp_coll_group *g,
                                 struct asp_coll_place own,
                                 struct asp_coll_place into, size_t bytes);

/* reduce_scatter.c, allreduce.c. The inputs are own + at[0..n]; into is this
 * rank's block, and may be the start of the input: the rest of that stays as it
 * is. */
void asp_coll_add_rs_pairs(struct asp_coll_maker *m,
                           const struct asp_coll_group *g,
                           struct asp_coll_place own, const size_t *at,
                           struct asp_coll_place into);
void asp_coll_add_rs_ring(struct asp_coll_maker *m,
                          const struct asp_coll_group *g,
                          struct asp_coll_place own, const size_t *at,
                          struct asp_coll_place into);
void asp_coll_add_rs_halving(struct asp_coll_maker *m,
                             const struct asp_coll_group *g,
                             struct asp_coll_place own, const size_t *at,
                             struct asp_coll_place into);

void asp_coll_add_rs_exchange(struct asp_coll_maker *m,
                              const struct asp_coll_group *g, uint32_t k,
                              struct asp_coll_place own, const size_t *at,
                              struct asp_coll_place into);

/* scan.c. segment as in the configuration; exclusive: index 0 gets nothing. */
void asp_coll_add_scan(struct asp_coll_maker *m, const struct asp_coll_group *g,
                       struct asp_coll_place own, struct asp_coll_place into,
                       size_t bytes, bool exclusive);
void asp_coll_add_chain_scan(struct asp_coll_maker *m,
                             const struct asp_coll_group *g,
                             struct asp_coll_place own,
                             struct asp_coll_place into, size_t bytes,
                             bool exclusive);

#endif
