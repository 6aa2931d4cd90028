/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a verification, for verify.c and result.c. */
#ifndef ASPEN_TESTS_COLL_VERIFY_RUN_H
#define ASPEN_TESTS_COLL_VERIFY_RUN_H

#include "common/coll/build/index.h"
#include "common/coll/schedule/match.h"
#include "tests/coll/verify/symbols.h"

struct asp_coll_run {
    const struct asp_coll_problem *problems;
    uint32_t nproblems;
    uint32_t ranks;
    struct asp_coll_graph graph;
    struct asp_coll_symbols *buffers; /* by rank and buffer */
    uint64_t *signals;                /* cells of all ranks */
    uint32_t *signal_base;            /* by rank */
    uint32_t *owner;                  /* rank of a step's number */
    uint32_t *bag, nbag;              /* numbers of steps that may run */
    uint8_t *ready;                   /* by number: one end of a message may */
    uint64_t seed;
    struct asp_coll_symbols one, other; /* for the time of a step */
    struct asp_err *err;
};

static inline struct asp_coll_symbols *asp_coll_run_buffer(
    struct asp_coll_run *run, uint32_t rank, uint8_t buffer)
{
    return &run->buffers[(size_t) rank * ASP_COLL_BUFFERS + buffer];
}

/* All ranks are done: is OUT of each what it must be, and only that written?
 * Returns 0, or -1 with run->err. */
int asp_coll_run_check(struct asp_coll_run *run);

#endif
