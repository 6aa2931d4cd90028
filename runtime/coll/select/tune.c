/* SPDX-License-Identifier: BSD-3-Clause */
/* What is decided here must come out alike on all ranks: it looks at nothing
 * but what MPI makes equal on them (common/tune/key.h). Arguments that only MPI
 * can judge, and calls that move nothing, are MPI's on all ranks. */
#include "config.h"

#include "tune.h"

#include "candidates.h"
#include "comm.h"

#include "runtime/coll/comm/eligible.h"
#include "runtime/coll/algorithms/executor.h"
#include "runtime/coll/comm/global.h"
#include "runtime/coll/comm/tuning_cache.h"
#include "runtime/coll/algorithms/reproducible.h"
#include "runtime/coll/machine/settings.h"
#include "runtime/coll/nonblocking/context.h"
#include "runtime/coll/comm/straight.h"
#include "runtime/coll/comm/trace.h"
#include "runtime/base/clock.h"

/* Calls of so few bytes have one key: what they take is latency. And ranks of
 * an erroneous program, which is to get an error, mostly disagree about a few
 * bytes: so they still go the same way, and see it. */
enum { SMALL = 192, SMALL_BYTES = 64 };

bool aspx_coll_active, aspx_coll_began;

static double now_us(void)
{
    return 1e-3 * (double) aspx_clock_ns(CLOCK_MONOTONIC);
}

/* What the key of a call is made of. */
static struct asp_tune_args key_args(const struct asp_tune_args *args)
{
    struct asp_tune_args key = *args;

    if (key.bytes > 0 && key.bytes < SMALL)
        key.bytes = SMALL_BYTES;
    return key;
}

static void trace_chosen(struct aspx_coll_comm *comm,
                         const struct asp_tune_args *args,
                         const struct aspx_coll_config *config)
{
    struct asp_tune_args key = key_args(args);

    aspx_coll_trace_chosen(comm, &key, config);
}

/* ---- forced ----------------------------------------------------------------- */

/* The first configuration of the family that coll.force names, for tests and
 * for users who know better. */
static uint32_t forced_config(struct aspx_coll_comm *comm,
                              const struct asp_tune_args *args)
{
    struct asp_search_candidate list[ASP_DECIDE_CANDIDATES];
    struct asp_tune_args model = key_args(args);
    uint32_t call = asp_tune_call(&model), n;

    for (uint32_t i = 0; i < comm->nforced; i++)
        if (comm->forced[i].call == call)
            return comm->forced[i].config;
    asp_tune_call_args(call, &model);
    comm->nconfigs = comm->nforced * ASP_DECIDE_CANDIDATES;
    n = aspx_coll_order(comm, NULL, &model, list);
    if (comm->nforced < ASP_DECIDE_KEYS)
        comm->forced[comm->nforced++] = (struct aspx_coll_forced){
            call, list[n > 1 && list[0].config == ASP_DECIDE_DEFAULT].config};
    else
        return ASP_DECIDE_DEFAULT;
    return comm->forced[comm->nforced - 1].config;
}

static bool can_execute(const struct aspx_coll_comm *comm,
                        const struct asp_tune_args *args, size_t element_size,
                        const struct aspx_coll_config *config)
{
    return !config->executor->fits ||
           config->executor->fits(comm, args, element_size, config);
}

/* For a call that must associate in one way, which a table may not know. */
static int execute_reproducible(struct aspx_coll_comm *comm,
                                const struct aspx_coll_call *call,
                                const struct asp_tune_args *args,
                                const struct aspx_coll_config *config)
{
    struct aspx_coll_config standard;

    if (!config || !aspx_coll_keeps_order(args, config) ||
        !can_execute(comm, args, aspx_coll_element_size(call, args), config)) {
        aspx_coll_reproducible_config(comm, args, &standard);
        config = &standard;
    }
    if (comm->told)
        trace_chosen(comm, args, config);
    return config->executor->execute(comm, call, args, config);
}

/* Counts of each rank's own: what carries them out does so whatever they are.
 */
static bool fits_all_counts(enum asp_coll_op op)
{
    return asp_coll_forms[op].counts == ASP_COLL_COUNTS_OWN;
}

static bool is_same(const struct asp_tune_args *a,
                    const struct asp_tune_args *b)
{
    return a->op == b->op && (a->bytes == b->bytes || fits_all_counts(a->op)) &&
           a->reduction == b->reduction && a->floating == b->floating &&
           a->in_place == b->in_place && a->root == b->root;
}

/* can_execute(), asked once for calls that follow one another and are alike.
 * Counts of ranks may differ between these. */
static bool fits(struct aspx_coll_comm *comm, const struct aspx_coll_call *call,
                 const struct asp_tune_args *args,
                 const struct aspx_coll_config *config)
{
    size_t element_size = aspx_coll_element_size(call, args);

    if (comm->fitted.config == config &&
        comm->fitted.element_size == element_size &&
        is_same(&comm->fitted.args, args) &&
        (!call->counts || fits_all_counts(call->op)))
        return true;
    if (!can_execute(comm, args, element_size, config))
        return false;
    if (comm->told)
        trace_chosen(comm, args, config);
    comm->fitted.config = config;
    comm->fitted.element_size = element_size;
    comm->fitted.args = *args;
    return true;
}

