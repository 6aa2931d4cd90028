/* SPDX-License-Identifier: BSD-3-Clause */
/* The best way by the simulator. Depends on the arguments alone, so all ranks
 * choose the same.
 *
 * Not every way is simulated: those that MPICH has are (mpich.h), so the choice
 * is never behind them, and for each algorithm the parameters are improved one
 * after the other (tree or radix, segment, leaders, radix in a node) until none
 * gets better. A simulation that takes much longer than the best so far is
 * given up, and so are ways of too many steps: the algorithms in which each of
 * many ranks sends to each other, or passes blocks along a ring. */
#ifndef ASPEN_COMMON_COLL_CHOOSE_H
#define ASPEN_COMMON_COLL_CHOOSE_H

#include "common/coll/simulate.h"

struct asp_coll_candidate {
    struct asp_coll_way way;
    struct asp_coll_cost cost; /* of time only if OK */
    enum asp_coll_fate {
        ASP_COLL_UNTRIED,
        ASP_COLL_OK,
        ASP_COLL_SLOW,  /* more than ASP_COLL_SLOWER times the best then */
        ASP_COLL_LARGE, /* too many steps */
    } fate;
};

enum { ASP_COLL_SLOWER = 2 };

/* How much to do. All 0: the defaults. */
struct asp_coll_effort {
    bool exhaustive;    /* all ways, none given up for being slow */
    uint64_t max_steps; /* of all ranks; default 2^20 */
};

/* Candidates of a problem that is the same for all ranks, the best first: OK by
 * time (at once: by the order of asp_coll_ways_next()), then the others.
 *   candidates_p  *n_p of them; for the caller to free()
 * Returns 0, or -1 with errno ENOMEM, EINVAL, or ENOTSUP (no way is possible;
 * with too few steps allowed, E2BIG) and err.
 * Cost: tens to hundreds of simulations. Threads: reentrant. */
int asp_coll_choose(const struct asp_coll_machine *machine,
                    const struct asp_coll_problem *problem,
                    const struct asp_coll_effort *effort,
                    struct asp_coll_candidate **candidates_p, uint32_t *n_p,
                    struct asp_err *err);

#endif
