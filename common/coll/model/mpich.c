/* SPDX-License-Identifier: BSD-3-Clause */
/* MPICH's rules: the names of limits are those of its control variables. */
#include "common/coll/model/mpich.h"
#include "common/coll/schedule/nodes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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
static bool has_levels(const struct asp_coll_problem *p, uint32_t *nodes_p)
{
    struct asp_coll_nodes nodes;
    bool levels;

    *nodes_p = 1;
    if (asp_coll_nodes_make(p->node, p->ranks, &nodes) < 0)
        return false;
    levels = nodes.n > 1 && nodes.most > 1;
    *nodes_p = nodes.n;
    asp_coll_nodes_destroy(&nodes);
    return levels;
}

static const char *bcast(const struct asp_coll_problem *p, bool levels,
                         uint32_t nodes)
{
    bool small = p->bytes < BCAST_SHORT_MSG_SIZE || p->ranks < BCAST_MIN_PROCS;
    bool medium = p->bytes < BCAST_LONG_MSG_SIZE && is_power(p->ranks);

    if (levels && (small || (medium && nodes < BCAST_MIN_PROCS)))
        return "bcast:levels,tree=knomial,k=2,across=tree,inner=2";
    if (levels && medium)
        return "bcast:levels,k=2,across=exchange,inner=2";
    if (small)
        return "bcast:tree=knomial,k=2";
    return medium ? "bcast:scatter-exchange,k=2" : "bcast:scatter-ring";
}

/* A vector that has an element for each of the largest power of two of n. */
static bool is_full(const struct asp_coll_problem *p, uint32_t n)
{
    return p->bytes / p->grain >= n / 2 + 1;
}

static const char *reduce(const struct asp_coll_problem *p, bool levels,
                          uint32_t nodes)
{
    bool large = p->bytes > REDUCE_SHORT_MSG_SIZE;

    if (levels && p->commutative)
        return large && is_full(p, nodes)
                   ? "reduce:levels,across=halving,inner=2"
                   : "reduce:levels,tree=knomial,k=2,across=tree,inner=2";
    return large && is_full(p, p->ranks) ? "reduce:halving"
                                         : "reduce:tree=knomial,k=2";
}

static const char *allreduce(const struct asp_coll_problem *p, bool levels,
                             uint32_t nodes)
{
    bool large = p->bytes > ALLREDUCE_SHORT_MSG_SIZE && p->commutative;

    if (levels && p->commutative)
        return large && is_full(p, nodes)
                   ? "allreduce:levels,across=halving,inner=2"
                   : "allreduce:levels,k=2,across=exchange,inner=2";
    return large && is_full(p, p->ranks) ? "allreduce:halving"
                                         : "allreduce:exchange,k=2";
}

static const char *allgather(const struct asp_coll_problem *p)
{
    size_t total = p->bytes * p->ranks;
    bool counted = p->op == ASP_COLL_ALLGATHERV;

    for (uint32_t i = 0; counted && i < p->ranks; i++)
        total = (i ? total : 0) + p->counts[i];
    if (total < ALLGATHER_LONG_MSG_SIZE && is_power(p->ranks))
        return counted ? "allgatherv:exchange,k=2" : "allgather:exchange,k=2";
    if (total < ALLGATHER_SHORT_MSG_SIZE)
        return counted ? "allgatherv:dissemination,k=2"
                       : "allgather:dissemination,k=2";
    return counted ? "allgatherv:ring" : "allgather:ring";
}

/* "halving" and so on, of both reduce-scatters. */
static const char *reduce_scatter(const struct asp_coll_problem *p)
{
    size_t total = p->bytes * p->ranks;

    for (uint32_t i = 0; p->op == ASP_COLL_REDUCE_SCATTER && i < p->ranks; i++)
        total = (i ? total : 0) + p->counts[i];
    if (p->commutative)
        return total < REDSCAT_COMMUTATIVE_LONG_MSG_SIZE ? "halving" : "flat";
    if (p->op == ASP_COLL_REDUCE_SCATTER_BLOCK && is_power(p->ranks))
        return "halving";
    return total < REDSCAT_NONCOMMUTATIVE_SHORT_MSG_SIZE ? "exchange,k=2"
                                                         : "flat";
}

