/* SPDX-License-Identifier: BSD-3-Clause */
/* The best configurations by the simulator. Depends on the arguments alone, so
 * all ranks choose the same.
 *
 * The result is that of simulating every configuration, but few are: a bound
 * from the schedules of some ranks (bound.h) says what a configuration takes at
 * least, those with the lowest are simulated first, and what takes longer than
 * the best so far is given up on the way or never begun. Left out are
 * configurations of too many steps: the algorithms in which each of many ranks
 * sends to each other, or passes blocks along a ring. */
#ifndef ASPEN_COMMON_COLL_MODEL_CHOOSE_H
#define ASPEN_COMMON_COLL_MODEL_CHOOSE_H

#include "common/coll/model/simulate.h"

struct asp_coll_candidate {
    struct asp_coll_config config;
    struct asp_coll_cost cost; /* of time only if OK */
    enum asp_coll_fate {
        ASP_COLL_UNTRIED, /* only while the search goes on */
        ASP_COLL_OK,
        ASP_COLL_SLOW,  /* slower than what is wanted; no time */
        ASP_COLL_LARGE, /* too many steps */
    } fate;
};

/* No candidate is of interest that takes more than so many times the best. */
enum { ASP_COLL_SLOWER = 2 };

enum { ASP_COLL_WANTED_MAX = 64 };

/* What to find. All 0: the defaults. */
struct asp_coll_effort {
    /* So many are OK, unless the others are SLOWER. 0: 10, and of each row (and
     * across) the best that is not SLOWER: machines are not as the model. */
    uint32_t wanted;
    uint64_t max_steps; /* of all ranks; default 2^22 */
    /* ps; 0: any. Is there a faster configuration than this? If there is none
     * the first candidate is not OK. */
    int64_t below;
};

/* Candidates of a problem that is the same for all ranks, the best first: OK by
 * time (at once: by the order of asp_coll_configs_next()), then the others.
 *   candidates_p  *n_p of them; for the caller to free()
 * Returns 0, or -1 with errno ENOMEM, EINVAL, or ENOTSUP (no configuration is
 * possible; with too few steps allowed, E2BIG) and err.
 * Cost: a bound of each configuration and 10 to 30 simulations. Threads:
 * reentrant. */
int asp_coll_choose(const struct asp_coll_machine *machine,
                    const struct asp_coll_problem *problem,
                    const struct asp_coll_effort *effort,
                    struct asp_coll_candidate **candidates_p, uint32_t *n_p,
                    struct asp_err *err);

#endif
