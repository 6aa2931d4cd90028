/* SPDX-License-Identifier: BSD-3-Clause */
/* MPICH's rules: the names of limits are those of its control variables. */
#include "common/coll/model/mpich.h"
#include "common/coll/schedule/nodes.h"

#include <errno.h>
#include <stddef.h>

enum {
    BCAST_MIN_PROCS = 8,
    BCAST_SHORT_MSG_SIZE = 12288,
    BCAST_LONG_MSG_SIZE = 524288,
    REDUCE_SHORT_MSG_SIZE = 2048,
    ALLREDUCE_SHORT_MSG_SIZE = 2048,
    ALLGATHER_SHORT_MSG_SIZE = 81920,
    ALLGATHER_LONG_MSG_SIZE = 524288,
    ALLTOALL_MIN_PROCS = 8,
    ALLTOALL_SHORT_MSG_SIZE = 256,
    REDSCAT_COMMUTATIVE_LONG_MSG_SIZE = 524288,
    REDSCAT_NONCOMMUTATIVE_SHORT_MSG_SIZE = 512,
};

static bool is_power(uint32_t n)
{
    return !(n & (n - 1));
}

/* Several nodes with several ranks: MPICH calls it hierarchical. */
struct where {
    bool levels;
    uint32_t nodes;
};

static struct where where_is(const struct asp_coll_problem *p)
{
    struct where where = {.nodes = 1};
    struct asp_coll_nodes nodes;

    if (asp_coll_nodes_make(p->node, p->ranks, &nodes) < 0)
        return where;
    where = (struct where){nodes.n > 1 && nodes.most > 1, nodes.n};
    asp_coll_nodes_destroy(&nodes);
    return where;
}

/* Bytes of all blocks together. */
static size_t total_of(const struct asp_coll_problem *p)
{
    size_t total = 0;

    if (!asp_coll_has_counts(p->op))
        return p->bytes * p->ranks;
    for (uint32_t i = 0; i < p->ranks; i++)
        total += p->counts[i];
    return total;
}

/* Which of the configurations of an operation, by their numbers in its row. */

static int barrier(const struct asp_coll_problem *p, struct where where)
{
    enum { DISSEMINATION, LEVELS };

    (void) p;
    return where.levels ? LEVELS : DISSEMINATION;
}

static int bcast(const struct asp_coll_problem *p, struct where where)
{
    enum { TREE, EXCHANGE, RING, LEVELS_TREE, LEVELS_EXCHANGE };
    bool small = p->bytes < BCAST_SHORT_MSG_SIZE || p->ranks < BCAST_MIN_PROCS;
    bool medium = p->bytes < BCAST_LONG_MSG_SIZE && is_power(p->ranks);

    if (where.levels && (small || (medium && where.nodes < BCAST_MIN_PROCS)))
        return LEVELS_TREE;
    if (where.levels && medium)
        return LEVELS_EXCHANGE;
    if (small)
        return TREE;
    return medium ? EXCHANGE : RING;
}

/* A vector that has an element for each of the largest power of two of n. */
static bool is_full(const struct asp_coll_problem *p, uint32_t n)
{
    return p->bytes / p->element_size >= n / 2 + 1;
}

/* Of reduce and allreduce: the configuration for short vectors, that for long
 * ones, and the same over nodes. */
static int reduction(const struct asp_coll_problem *p, struct where where,
                     bool large)
{
    enum { SHORT, LONG, LEVELS_SHORT, LEVELS_LONG };

    if (where.levels && p->commutative)
        return large && is_full(p, where.nodes) ? LEVELS_LONG : LEVELS_SHORT;
    return large && is_full(p, p->ranks) ? LONG : SHORT;
}

static int reduce(const struct asp_coll_problem *p, struct where where)
{
    return reduction(p, where, p->bytes > REDUCE_SHORT_MSG_SIZE);
}

static int allreduce(const struct asp_coll_problem *p, struct where where)
{
    return reduction(p, where,
                     p->bytes > ALLREDUCE_SHORT_MSG_SIZE && p->commutative);
}

static int allgather(const struct asp_coll_problem *p, struct where where)
{
    enum { EXCHANGE, DISSEMINATION, RING };
    size_t total = total_of(p);

    (void) where;
    if (total < ALLGATHER_LONG_MSG_SIZE && is_power(p->ranks))
        return EXCHANGE;
    return total < ALLGATHER_SHORT_MSG_SIZE ? DISSEMINATION : RING;
}

static int alltoall(const struct asp_coll_problem *p, struct where where)
{
    enum { BRUCK, FLAT };

    (void) where;
    return p->bytes <= ALLTOALL_SHORT_MSG_SIZE &&
                   p->ranks >= ALLTOALL_MIN_PROCS && !p->in_place
               ? BRUCK
               : FLAT;
}

