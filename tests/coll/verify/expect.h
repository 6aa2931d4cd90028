/* SPDX-License-Identifier: BSD-3-Clause */
/* What the buffers of a rank hold before and after a collective: MPI's meaning
 * of each, in one place. Private to the verifier and tests. */
#ifndef ASPEN_TESTS_COLL_VERIFY_EXPECT_H
#define ASPEN_TESTS_COLL_VERIFY_EXPECT_H

#include "common/coll/build/index.h"
#include "tests/coll/verify/symbols.h"

/* Problem of one rank among those of all. */
static inline const struct asp_coll_problem *asp_coll_problem_of(
    const struct asp_coll_problem *problems, uint32_t nproblems, uint32_t rank)
{
    return &problems[nproblems > 1 ? rank : 0];
}

/* Add what rank's IN and OUT hold at the start. */
bool asp_coll_expect_before(const struct asp_coll_problem *problem,
                            uint32_t rank, struct asp_coll_symbols *in,
                            struct asp_coll_symbols *out);

/* Add the result in OUT. All other bytes of OUT must be as they were, also
 * those that MPI leaves undefined: MPICH keeps them, and programs have come to
 * rely on that. */
bool asp_coll_expect_after(const struct asp_coll_problem *problems,
                           uint32_t nproblems, uint32_t rank,
                           struct asp_coll_symbols *out);

#endif
