/* SPDX-License-Identifier: BSD-3-Clause */
/* A schedule of messages among all ranks (common/coll/build/index.h). */
#include "config.h"

#include "messages.h"
#include "executor.h"
#include "kept.h"
#include "reproducible.h"

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

static bool is_of(const struct aspx_coll_config *config, const char *family)
{
    return strcmp(config->messages.row->name, family) == 0;
}

static void text(const struct aspx_coll_config *config, struct asp_strbuf *sb)
{
    char buf[ASP_COLL_CONFIG_TEXT];

    asp_strbuf_add(sb, "%s", asp_coll_config_text(&config->messages, buf));
}

int aspx_coll_parse_messages(const char *text, struct aspx_coll_config *config,
                             struct asp_err *err)
{
    if (asp_coll_config_parse(text, &config->messages, err) != 0)
        return -1;
    return config->messages.row->op == config->op
               ? 0
               : aspx_coll_config_bad(text, err);
}

/* ---- selection -------------------------------------------------------------- */

void aspx_coll_list_messages(struct aspx_coll_list *list,
                             const struct aspx_coll_config *common,
                             const struct asp_coll_problem *problem,
                             double more)
{
    static const struct asp_coll_effort effort = {.max_steps = STEPS_MOST};
    struct asp_coll_candidate *chosen;
    struct aspx_coll_config config = *common;
    struct asp_err err;
    uint32_t n;

    if (asp_coll_choose(aspx_coll_model(), problem, &effort, &chosen, &n,
                        &err) != 0)
        return;
    for (uint32_t i = 0; i < n && chosen[i].fate == ASP_COLL_OK; i++) {
        config.messages = chosen[i].config;
        aspx_coll_list_add(list, &config,
                           aspx_coll_us_of(&chosen[i].cost) + more);
    }
    free(chosen);
}

/* Those that associate in the one way that is allowed, however slow. */
static void list_reproducible(struct aspx_coll_list *list,
                              struct aspx_coll_config *config,
                              const struct asp_coll_problem *problem)
{
    struct asp_coll_configs configs = {0};
    struct asp_coll_cost cost;
    struct asp_err err;

    while (asp_coll_configs_next(&configs, problem)) {
        config->messages = configs.config;
        if (asp_coll_config_is_chain(&configs.config) &&
            asp_coll_predict_within(aspx_coll_model(), &configs.config, problem,
                                    1, INT64_MAX, STEPS_MOST, &cost, &err) == 0)
            aspx_coll_list_add(list, config, aspx_coll_us_of(&cost));
    }
}

static void list_all(struct aspx_coll_list *list)
{
    struct aspx_coll_config config = {.executor = &aspx_coll_messages,
                                      .op = list->args->op};
    struct asp_coll_problem problem;

    aspx_coll_model_problem(list, &problem);
    if (aspx_coll_is_reproducible(list->args))
        list_reproducible(list, &config, &problem);
    else
        aspx_coll_list_messages(list, &config, &problem, 0);
}

static double predict(const struct aspx_coll_list *list,
                      const struct aspx_coll_config *config)
{
    struct asp_coll_problem problem;
    struct asp_coll_cost cost;
    struct asp_err err;

    aspx_coll_model_problem(list, &problem);
    return asp_coll_predict(aspx_coll_model(), &config->messages, &problem, 1,
                            &cost, &err) == 0
               ? aspx_coll_us_of(&cost)
               : 1;
}

static bool fits(const struct aspx_coll_comm *comm,
                 const struct asp_tune_args *args, size_t element_size,
                 const struct aspx_coll_config *config)
{
    struct asp_coll_problem problem;
    struct asp_err err;

    aspx_coll_problem(comm, args, element_size, &problem);
    return asp_coll_fits(&config->messages, &problem, &err) == 0;
}

/* ---- coll.reproducible ------------------------------------------------------ */

/* Each rank reduces its own in front of what the ranks behind it have reduced;
 * of prefixes, behind what those before it have. */
static bool keeps_order(const struct asp_tune_args *args,
                        const struct aspx_coll_config *config)
{
    (void) args;
    return asp_coll_config_is_chain(&config->messages);
}

/* The chain of the first row that has one: there is one of each reduction. */
static bool reproducible(const struct aspx_coll_comm *comm,
                         const struct asp_tune_args *args,
                         struct aspx_coll_config *config_p)
{
    size_t segment = args->bytes > LONG ? SEGMENT : 0;

    (void) comm;
    return asp_coll_config_chain(args->op, segment, &config_p->messages);
}

/* ---- a call ----------------------------------------------------------------- */

static int move(struct aspx_coll_job *job,
                const struct aspx_coll_config *config)
{
    struct asp_coll_problem problem;

    aspx_coll_problem(job->comm, job->args, job->element_size, &problem);
    problem.in_place = job->in_place;
    if (problem.counts && !job->sent && !asp_coll_forms[problem.op].reduces)
        problem.displs = job->comm->offsets;
    return aspx_coll_schedule(job, &config->messages, &problem, job->comm->rank,
                              NULL, job->in, job->out);
}

static int execute(struct aspx_coll_comm *comm,
                   const struct aspx_coll_call *call,
                   const struct asp_tune_args *args,
                   const struct aspx_coll_config *config)
{
    return aspx_coll_execute_call(comm, call, args, config, move);
}

const struct aspx_coll_executor aspx_coll_messages = {
    .is_of = is_of,
    .text = text,
    .parse = aspx_coll_parse_messages,
    .list = list_all,
    .predict = predict,
    .fits = fits,
    .keeps_order = keeps_order,
    .reproducible = reproducible,
    .execute = execute,
};
