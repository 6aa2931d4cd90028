/* SPDX-License-Identifier: BSD-3-Clause */
/* Every rank computes this list by itself, from the communicator's map of
 * nodes, the key and the agreed model: the same list everywhere. */
#include "config.h"

#include "candidates.h"

#include "counts.h"
#include "machine.h"
#include "model.h"
#include "pinned.h"
#include "settings.h"

#include "common/coll/model/choose.h"
#include "common/coll/model/mpich.h"

#include <stdlib.h>
#include <string.h>

enum {
    MODEL_GRAIN = 8, /* bytes of an element, in the model */
    /* Of all ranks together: some 5 ms for each simulation, in a call of the
     * program. */
    STEPS_MOST = 1 << 16,
    RANKS_SIMULATED = 512,      /* of MPICH's own, each one as a whole */
    FLAT = ASPX_NODE_RANKS_MAX, /* a radix */
};

/* One store of a flag until another CPU of the node reads it, and one byte into
 * and out of memory that is shared, ps: orders of magnitude for an ordering. */
#define FLAG_PS 200000.0
#define BYTE_PS 100.0

struct list {
    struct aspx_coll_comm *comm;
    const struct asp_tune_args *args;
    struct asp_search_candidate *out;
    uint32_t n;
};

void aspx_coll_problem(const struct aspx_coll_comm *comm,
                       const struct asp_tune_args *args, size_t grain,
                       struct asp_coll_problem *problem_p)
{
    *problem_p = (struct asp_coll_problem){
        .op = args->op,
        .ranks = comm->size,
        .root = args->root < comm->size ? args->root : 0,
        .bytes = args->bytes,
        .counts = aspx_coll_has_counts(args->op) ? comm->counts : NULL,
        .grain = grain,
        .commutative = args->fold != ASP_TUNE_ORDERED &&
                       !aspx_coll_is_pinned(args),
        .in_place = args->in_place,
        .node = comm->nnodes > 1 ? comm->node : NULL,
    };
}

/* That of the model, which knows a sum only where ranks have counts. */
static void model_problem(const struct list *list,
                          struct asp_coll_problem *problem_p)
{
    aspx_coll_problem(list->comm, list->args, MODEL_GRAIN, problem_p);
    if (problem_p->counts)
        problem_p->counts = aspx_coll_shares(list->comm, list->args->bytes,
                                             MODEL_GRAIN);
}

/* ---- a way gets its number -------------------------------------------------- */

/* There is room for all lists, since a rank without memory would go another
 * way. */
static uint32_t number_of(struct aspx_coll_comm *comm,
                          const struct aspx_coll_way *way)
{
    if (comm->nways == ASPX_COLL_WAYS)
        return UINT32_MAX;
    comm->ways[comm->nways] = *way;
    return comm->nways++;
}

static bool is_wanted(const struct aspx_coll_way *way)
{
    const char *force = aspx_coll_settings.force;

    return !force || aspx_coll_way_is_of(way, force);
}

/* When the list is full the last ones, that the model may think little of, are
 * left out: all ranks leave out the same. */
static void add(struct list *list, const struct aspx_coll_way *way, double us)
{
    uint32_t number;

    if (!is_wanted(way) || list->n >= ASP_DECIDE_CANDIDATES - 1)
        return;
    number = number_of(list->comm, way);
    if (number != UINT32_MAX)
        list->out[list->n++] = (struct asp_search_candidate){number, us};
}

/* ---- families --------------------------------------------------------------- */

static double us_of(const struct asp_coll_cost *cost)
{
    return 1e-6 * (double) cost->time;
}

/* The ways of messages for a problem, the best by the simulator first, added
 * with `more` us each; `way` has what they have in common. */
static void add_chosen(struct list *list, const struct aspx_coll_way *common,
                       const struct asp_coll_problem *problem, double more)
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
        add(list, &way, us_of(&chosen[i].cost) + more);
    }
    free(chosen);
}

static void add_messages(struct list *list)
{
    struct aspx_coll_way way = {.kind = ASPX_COLL_MESSAGES,
                                .op = list->args->op};
    struct asp_coll_problem problem;

    model_problem(list, &problem);
    add_chosen(list, &way, &problem, 0);
}

static uint32_t depth(uint32_t ranks, uint32_t radix)
{
    uint32_t levels = 1;

    for (uint64_t reach = radix > 1 ? radix : ranks; reach < ranks && radix > 1;
         reach *= radix)
        levels++;
    return radix > 1 ? levels : ranks;
}

/* How long the shared part takes in a node: flags up or down a tree, and the
 * bytes once for each rank. */
