/* SPDX-License-Identifier: BSD-3-Clause */
/* The configurations that could carry out a call, and their times by the model.
 */
#ifndef ASPEN_RUNTIME_COLL_ALGORITHMS_LIST_H
#define ASPEN_RUNTIME_COLL_ALGORITHMS_LIST_H

#include "runtime/coll/comm/state.h"

#include "common/coll/model/simulate.h"

struct aspx_coll_list {
    struct aspx_coll_comm *comm; /* its configurations get what is added */
    const struct asp_tune_args *args;
    struct asp_search_candidate *out; /* ASP_DECIDE_CANDIDATES */
    uint32_t n;
};

/* Add a configuration, unless coll.force or coll.reproducible exclude it. When
 * the list is full the last ones, that the model may think little of, are left
 * out: all ranks leave out the same. */
void aspx_coll_list_add(struct aspx_coll_list *list,
                        const struct aspx_coll_config *config, double us);

/* Fill in the problem of a call. bytes as in the key; displs are left out.
 * Where each rank has counts of its own it is that of blocks of one byte. */
void aspx_coll_problem(const struct aspx_coll_comm *comm,
                       const struct asp_tune_args *args, size_t element_size,
                       struct asp_coll_problem *problem_p);

/* That of the model, which knows a sum only where ranks have counts, or what
 * one of them sends. */
void aspx_coll_model_problem(const struct aspx_coll_list *list,
                             struct asp_coll_problem *problem_p);

/* What MPI's own choice costs, by the rules that MPICH documents. Returns false
 * where there are none. */
bool aspx_coll_cost_of_mpich(const struct asp_coll_problem *problem,
                             struct asp_coll_cost *cost_p);

static inline double aspx_coll_us_of(const struct asp_coll_cost *cost)
{
    return 1e-6 * (double) cost->time;
}

#endif
