/* SPDX-License-Identifier: BSD-3-Clause */
/* A schedule of messages among all ranks (common/coll/build/index.h). */
#include "config.h"

#include "messages.h"
#include "executor.h"
#include "kept.h"
#include "pinned.h"

#include "runtime/coll/machine/model.h"
#include "common/coll/model/choose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Of all ranks together: some 5 ms for each simulation, in a call of the
     * program. */
    STEPS_MOST = 1 << 16,
    /* Bytes from which a chain is a pipeline, and what then goes at once: a
     * segment takes a hop's latency to send at some GB/s. */
    LONG = 32768,
    SEGMENT = 8192,
};

/* ---- texts ------------------------------------------------------------------ */

static bool is_of(const struct aspx_coll_way *way, const char *family)
{
    return strcmp(way->messages.row->name, family) == 0;
}

static void text(const struct aspx_coll_way *way, struct asp_strbuf *sb)
{
    char buf[ASP_COLL_WAY_TEXT];

    asp_strbuf_add(sb, "%s", asp_coll_way_text(&way->messages, buf));
}

int aspx_coll_parse_messages(const char *text, struct aspx_coll_way *way,
                             struct asp_err *err)
{
    if (asp_coll_way_parse(text, &way->messages, err) != 0)
        return -1;
    return way->messages.row->op == way->op ? 0 : aspx_coll_way_bad(text, err);
}

/* ---- selection -------------------------------------------------------------- */

void aspx_coll_list_messages(struct aspx_coll_list *list,
                             const struct aspx_coll_way *common,
                             const struct asp_coll_problem *problem,
                             double more)
{
    static const struct asp_coll_effort effort = {.max_steps = STEPS_MOST};
    struct asp_coll_candidate *chosen;
    struct aspx_coll_way way = *common;
    struct asp_err err;
    uint32_t n;

    if (asp_coll_choose(aspx_coll_model(), problem, &effort, &chosen, &n,
                        &err) != 0)
        return;
    for (uint32_t i = 0; i < n && chosen[i].fate == ASP_COLL_OK; i++) {
        way.messages = chosen[i].way;
        aspx_coll_list_add(list, &way, aspx_coll_us_of(&chosen[i].cost) + more);
    }
    free(chosen);
}

/* Those that associate in the one way that is allowed, however slow. */
static void list_pinned(struct aspx_coll_list *list, struct aspx_coll_way *way,
                        const struct asp_coll_problem *problem)
{
    struct asp_coll_ways ways = {0};
    struct asp_coll_cost cost;
    struct asp_err err;

    while (asp_coll_ways_next(&ways, problem)) {
        way->messages = ways.way;
        if (asp_coll_way_is_chain(&ways.way) &&
            asp_coll_predict_within(aspx_coll_model(), &ways.way, problem, 1,
                                    INT64_MAX, STEPS_MOST, &cost, &err) == 0)
            aspx_coll_list_add(list, way, aspx_coll_us_of(&cost));
    }
}

static void list_all(struct aspx_coll_list *list)
{
    struct aspx_coll_way way = {.executor = &aspx_coll_by_messages,
                                .op = list->args->op};
    struct asp_coll_problem problem;

    aspx_coll_model_problem(list, &problem);
    if (aspx_coll_is_pinned(list->args))
        list_pinned(list, &way, &problem);
    else
        aspx_coll_list_messages(list, &way, &problem, 0);
}

static double predict(const struct aspx_coll_list *list,
                      const struct aspx_coll_way *way)
{
    struct asp_coll_problem problem;
    struct asp_coll_cost cost;
    struct asp_err err;

    aspx_coll_model_problem(list, &problem);
    return asp_coll_predict(aspx_coll_model(), &way->messages, &problem, 1,
                            &cost, &err) == 0
               ? aspx_coll_us_of(&cost)
               : 1;
}

static bool fits(const struct aspx_coll_comm *comm,
                 const struct asp_tune_args *args, size_t grain,
                 const struct aspx_coll_way *way)
{
    struct asp_coll_problem problem;
    struct asp_err err;

    aspx_coll_problem(comm, args, grain, &problem);
    return asp_coll_fits(&way->messages, &problem, &err) == 0;
}

/* ---- coll.reproducible ------------------------------------------------------ */

/* Each rank folds its own in front of what the ranks behind it have folded; of
 * prefixes, behind what those before it have. */
static bool keeps_order(const struct asp_tune_args *args,
                        const struct aspx_coll_way *way)
{
    (void) args;
    return asp_coll_way_is_chain(&way->messages);
}

/* The chain of the first row that has one: there is one of each reduction. */
static bool pinned(const struct aspx_coll_comm *comm,
                   const struct asp_tune_args *args,
                   struct aspx_coll_way *way_p)
{
    size_t segment = args->bytes > LONG ? SEGMENT : 0;

    (void) comm;
    return asp_coll_way_chain(args->op, segment, &way_p->messages);
}

/* ---- a call ----------------------------------------------------------------- */

static int move(struct aspx_coll_job *job, const struct aspx_coll_way *way)
{
    struct asp_coll_problem problem;

    aspx_coll_problem(job->comm, job->args, job->grain, &problem);
    problem.in_place = job->in_place;
    if (problem.counts && !job->sent && !asp_coll_forms[problem.op].reduces)
        problem.displs = job->comm->offsets;
    return aspx_coll_schedule(job, &way->messages, &problem, job->comm->rank,
                              NULL, job->in, job->out);
}

static int execute(struct aspx_coll_comm *comm,
                   const struct aspx_coll_call *call,
                   const struct asp_tune_args *args,
                   const struct aspx_coll_way *way)
{
    return aspx_coll_carry(comm, call, args, way, move);
}

const struct aspx_coll_executor aspx_coll_by_messages = {
    .is_of = is_of,
    .text = text,
    .parse = aspx_coll_parse_messages,
    .list = list_all,
    .predict = predict,
    .fits = fits,
    .keeps_order = keeps_order,
    .pinned = pinned,
    .execute = execute,
};
