/* SPDX-License-Identifier: BSD-3-Clause */
/* Every rank computes this list by itself, from the communicator's map of
 * nodes, the key and the agreed model: the same list everywhere. */
#include "config.h"

#include "candidates.h"

#include "runtime/coll/algorithms/executor.h"
#include "runtime/coll/algorithms/reproducible.h"

#include <stdlib.h>

/* What stands for MPI's own choice. */
static double predict_default(const struct aspx_coll_list *list)
{
    struct aspx_coll_config config = {.executor = &aspx_coll_mpi_choice,
                                      .op = list->args->op};

    if (aspx_coll_is_reproducible(list->args))
        aspx_coll_reproducible_config(list->comm, list->args, &config);
    return config.executor->predict(list, &config);
}

double aspx_coll_agree_us(struct aspx_coll_comm *comm)
{
    const struct asp_tune_args args = {
        .op = ASP_COLL_ALLREDUCE,
        .bytes = ASP_DECIDE_VALUES * sizeof(double),
        .reduction = ASP_TUNE_BUILTIN, /* MPI_MAX: never reproducible */
    };

    return predict_default(
        &(struct aspx_coll_list){.comm = comm, .args = &args});
}

static int faster_first(const void *a, const void *b)
{
    const struct asp_search_candidate *one = a, *other = b;

    if (one->predicted_us < other->predicted_us)
        return -1;
    if (one->predicted_us > other->predicted_us)
        return 1;
    return one->config < other->config ? -1 : one->config > other->config;
}

/* Simulating what then is not taken would be for nothing. */
static bool is_asked(const struct aspx_coll_executor *executor,
                     const struct asp_tune_args *args)
{
    return executor->list &&
           (executor->keeps_order || !aspx_coll_is_reproducible(args));
}

uint32_t aspx_coll_order(void *data, const struct asp_tune_shape *shape,
                         const struct asp_tune_args *args,
                         struct asp_search_candidate *out)
{
    struct aspx_coll_list list = {.comm = data, .args = args, .out = out};

    (void) shape;
    for (size_t i = 0; aspx_coll_executors[i]; i++)
        if (is_asked(aspx_coll_executors[i], args))
            aspx_coll_executors[i]->list(&list);
    out[list.n] = (struct asp_search_candidate){ASP_DECIDE_DEFAULT,
                                                predict_default(&list)};
    qsort(out, list.n + 1, sizeof(*out), faster_first);
    return list.n + 1;
}