static const char *rule(const struct asp_coll_problem *p, char *buf,
                        size_t size)
{
    const char *op = asp_coll_op_name(p->op);
    uint32_t nodes;
    bool levels = has_levels(p, &nodes);

    switch (p->op) {
    case ASP_COLL_BARRIER:
        return levels ? "barrier:levels,k=2,across=exchange,inner=2"
                      : "barrier:dissemination,k=2";
    case ASP_COLL_BCAST:
        return bcast(p, levels, nodes);
    case ASP_COLL_REDUCE:
        return reduce(p, levels, nodes);
    case ASP_COLL_SCATTER:
    case ASP_COLL_GATHER:
        snprintf(buf, size, "%s:tree=knomial,k=2", op);
        return buf;
    case ASP_COLL_ALLGATHER:
    case ASP_COLL_ALLGATHERV:
        return allgather(p);
    case ASP_COLL_ALLTOALL:
        return p->bytes <= ALLTOALL_SHORT_MSG_SIZE &&
                       p->ranks >= ALLTOALL_MIN_PROCS && !p->in_place
                   ? "alltoall:bruck,k=2"
                   : "alltoall:flat";
    case ASP_COLL_ALLREDUCE:
        return allreduce(p, levels, nodes);
    case ASP_COLL_REDUCE_SCATTER_BLOCK:
    case ASP_COLL_REDUCE_SCATTER:
        snprintf(buf, size, "%s:%s", op, reduce_scatter(p));
        return buf;
    case ASP_COLL_SCAN:
    case ASP_COLL_EXSCAN:
        snprintf(buf, size, "%s:exchange", op);
        return buf;
    case ASP_COLL_SCATTERV:
    case ASP_COLL_GATHERV:
    case ASP_COLL_ALLTOALLV:
    case ASP_COLL_OPS:
        break;
    }
    snprintf(buf, size, "%s:flat", op);
    return buf;
}

int asp_coll_mpich(const struct asp_coll_problem *problem,
                   struct asp_coll_way *way_p, struct asp_err *err)
{
    char buf[ASP_COLL_WAY_TEXT];

    /* By nodes where their ranks follow one another. */
    if (problem->op == ASP_COLL_SCAN &&
        asp_coll_way_parse("scan:levels,inner=2", way_p, err) == 0 &&
        asp_coll_fits(way_p, problem, NULL) == 0)
        return 0;
    return asp_coll_way_parse(rule(problem, buf, sizeof(buf)), way_p, err);
}

enum { WAYS_MAX = 7 };

static const char *const ways[ASP_COLL_OPS][WAYS_MAX] = {
    [ASP_COLL_BARRIER] = {"barrier:dissemination,k=2",
                          "barrier:levels,k=2,across=exchange,inner=2"},
    [ASP_COLL_BCAST] = {"bcast:tree=knomial,k=2", "bcast:scatter-exchange,k=2",
                        "bcast:scatter-ring",
                        "bcast:levels,tree=knomial,k=2,across=tree,inner=2",
                        "bcast:levels,k=2,across=exchange,inner=2"},
    [ASP_COLL_REDUCE] = {"reduce:tree=knomial,k=2", "reduce:halving",
                         "reduce:levels,tree=knomial,k=2,across=tree,inner=2",
                         "reduce:levels,across=halving,inner=2"},
    [ASP_COLL_SCATTER] = {"scatter:tree=knomial,k=2"},
    [ASP_COLL_GATHER] = {"gather:tree=knomial,k=2"},
    [ASP_COLL_ALLGATHER] = {"allgather:exchange,k=2",
                            "allgather:dissemination,k=2", "allgather:ring"},
    [ASP_COLL_ALLTOALL] = {"alltoall:bruck,k=2", "alltoall:flat"},
    [ASP_COLL_ALLREDUCE] = {"allreduce:exchange,k=2", "allreduce:halving",
                            "allreduce:levels,k=2,across=exchange,inner=2",
                            "allreduce:levels,across=halving,inner=2"},
    [ASP_COLL_REDUCE_SCATTER_BLOCK] = {"reduce_scatter_block:halving",
                                       "reduce_scatter_block:exchange,k=2",
                                       "reduce_scatter_block:flat"},
    [ASP_COLL_REDUCE_SCATTER] = {"reduce_scatter:halving",
                                 "reduce_scatter:exchange,k=2",
                                 "reduce_scatter:flat"},
    [ASP_COLL_SCAN] = {"scan:exchange", "scan:levels,inner=2"},
    [ASP_COLL_EXSCAN] = {"exscan:exchange"},
    [ASP_COLL_ALLGATHERV] = {"allgatherv:exchange,k=2",
                             "allgatherv:dissemination,k=2", "allgatherv:ring"},
};

const char *const *asp_coll_mpich_ways(enum asp_coll_op op)
{
    return ways[op];
}
