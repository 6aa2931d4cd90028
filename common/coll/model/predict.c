/* SPDX-License-Identifier: BSD-3-Clause */
/* Build and simulate a configuration. */
#include "common/coll/model/simulate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int asp_coll_predict_within(const struct asp_coll_machine *machine,
                            const struct asp_coll_config *config,
                            const struct asp_coll_problem *problems,
                            uint32_t nproblems, int64_t limit,
                            uint64_t max_steps, struct asp_coll_cost *cost_p,
                            struct asp_err *err)
{
    uint32_t ranks = problems->ranks;
    struct asp_coll_schedule *all = calloc(ranks, sizeof(*all));
    int rc = -1, error;

    if (!all)
        return asp_errf(err, ENOMEM, "out of memory");
    if (asp_coll_build_some(config, problems, nproblems, max_steps, all, err) ==
        0) {
        rc = asp_coll_simulate(machine, problems->node, ranks, all, limit,
                               cost_p);
        if (rc < 0)
            asp_errf(err, errno, "cannot simulate: %s", strerror(errno));
    }
    error = errno;
    for (uint32_t r = 0; r < ranks; r++)
        asp_coll_destroy(&all[r]);
    free(all);
    errno = error;
    return rc;
}

int asp_coll_predict(const struct asp_coll_machine *machine,
                     const struct asp_coll_config *config,
                     const struct asp_coll_problem *problems,
                     uint32_t nproblems, struct asp_coll_cost *cost_p,
                     struct asp_err *err)
{
    return asp_coll_predict_within(machine, config, problems, nproblems,
                                   INT64_MAX, ASP_COLL_SIMULATE_STEPS, cost_p,
                                   err);
}
