/* SPDX-License-Identifier: BSD-3-Clause */
/* Does a set of schedules compute the collective? Carried out with symbols
 * instead of data: each byte of a buffer is "undefined", or "the bytes at
 * offset x of the inputs of ranks A, reduced by expression E". Steps of all
 * ranks run in a random order that their needs allow, and a SEND ends only
 * together with its RECV, so schedules that count on buffering are found to
 * hang.
 *
 * Refused are: a step without what it needs, a SEND and RECV of different
 * lengths, a message that nobody receives, reading undefined bytes, writing IN,
 * overlapping copies, ranges outside of their buffer, reductions that are cut
 * inside of an element, that take a contribution twice or, unless the operation
 * is commutative, out of order; two steps at once of which one writes what the
 * other touches; in the end any byte of OUT that is not what MPI says or,
 * beside the result, not what it was before; and results that several ranks
 * get, by expressions that are not the same: floating-point numbers would
 * differ.
 *
 * Why intervals are enough for the order of non-commutative operations: only
 * associativity may be used, so each correct intermediate result is the product
 * of the ranks i..j for some i <= j, and a reduction joins i..j and j+1..k. */
#ifndef ASPEN_TESTS_COLL_VERIFY_H
#define ASPEN_TESTS_COLL_VERIFY_H

#include "common/coll/build/index.h"

/* Ranks that a set of contributions can name. */
enum { ASP_COLL_VERIFY_RANKS = 64 };

/* Check the schedules of all ranks.
 *   problems   one, or nproblems = ranks of them (alltoallv, gatherv, scatterv)
 *   schedules  by rank, finished
 *   seed       of the random order
 * Returns 0, or -1 with errno EINVAL and what is wrong, with rank and step, in
 * err; ENOMEM; ERANGE (more ranks than ASP_COLL_VERIFY_RANKS).
 * Threads: reentrant.  Cost: O(steps * pieces of a buffer). */
int asp_coll_verify(const struct asp_coll_problem *problems, uint32_t nproblems,
                    const struct asp_coll_schedule *schedules, uint64_t seed,
                    struct asp_err *err);

#endif
