/* SPDX-License-Identifier: BSD-3-Clause */
/* A list gets a configuration, and a call becomes a problem; see list.h. */
#include "config.h"

#include "list.h"

#include "reproducible.h"

#include "runtime/coll/comm/counts.h"
#include "runtime/coll/machine/model.h"
#include "runtime/coll/machine/settings.h"
#include "runtime/coll/comm/coll_config.h"
#include "common/coll/model/mpich.h"

enum { MODEL_GRAIN = 8 }; /* bytes of an element, in the model */

void aspx_coll_problem(const struct aspx_coll_comm *comm,
                       const struct asp_tune_args *args, size_t element_size,
                       struct asp_coll_problem *problem_p)
{
    *problem_p = (struct asp_coll_problem){
        .op = args->op,
        .ranks = comm->size,
        .root = args->root < comm->size ? args->root : 0,
        .bytes = args->bytes,
        .counts = aspx_coll_has_counts(args->op) ? comm->counts : NULL,
        .element_size = element_size,
        .commutative = args->reduction != ASP_TUNE_ORDERED &&
                       !aspx_coll_is_reproducible(args),
        .in_place = args->in_place,
        .node = comm->nnodes > 1 ? comm->node : NULL,
    };
    if (asp_coll_forms[args->op].counts == ASP_COLL_COUNTS_OWN) {
        problem_p->counts = problem_p->recv_counts = aspx_coll_alike(comm, 1);
        problem_p->bytes = 0;
    }
}

void aspx_coll_model_problem(const struct aspx_coll_list *list,
                             struct asp_coll_problem *problem_p)
{
    uint64_t bytes = list->args->bytes;
    uint32_t ranks = list->comm->size;

    aspx_coll_problem(list->comm, list->args, MODEL_GRAIN, problem_p);
    if (problem_p->recv_counts)
        aspx_coll_alike(list->comm, (bytes + ranks - 1) / ranks);
    else if (problem_p->counts)
        problem_p->counts = aspx_coll_shares(list->comm, bytes, MODEL_GRAIN);
}

bool aspx_coll_cost_of_mpich(const struct asp_coll_problem *problem,
                             struct asp_coll_cost *cost_p)
{
    struct asp_coll_config config;
    struct asp_err err;

    return asp_coll_mpich(problem, &config, &err) == 0 &&
           asp_coll_predict(aspx_coll_model(), &config, problem, 1, cost_p,
                            &err) == 0;
}

/* There is room for all lists, since a rank without memory would go another
 * way. */
static uint32_t number_of(struct aspx_coll_comm *comm,
                          const struct aspx_coll_config *config)
{
    if (comm->nconfigs == ASPX_COLL_CONFIGS)
        return UINT32_MAX;
    comm->configs[comm->nconfigs] = *config;
    return comm->nconfigs++;
}

static bool is_wanted(const struct aspx_coll_list *list,
                      const struct aspx_coll_config *config)
{
    const char *force = aspx_coll_settings.force;

    return (!force || aspx_coll_config_is_of(config, force)) &&
           (!aspx_coll_is_reproducible(list->args) ||
            aspx_coll_keeps_order(list->args, config));
}

void aspx_coll_list_add(struct aspx_coll_list *list,
                        const struct aspx_coll_config *config, double us)
{
    uint32_t number;

    if (!is_wanted(list, config) || list->n >= ASP_DECIDE_CANDIDATES - 1)
        return;
    number = number_of(list->comm, config);
    if (number != UINT32_MAX)
        list->out[list->n++] = (struct asp_search_candidate){number, us};
}
