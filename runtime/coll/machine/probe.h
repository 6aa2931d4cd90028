/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the links of the job by messages between two of its ranks: one pair
 * inside a node, one between nodes, one after the other, while all other ranks
 * sleep. So more ranks than CPUs disturb it little: there is nobody who would
 * want the pair's CPUs.
 *
 *   rank 0 ...................... a pair ......................... the others
 *                        rounds of orders, until
 *                        there are enough or the
 *                        time is over
 *   <--- samples of a pair without rank 0 ---
 *   fits constants
 *   ---------------- the same numbers to all (MPI_Ibcast) ------------------>
 */
#ifndef ASPEN_RUNTIME_COLL_MACHINE_PROBE_H
#define ASPEN_RUNTIME_COLL_MACHINE_PROBE_H

#include "common/tune/table.h"

#include <stdbool.h>

/* Ranks of MPI_COMM_WORLD; the first one of a pair measures. */
struct aspx_coll_pair {
    int first, second; /* -1: there are no such ranks */
};

struct aspx_coll_pairs {
    struct aspx_coll_pair inside, between;
};

/* Measure. Collective over MPI_COMM_WORLD with the same arguments, when no rank
 * has messages of its own yet.
 *   budget_us  for both pairs together, but each of four kinds of messages is
 *              sent at least twice, the first time to make connections
 *   thorough   not only until there are enough rounds, but all of the budget
 *   links_p    the same on all ranks; a pair that is none, or that was disturbed
 *              all the time (asp_coll_samples_agree()), is left out
 * Ends the job, with a message, when a rank does not answer (join.h). */
void aspx_coll_probe(const struct aspx_coll_pairs *pairs, double budget_us,
                     bool thorough, struct asp_tune_links *links_p);

#endif
