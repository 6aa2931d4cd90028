/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules of messages on the communicator's duplicate. Building one costs
 * more than a small collective, so they are kept. */
#include "config.h"

#include "kept.h"

#include <stdlib.h>
#include <string.h>

static bool is_same_config(const struct asp_coll_config *a,
                           const struct asp_coll_config *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* NULL: of both. */
static bool are_same(const size_t *a, const size_t *b, uint32_t n)
{
    return !a || !b ? a == b : memcmp(a, b, n * sizeof(*a)) == 0;
}

static bool is_same_problem(const struct asp_coll_problem *a,
                            const struct asp_coll_problem *b)
{
    return a->op == b->op && a->ranks == b->ranks && a->root == b->root &&
           a->bytes == b->bytes && a->element_size == b->element_size &&
           a->commutative == b->commutative && a->in_place == b->in_place &&
           a->node == b->node && are_same(a->counts, b->counts, a->ranks) &&
           are_same(a->displs, b->displs, a->ranks);
}

/* The one that is alike, else the one that was not used for longest. */
static struct aspx_coll_kept *find(struct aspx_coll_comm *comm,
                                   const struct asp_coll_config *config,
                                   const struct asp_coll_problem *problem)
{
    struct aspx_coll_kept *oldest = comm->kept;

    for (uint32_t i = 0; i < ASPX_COLL_PLANS; i++) {
        struct aspx_coll_kept *kept = &comm->kept[i];

        if (kept->used && is_same_problem(&kept->problem, problem) &&
            is_same_config(&kept->config, config))
            return kept;
        if (kept->used < oldest->used)
            oldest = kept;
    }
    oldest->used = 0;
    return oldest;
}

/* The problem's counts are those of a call: keep them with the schedule. */
static bool keep_counts(struct aspx_coll_kept *kept)
{
    struct asp_coll_problem *problem = &kept->problem;
    size_t n = problem->ranks;

    if (!problem->counts)
        return true;
    if (!kept->counts)
        kept->counts = calloc(2 * n, sizeof(*kept->counts));
    if (!kept->counts)
        return false;
    memcpy(kept->counts, problem->counts, n * sizeof(*kept->counts));
    problem->counts = kept->counts;
    if (problem->displs) {
        memcpy(kept->counts + n, problem->displs, n * sizeof(*kept->counts));
        problem->displs = kept->counts + n;
    }
    return true;
}

static int make(struct aspx_coll_kept *kept,
                const struct asp_coll_config *config,
                const struct asp_coll_problem *problem, uint32_t rank)
{
    struct asp_err err;

    if (asp_coll_build(config, problem, rank, &kept->schedule, &err) != 0)
        return -1;
    kept->config = *config;
    kept->problem = *problem;
    return !keep_counts(kept)
               ? -1
               : aspx_coll_plan_make(&kept->plan, &kept->schedule);
}

int aspx_coll_schedule(const struct aspx_coll_job *job,
                       const struct asp_coll_config *config,
                       const struct asp_coll_problem *problem, uint32_t rank,
                       const int *ranks, const void *in, void *out)
{
    struct aspx_coll_comm *comm = job->comm;
    struct aspx_coll_kept *kept = find(comm, config, problem);
    struct aspx_coll_run run;

    if (!kept->used && make(kept, config, problem, rank) != 0)
        return MPI_ERR_NO_MEM;
    kept->used = comm->calls;
    aspx_coll_run_start(&run, &kept->plan,
                        &(struct aspx_coll_where){
                            .comm = comm->own,
                            .ranks = ranks,
                            .tag = job->tag,
                            .in = in,
                            .out = out,
                            .element_size = job->element_size,
                            .type = job->call->recv_type,
                            .reduction = job->call->reduction,
                            .sent = job->sent,
                            .received = job->received,
                        });
    return aspx_coll_run_wait(&run);
}
