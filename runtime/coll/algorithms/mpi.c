/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's own choice: it takes the program's data as they are. */
#include "config.h"

#include "executor.h"

#include "runtime/coll/call/call.h"

#include <string.h>

static void text(const struct aspx_coll_config *config, struct asp_strbuf *sb)
{
    (void) config;
    asp_strbuf_add(sb, "default");
}

static bool reads(enum asp_coll_op op, const char *text)
{
    (void) op;
    return strcmp(text, "default") == 0;
}

static double predict(const struct aspx_coll_list *list,
                      const struct aspx_coll_config *config)
{
    struct asp_coll_problem problem;
    struct asp_coll_cost cost;

    (void) config;
    aspx_coll_model_problem(list, &problem);
    return aspx_coll_cost_of_mpich(&problem, &cost) ? aspx_coll_us_of(&cost)
                                                    : 1;
}

static int execute(struct aspx_coll_comm *comm,
                   const struct aspx_coll_call *call,
                   const struct asp_tune_args *args,
                   const struct aspx_coll_config *config)
{
    (void) comm;
    (void) args;
    (void) config;
    return call->mpi(call);
}

const struct aspx_coll_executor aspx_coll_mpi_choice = {
    .family = "default",
    .text = text,
    .reads = reads,
    .predict = predict,
    .execute = execute,
};
