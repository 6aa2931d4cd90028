/* SPDX-License-Identifier: BSD-3-Clause */
/* What builds the schedules of the rows. Private to common/coll: the table is
 * in rows.c, the functions in the files named for each. */
#ifndef ASPEN_COMMON_COLL_BUILD_ROWS_H
#define ASPEN_COMMON_COLL_BUILD_ROWS_H

#include "common/coll/build/maker.h"

typedef void asp_coll_build_f(struct asp_coll_maker *m);

/* rows.c */
extern const struct asp_coll_row asp_coll_row_table[];
extern const size_t asp_coll_row_count;

/* index.c. Build what is known to fit, as asp_coll_build(); nodes: those of the
 * problem. */
int asp_coll_make(const struct asp_coll_config *config,
                  const struct asp_coll_problem *problem,
                  const struct asp_coll_nodes *nodes, uint32_t rank,
                  struct asp_coll_schedule *s, struct asp_err *err);

/* single_level.c */
asp_coll_build_f asp_coll_barrier_dissemination;
asp_coll_build_f asp_coll_barrier_tree;
asp_coll_build_f asp_coll_bcast_tree;
asp_coll_build_f asp_coll_bcast_spread;
asp_coll_build_f asp_coll_reduce_tree;
asp_coll_build_f asp_coll_reduce_shares;
asp_coll_build_f asp_coll_scatter_tree;
asp_coll_build_f asp_coll_gather_tree;
asp_coll_build_f asp_coll_alltoall_flat;
asp_coll_build_f asp_coll_alltoall_bruck;
asp_coll_build_f asp_coll_allreduce_tree;
asp_coll_build_f asp_coll_allreduce_exchange;
asp_coll_build_f asp_coll_allreduce_halving;
asp_coll_build_f asp_coll_allreduce_ring;
asp_coll_build_f asp_coll_rs_pairs;
asp_coll_build_f asp_coll_rs_ring;
asp_coll_build_f asp_coll_rs_halving;
asp_coll_build_f asp_coll_rs_exchange;
asp_coll_build_f asp_coll_rs_tree;
asp_coll_build_f asp_coll_scan_exchange;
asp_coll_build_f asp_coll_scan_chain;

/* v_variants.c */
asp_coll_build_f asp_coll_allgather_ring;
asp_coll_build_f asp_coll_allgather_exchange;
asp_coll_build_f asp_coll_allgather_dissemination;
asp_coll_build_f asp_coll_allgather_tree;
asp_coll_build_f asp_coll_scatterv_flat;
asp_coll_build_f asp_coll_gatherv_flat;

/* alltoallv.c */
asp_coll_build_f asp_coll_alltoallv_flat;
asp_coll_build_f asp_coll_alltoallv_pairwise;
asp_coll_build_f asp_coll_alltoallv_spread;

/* levels_rooted.c, levels_all.c, levels_alltoall.c */
asp_coll_build_f asp_coll_barrier_levels;
asp_coll_build_f asp_coll_bcast_levels;
asp_coll_build_f asp_coll_reduce_levels;
asp_coll_build_f asp_coll_scatter_levels;
asp_coll_build_f asp_coll_gather_levels;
asp_coll_build_f asp_coll_allgather_levels;
asp_coll_build_f asp_coll_alltoall_levels;
asp_coll_build_f asp_coll_allreduce_levels;
asp_coll_build_f asp_coll_rs_levels;
asp_coll_build_f asp_coll_scan_levels;

#endif