static int reduce_scatter(const struct asp_coll_problem *p, struct where where)
{
    enum { HALVING, EXCHANGE, FLAT };
    size_t total = total_of(p);

    (void) where;
    if (p->commutative)
        return total < REDSCAT_COMMUTATIVE_LONG_MSG_SIZE ? HALVING : FLAT;
    if (!asp_coll_has_counts(p->op) && is_power(p->ranks))
        return HALVING;
    return total < REDSCAT_NONCOMMUTATIVE_SHORT_MSG_SIZE ? EXCHANGE : FLAT;
}

/* By nodes where their ranks follow one another. */
static int scan(const struct asp_coll_problem *p, struct where where)
{
    enum { EXCHANGE, LEVELS };
    struct asp_coll_config config;

    (void) where;
    return asp_coll_config_parse("scan:levels,inner=2", &config, NULL) == 0 &&
                   asp_coll_fits(&config, p, NULL) == 0
               ? LEVELS
               : EXCHANGE;
}

enum { CONFIGS_MAX = 6 };

/* The configurations that MPICH has of an operation, and which one it takes:
 * NULL, the first. */
static const struct {
    int (*choose)(const struct asp_coll_problem *p, struct where where);
    const char *configs[CONFIGS_MAX]; /* NULL after the last */
} rules[ASP_COLL_OPS] = {
    [ASP_COLL_BARRIER] = {barrier,
                          {"barrier:dissemination,k=2",
                           "barrier:levels,k=2,across=exchange,inner=2"}},
    [ASP_COLL_BCAST] = {bcast,
                        {"bcast:tree=knomial,k=2", "bcast:scatter-exchange,k=2",
                         "bcast:scatter-ring",
                         "bcast:levels,tree=knomial,k=2,across=tree,inner=2",
                         "bcast:levels,k=2,across=exchange,inner=2"}},
    [ASP_COLL_REDUCE] = {reduce,
                         {"reduce:tree=knomial,k=2", "reduce:halving",
                          "reduce:levels,tree=knomial,k=2,across=tree,inner=2",
                          "reduce:levels,across=halving,inner=2"}},
    [ASP_COLL_SCATTER] = {NULL, {"scatter:tree=knomial,k=2"}},
    [ASP_COLL_GATHER] = {NULL, {"gather:tree=knomial,k=2"}},
    [ASP_COLL_ALLGATHER] = {allgather,
                            {"allgather:exchange,k=2",
                             "allgather:dissemination,k=2", "allgather:ring"}},
    [ASP_COLL_ALLTOALL] = {alltoall, {"alltoall:bruck,k=2", "alltoall:flat"}},
    [ASP_COLL_ALLREDUCE] = {allreduce,
                            {"allreduce:exchange,k=2", "allreduce:halving",
                             "allreduce:levels,k=2,across=exchange,inner=2",
                             "allreduce:levels,across=halving,inner=2"}},
    [ASP_COLL_REDUCE_SCATTER_BLOCK] = {reduce_scatter,
                                       {"reduce_scatter_block:halving",
                                        "reduce_scatter_block:exchange,k=2",
                                        "reduce_scatter_block:flat"}},
    [ASP_COLL_REDUCE_SCATTER] = {reduce_scatter,
                                 {"reduce_scatter:halving",
                                  "reduce_scatter:exchange,k=2",
                                  "reduce_scatter:flat"}},
    [ASP_COLL_SCAN] = {scan, {"scan:exchange", "scan:levels,inner=2"}},
    [ASP_COLL_EXSCAN] = {NULL, {"exscan:exchange"}},
    [ASP_COLL_ALLGATHERV] = {allgather,
                             {"allgatherv:exchange,k=2",
                              "allgatherv:dissemination,k=2",
                              "allgatherv:ring"}},
    [ASP_COLL_SCATTERV] = {NULL, {"scatterv:flat"}},
    [ASP_COLL_GATHERV] = {NULL, {"gatherv:flat"}},
    [ASP_COLL_ALLTOALLV] = {NULL, {"alltoallv:flat"}},
};

int asp_coll_mpich(const struct asp_coll_problem *problem,
                   struct asp_coll_config *config_p, struct asp_err *err)
{
    int chosen = rules[problem->op].choose
                     ? rules[problem->op].choose(problem, where_is(problem))
                     : 0;
    const char *config = rules[problem->op].configs[chosen];

    return config ? asp_coll_config_parse(config, config_p, err)
                  : asp_errf(err, EINVAL, "no rules of MPICH for %s",
                             asp_coll_op_name(problem->op));
}

const char *const *asp_coll_mpich_configs(enum asp_coll_op op)
{
    return rules[op].configs;
}