/* A table may be of another shape of arguments than it was made for: a
 * configuration that does not fit is MPI's on all ranks. */
static int execute(struct aspx_coll_comm *comm,
                   const struct aspx_coll_call *call,
                   const struct asp_tune_args *args,
                   const struct aspx_coll_config *config)
{
    if (aspx_coll_is_reproducible(args))
        return execute_reproducible(comm, call, args, config);
    if (!config || !fits(comm, call, args, config))
        return call->mpi(call);
    return config->executor->execute(comm, call, args, config);
}

static int force(struct aspx_coll_comm *comm, const struct aspx_coll_call *call,
                 const struct asp_tune_args *args)
{
    uint32_t config = forced_config(comm, args);

    if (comm->told && config == ASP_DECIDE_DEFAULT)
        trace_chosen(comm, args, NULL);
    return execute(comm, call, args,
                   config == ASP_DECIDE_DEFAULT ? NULL
                                                : &comm->configs[config]);
}

/* ---- decided ---------------------------------------------------------------- */

static const struct aspx_coll_config *config_of(
    const struct aspx_coll_comm *comm, const struct asp_decision *decision)
{
    if (decision->config == ASP_DECIDE_DEFAULT)
        return NULL;
    return decision->from == ASP_DECIDE_FROM_SEARCH
               ? &comm->configs[decision->config]
               : aspx_coll_table_config(decision->config);
}

static void agree(struct aspx_coll_comm *comm)
{
    double own[ASP_DECIDE_VALUES], most[ASP_DECIDE_VALUES];

    asp_decide_values(comm->decide, own);
    if (aspx_coll_behind.MPI_Allreduce(own, most, ASP_DECIDE_VALUES, MPI_DOUBLE,
                                       MPI_MAX, comm->own) == MPI_SUCCESS)
        asp_decide_agreed(comm->decide, most);
    aspx_coll_tuning_cache_keep(comm);
}

/* MPI's own choice of calls that need not be reproducible. */
static void keep_straight(struct aspx_coll_comm *comm,
                          const struct aspx_coll_call *call,
                          const struct asp_tune_args *args)
{
    struct asp_decide_line *line = asp_decide_line(comm->decide);

    if (comm->told)
        trace_chosen(comm, args, NULL);
    if (line && !aspx_coll_is_reproducible(args))
        aspx_straight_keep(call, comm->rank, line);
}

static int decide(struct aspx_coll_comm *comm,
                  const struct aspx_coll_call *call,
                  const struct asp_tune_args *args)
{
    struct asp_tune_args key = key_args(args);
    struct asp_decision decision = asp_decide_enter(comm->decide, &key);
    const struct aspx_coll_config *config = config_of(comm, &decision);
    struct asp_decide_seen seen;
    double begun;
    int rc;

    if (!decision.timed && !decision.agree) {
        if (decision.config == ASP_DECIDE_DEFAULT)
            keep_straight(comm, call, args);
        return execute(comm, call, args, config);
    }
    if (comm->told)
        aspx_coll_trace_begin(comm, &key, &decision, config);
    begun = now_us();
    rc = execute(comm, call, args, config);
    seen = (struct asp_decide_seen){
        .took_us = now_us() - begun,
        .gap_us = comm->ended_us[args->op] > 0
                      ? begun - comm->ended_us[args->op]
                      : -1,
        .last_us = comm->last_us[args->op],
    };
    if (comm->told)
        aspx_coll_trace_end(comm);
    asp_decide_leave(comm->decide, &seen);
    comm->last_us[args->op] = seen.took_us;
    comm->ended_us[args->op] = begun + seen.took_us;
    if (decision.agree) {
        agree(comm);
        comm->ended_us[args->op] = now_us(); /* a clock costs 0.1 us */
    }
    return rc;
}

/* In which call of a communicator its state is made. The first reduction may
 * already have to be carried out in an order of ours. */
static uint32_t activation_of(const struct aspx_coll_call *call)
{
    return aspx_coll_settings.reproducible && asp_coll_forms[call->op].reduces
               ? 1
               : ASPX_COLL_ACTIVATION;
}

int aspx_coll_tuned(const struct aspx_coll_call *call)
{
    struct aspx_coll_comm *comm = aspx_coll_active
                                      ? aspx_coll_comm_of(call->comm)
                                      : NULL;
    struct aspx_coll_call masked;
    struct asp_tune_args args;

    if (!comm || comm->state == ASPX_COLL_COMM_LEFT_TO_MPI)
        return call->mpi(call);
    call = aspx_coll_significant(comm, call, &masked);
    if (comm->state == ASPX_COLL_COMM_INACTIVE) {
        if (comm->calls + 1 < activation_of(call))
            return aspx_coll_comm_called(comm, call);
        aspx_coll_comm_activate(comm);
        if (comm->state == ASPX_COLL_COMM_LEFT_TO_MPI)
            return call->mpi(call);
    }
    comm->calls++;
    aspx_coll_context_offer(comm);
    if (!aspx_coll_is_eligible(comm, call, &args))
        return call->mpi(call);
    return aspx_coll_settings.force ? force(comm, call, &args)
                                    : decide(comm, call, &args);
}