static double predict_shared(const struct list *list,
                             const struct aspx_node_way *way)
{
    uint32_t ranks = list->comm->nmembers;
    uint32_t radix = way->radix < ranks ? way->radix : ranks;
    double hop = FLAG_PS * (1 + 0.1 * radix);
    double bytes = (double) list->args->bytes;

    /* A CPU that is shared is given up by those that sleep. */
    if (aspx_coll_shares_cpus() && way->waiter != ASPX_NODE_SLEEP)
        hop *= way->waiter == ASPX_NODE_SPIN ? 1000 : 100;
    if (!aspx_coll_shares_cpus() && way->waiter != ASPX_NODE_SPIN)
        hop *= way->waiter == ASPX_NODE_SLEEP ? 20 : 1.5;
    if (list->args->op == ASP_COLL_ALLGATHER)
        bytes *= ranks;
    return 1e-6 * (2 * depth(ranks, radix) * hop + 2 * BYTE_PS * bytes);
}

/* Ways of the shared part that are worth a thought. */
static const uint32_t radixes[] = {2, 4, 16, FLAT};

static bool next_shared(const struct list *list, uint32_t choice,
                        struct aspx_node_way *way_p)
{
    enum { RADIXES = sizeof(radixes) / sizeof(radixes[0]) };
    uint32_t variants = list->args->op == ASP_COLL_BARRIER ? 4
                        : list->args->op == ASP_COLL_ALLREDUCE ||
                                list->args->op == ASP_COLL_REDUCE
                            ? ASPX_NODE_FOLDINGS
                            : 1;
    uint32_t variant = choice % variants;

    choice /= variants;
    *way_p = (struct aspx_node_way){
        .radix = radixes[choice % RADIXES],
        .segment = ASPX_NODE_SLOT_BYTES,
        .waiter = (uint8_t) (choice / RADIXES % ASPX_NODE_WAITERS),
    };
    if (list->args->op == ASP_COLL_BARRIER) {
        way_p->up = (uint8_t) (variant & 1);
        way_p->down = (uint8_t) (variant >> 1);
    } else {
        way_p->folding = (uint8_t) variant;
    }
    return choice / RADIXES < ASPX_NODE_WAITERS;
}

static void add_shared(struct list *list)
{
    struct aspx_coll_way way = {.kind = ASPX_COLL_SHARED, .op = list->args->op};

    if (!list->comm->area || list->comm->nnodes > 1 ||
        !aspx_coll_shared_has(list->args->op))
        return;
    for (uint32_t choice = 0; next_shared(list, choice, &way.shared); choice++)
        add(list, &way, predict_shared(list, &way.shared));
}

/* Memory in nodes, and between their leaders each way of messages. */
static void add_levels(struct list *list)
{
    const struct aspx_coll_comm *comm = list->comm;
    struct aspx_coll_way way = {
        .kind = ASPX_COLL_LEVELS,
        .op = list->args->op,
        .shared = {.radix = FLAT,
                   .segment = ASPX_NODE_SLOT_BYTES,
                   .waiter = aspx_coll_shares_cpus() ? ASPX_NODE_SLEEP
                                                     : ASPX_NODE_SPIN},
    };
    struct asp_coll_problem problem;

    if (!comm->area || comm->nnodes < 2 || comm->nnodes == comm->size ||
        !aspx_coll_levels_has(list->args->op))
        return;
    /* The vector of a node must be one block. */
    if ((list->args->op == ASP_COLL_ALLGATHER ||
         list->args->fold == ASP_TUNE_ORDERED) &&
        !comm->regular)
        return;
    model_problem(list, &problem);
    problem.ranks = comm->nnodes;
    problem.node = NULL;
    problem.root = problem.root ? comm->node[problem.root] : 0;
    if (list->args->op == ASP_COLL_ALLGATHER)
        problem.bytes *= comm->size / comm->nnodes;
    add_chosen(list, &way, &problem, predict_shared(list, &way.shared));
}

/* Those that associate in the one way that is allowed. */
static void add_pinned(struct list *list)
{
    struct aspx_coll_way way = {.kind = ASPX_COLL_MESSAGES,
                                .op = list->args->op};
    struct asp_coll_problem problem;
    struct asp_coll_ways ways = {0};
    struct asp_coll_cost cost;
    struct asp_err err;

    model_problem(list, &problem);
    while (asp_coll_ways_next(&ways, &problem)) {
        way.messages = ways.way;
        if (aspx_coll_keeps_order(list->args, &way) &&
            asp_coll_predict_within(aspx_coll_model(), &ways.way, &problem, 1,
                                    INT64_MAX, STEPS_MOST, &cost, &err) == 0)
            add(list, &way, us_of(&cost));
    }
}

/* MPICH's non-blocking algorithms build their schedule anew in each call, and
 * let it go: some 1 us on a CPU of 2020 (bench/coll_order), us. */
#define SCHEDULE_US 1.0

