/* SPDX-License-Identifier: BSD-3-Clause */
/* MPICH's own algorithms, by its control variables (native.h). */
#include "config.h"

#include "execute_call.h"
#include "executor.h"

#include "runtime/coll/comm/counts.h"
#include "runtime/coll/machine/model.h"
#include "runtime/coll/mpich/native.h"
#include "runtime/coll/machine/settings.h"
#include "common/base/words.h"

#include <string.h>

enum { RANKS_SIMULATED = 512 }; /* each algorithm as a whole */

/* MPICH's non-blocking algorithms build their schedule anew in each call, and
 * let it go: some 1 us on a CPU of 2020 (bench/coll_order), us. */
#define SCHEDULE_US 1.0

/* ---- texts ------------------------------------------------------------------ */

static bool is_of(const struct aspx_coll_config *config, const char *family)
{
    const char *name = asp_after(family, "mpich-");

    return name && aspx_native_is_named(&config->native, name);
}

static void text(const struct aspx_coll_config *config, struct asp_strbuf *sb)
{
    char buf[ASPX_NATIVE_TEXT];

    asp_strbuf_add(sb, "%s", aspx_native_text(&config->native, buf));
}

static bool reads(enum asp_coll_op op, const char *text)
{
    (void) op;
    return strstr(text, ":mpich=");
}

static int parse(const char *text, struct aspx_coll_config *config,
                 struct asp_err *err)
{
    return aspx_native_parse(config->op, text, &config->native, err);
}

/* ---- selection -------------------------------------------------------------- */

static struct aspx_native_problem problem_of(const struct aspx_coll_comm *comm,
                                             const struct asp_tune_args *args)
{
    return (struct aspx_native_problem){
        .op = args->op,
        .ranks = comm->size,
        .nodes = comm->nnodes,
        .args = args,
    };
}

static bool cost_of(const char *text, const struct asp_coll_problem *problem,
                    struct asp_coll_cost *cost_p)
{
    struct asp_coll_config like;
    struct asp_err err;

    return asp_coll_config_parse(text, &like, &err) == 0 &&
           asp_coll_predict(aspx_coll_model(), &like, problem, 1, cost_p,
                            &err) == 0;
}

/* What the algorithm of our own costs that is nearest. Returns false where none
 * is. */
static bool predict(const struct aspx_native_config *config,
                    const struct asp_coll_problem *problem,
                    struct asp_coll_cost *cost_p)
{
    char text[ASPX_NATIVE_TEXT];

    return (aspx_native_like_divided(config, text) &&
            cost_of(text, problem, cost_p)) ||
           cost_of(aspx_native_like(config, text), problem, cost_p);
}

/* All but those that are known to send what MPICH's own choice sends: they can
 * only lose, by what it takes to ask for them. */
static void list_all(struct aspx_coll_list *list)
{
    struct aspx_native_problem native = problem_of(list->comm, list->args);
    struct asp_coll_problem problem;
    struct aspx_native_configs configs = {0};
    struct asp_coll_cost standard, cost;
    bool known;

    aspx_coll_model_problem(list, &problem);
    if (problem.ranks > RANKS_SIMULATED)
        return;
    known = aspx_coll_cost_of_mpich(&problem, &standard) &&
            !aspx_coll_settings.force;
    while (aspx_native_configs_next(&configs, &native)) {
        const struct aspx_coll_config config = {.executor = &aspx_coll_mpich,
                                                .op = list->args->op,
                                                .native = configs.config};

        if (predict(&config.native, &problem, &cost) &&
            !(known && aspx_native_is_told_apart(&config.native) &&
              asp_coll_sends_alike(&cost, &standard)))
            aspx_coll_list_add(list, &config,
                               aspx_coll_us_of(&cost) +
                                   (aspx_native_builds_schedule(&config.native)
                                        ? SCHEDULE_US
                                        : 0));
    }
}

static bool fits(const struct aspx_coll_comm *comm,
                 const struct asp_tune_args *args, size_t element_size,
                 const struct aspx_coll_config *config)
{
    struct aspx_native_problem problem = problem_of(comm, args);

    (void) element_size;
    return aspx_native_fits(&config->native, &problem);
}

/* ---- a call ----------------------------------------------------------------- */

/* MPICH gets bytes that lie one after the other from every rank: several of its
 * algorithms write elsewhere, or send something else, where types have gaps or
 * a lower bound or differ between ranks, and a rank does not know the types of
 * the others. It calls its error handlers itself. */
static int move(struct aspx_coll_job *job,
                const struct aspx_coll_config *config)
{
    const struct aspx_coll_comm *comm = job->comm;
    struct aspx_coll_call bytes = *job->call;
    bool counted = aspx_coll_has_counts(bytes.op);
    int rc;

    if (bytes.send != MPI_IN_PLACE)
        bytes.send = job->in;
    if (bytes.recv != MPI_IN_PLACE)
        bytes.recv = job->out;
    bytes.send_type = bytes.recv_type = MPI_BYTE;
    bytes.nsend = (MPI_Count) (counted ? comm->counts[comm->rank]
                                       : job->args->bytes);
    bytes.nrecv = (MPI_Count) job->args->bytes;
    bytes.counts = comm->counts;
    bytes.displs = comm->offsets;
    bytes.large = true;
    rc = aspx_native_call(&config->native, &bytes);
    job->reported = rc != MPI_SUCCESS;
    return rc;
}

/* Types of reductions are built in, and so the same on all ranks. */
static int execute(struct aspx_coll_comm *comm,
                   const struct aspx_coll_call *call,
                   const struct asp_tune_args *args,
                   const struct aspx_coll_config *config)
{
    return args->reduction == ASP_TUNE_NO_REDUCTION
               ? aspx_coll_execute_call(comm, call, args, config, move)
               : aspx_native_call(&config->native, call);
}

const struct aspx_coll_executor aspx_coll_mpich = {
    .family = "mpich",
    .is_of = is_of,
    .text = text,
    .reads = reads,
    .parse = parse,
    .list = list_all,
    .fits = fits,
    .execute = execute,
};