static bool builds_schedule(const struct aspx_native_way *way)
{
    char text[ASPX_NATIVE_TEXT];

    return strstr(aspx_native_text(way, text), "=nb-") != NULL;
}

/* What the way of our own costs that is nearest. Returns false where none is.
 */
static bool predict_native(const struct aspx_native_way *way,
                           const struct asp_coll_problem *problem,
                           struct asp_coll_cost *cost)
{
    char text[ASPX_NATIVE_TEXT];
    struct asp_coll_way like;
    struct asp_err err;

    if (aspx_native_like_divided(way, text) &&
        asp_coll_way_parse(text, &like, &err) == 0 &&
        asp_coll_predict(aspx_coll_model(), &like, problem, 1, cost, &err) == 0)
        return true;
    return asp_coll_way_parse(aspx_native_like(way, text), &like, &err) == 0 &&
           asp_coll_predict(aspx_coll_model(), &like, problem, 1, cost, &err) ==
               0;
}

/* By the rules that MPICH documents. */
static bool predict_mpich(const struct asp_coll_problem *problem,
                          struct asp_coll_cost *cost)
{
    struct asp_coll_way way;
    struct asp_err err;

    return asp_coll_mpich(problem, &way, &err) == 0 &&
           asp_coll_predict(aspx_coll_model(), &way, problem, 1, cost, &err) ==
               0;
}

/* MPICH's own algorithms, but those that are known to send what its own choice
 * sends: they can only lose, by what it takes to ask for them. */
static void add_native(struct list *list)
{
    struct aspx_native_problem native = {
        .op = list->args->op,
        .ranks = list->comm->size,
        .nodes = list->comm->nnodes,
        .args = list->args,
    };
    struct asp_coll_problem problem;
    struct aspx_native_ways ways = {0};
    struct asp_coll_cost standard, cost;
    bool known;

    model_problem(list, &problem);
    if (problem.ranks > RANKS_SIMULATED)
        return;
    known = predict_mpich(&problem, &standard) && !aspx_coll_settings.force;
    while (aspx_native_ways_next(&ways, &native)) {
        struct aspx_coll_way way = {
            .kind = ASPX_COLL_NATIVE, .op = list->args->op, .native = ways.way};

        if (predict_native(&ways.way, &problem, &cost) &&
            !(known && aspx_native_is_told_apart(&ways.way) &&
              asp_coll_sends_alike(&cost, &standard)))
            add(list, &way,
                us_of(&cost) + (builds_schedule(&ways.way) ? SCHEDULE_US : 0));
    }
}

static double predict_default(const struct list *list)
{
    struct aspx_coll_way pinned;
    struct asp_coll_problem problem;
    struct asp_coll_cost cost;
    struct asp_err err;

    model_problem(list, &problem);
    if (!aspx_coll_is_pinned(list->args))
        return predict_mpich(&problem, &cost) ? us_of(&cost) : 1;
    aspx_coll_pinned_way(list->comm, list->args, &pinned);
    if (pinned.kind == ASPX_COLL_SHARED)
        return predict_shared(list, &pinned.shared);
    return asp_coll_predict(aspx_coll_model(), &pinned.messages, &problem, 1,
                            &cost, &err) == 0
               ? us_of(&cost)
               : 1;
}

double aspx_coll_agree_us(struct aspx_coll_comm *comm)
{
    const struct asp_tune_args args = {
        .op = ASP_COLL_ALLREDUCE,
        .bytes = ASP_DECIDE_VALUES * sizeof(double),
        .fold = ASP_TUNE_BUILTIN, /* MPI_MAX: never pinned */
    };

    return predict_default(&(struct list){.comm = comm, .args = &args});
}

static int faster_first(const void *a, const void *b)
{
    const struct asp_search_candidate *one = a, *other = b;

    if (one->predicted_us < other->predicted_us)
        return -1;
    if (one->predicted_us > other->predicted_us)
        return 1;
    return one->way < other->way ? -1 : one->way > other->way;
}

uint32_t aspx_coll_order(void *data, const struct asp_tune_shape *shape,
                         const struct asp_tune_args *args,
                         struct asp_search_candidate *out)
{
    struct list list = {.comm = data, .args = args, .out = out};

    (void) shape;
    if (aspx_coll_is_pinned(args)) {
        if (aspx_coll_keeps_order(
                args, &(struct aspx_coll_way){.kind = ASPX_COLL_SHARED}))
            add_shared(&list);
        add_pinned(&list);
    } else {
        add_shared(&list);
        add_levels(&list);
        /* What the model thinks equal is in this order; schedules of ours are
         * kept from one call to the next. */
        add_messages(&list);
        add_native(&list);
    }
    out[list.n] = (struct asp_search_candidate){ASP_DECIDE_DEFAULT,
                                                predict_default(&list)};
    qsort(out, list.n + 1, sizeof(*out), faster_first);
    return list.n + 1;
}
