/* SPDX-License-Identifier: BSD-3-Clause */
/* The index: which configuration fits which problem, and the schedule of a
 * rank. */
#include "common/coll/build/index.h"
#include "common/coll/build/rows.h"

#include <errno.h>
#include <string.h>

const struct asp_coll_row *asp_coll_rows(size_t *nrows_p)
{
    *nrows_p = asp_coll_row_count;
    return asp_coll_row_table;
}

unsigned asp_coll_config_params(const struct asp_coll_config *config)
{
    unsigned params = config->row->params;

    if (params & ASP_COLL_ACROSS && config->across != ASP_COLL_ACROSS_TREE)
        params &= ~(unsigned) ASP_COLL_TREE;
    if (params & ASP_COLL_ACROSS && config->across != ASP_COLL_ACROSS_EXCHANGE)
        params &= ~(unsigned) ASP_COLL_RADIX;
    return params;
}

bool asp_coll_config_is_chain(const struct asp_coll_config *config)
{
    return config->row->chain &&
           (!(config->row->params & ASP_COLL_TREE) ||
            (config->tree.shape == ASP_COLL_KARY && config->tree.k == 1));
}

bool asp_coll_config_chain(enum asp_coll_op op, size_t segment,
                           struct asp_coll_config *config_p)
{
    const struct asp_coll_row *row = asp_coll_row_table;
    const struct asp_coll_row *end = row + asp_coll_row_count;

    while (row < end && !(row->op == op && row->chain))
        row++;
    if (row == end)
        return false;
    *config_p = (struct asp_coll_config){.row = row, .segment = segment};
    if (row->params & ASP_COLL_TREE)
        config_p->tree = (struct asp_coll_tree){.shape = ASP_COLL_KARY, .k = 1};
    return true;
}

/* Operations that move a subtree as one piece. */
static bool has_blocks(const struct asp_coll_form *form)
{
    return form->counts != ASP_COLL_COUNTS_OWN &&
           (form->in == ASP_COLL_ALL_BLOCKS) !=
               (form->out == ASP_COLL_ALL_BLOCKS);
}

static int check_problem(const struct asp_coll_problem *p, struct asp_err *err)
{
    const struct asp_coll_form *form = &asp_coll_forms[p->op];
    bool counted = asp_coll_has_counts(p->op);
    bool both = form->counts == ASP_COLL_COUNTS_OWN && asp_coll_exchanges(form);

    if (p->ranks < 1 || p->ranks > ASP_COLL_RANKS || p->root >= p->ranks)
        return asp_errf(err, EINVAL, "rank %u as root of %u ranks",
                        (unsigned) p->root, (unsigned) p->ranks);
    if (p->element_size < 1 ||
        (form->reduces && !counted && p->bytes % p->element_size))
        return asp_errf(err, EINVAL,
                        "%zu bytes are no whole number of elements of %zu",
                        p->bytes, p->element_size);
    if (counted && !p->counts && !(both && p->in_place))
        return asp_errf(err, EINVAL, "%s needs counts",
                        asp_coll_op_name(p->op));
    if (both && !p->recv_counts)
        return asp_errf(err, EINVAL, "%s needs counts to receive",
                        asp_coll_op_name(p->op));
    return 0;
}

static uint64_t box_volume(const struct asp_coll_tree *tree)
{
    uint64_t volume = 1;

    for (int d = 0; d < ASP_COLL_DIMS && tree->dims[d]; d++)
        volume *= tree->dims[d];
    return volume;
}

/* The values themselves; n ranks are in the tree or exchange. */
static int check_values(const struct asp_coll_config *config, uint32_t n,
                        struct asp_err *err)
{
    unsigned params = asp_coll_config_params(config);
    bool tree = params & ASP_COLL_TREE;
    bool fork = tree && config->tree.shape == ASP_COLL_FORK;
    bool bine = tree && config->tree.shape == ASP_COLL_BINE;
    uint32_t least = tree && config->tree.shape == ASP_COLL_KARY ? 1 : 2;

    if (params & (ASP_COLL_TREE | ASP_COLL_RADIX) && !fork && !bine &&
        config->tree.k < least)
        return asp_errf(err, EINVAL, "k=%u: %u is the least",
                        (unsigned) config->tree.k, (unsigned) least);
    if (fork && box_volume(&config->tree) < n)
        return asp_errf(err, EINVAL, "dims hold %u of %u ranks",
                        (unsigned) box_volume(&config->tree), (unsigned) n);
    if (params & ASP_COLL_INNER && config->inner < 2)
        return asp_errf(err, EINVAL, "inner=%u: 2 is the least",
                        (unsigned) config->inner);
    if (params & ASP_COLL_ACROSS &&
        !(config->row->across >> config->across & 1))
        return asp_errf(err, EINVAL, "%s:%s does not have this across",
                        asp_coll_op_name(config->row->op), config->row->name);
    return 0;
}

static int refuse(const struct asp_coll_config *config, const char *what,
                  struct asp_err *err)
{
    return asp_errf(err, ENOTSUP, "%s:%s needs %s",
                    asp_coll_op_name(config->row->op), config->row->name, what);
}

static int check_needs(const struct asp_coll_config *config,
                       const struct asp_coll_problem *p,
                       const struct asp_coll_nodes *nodes, struct asp_err *err)
{
    const struct asp_coll_form *form = &asp_coll_forms[p->op];
    unsigned require = config->row->require;
    bool bine = asp_coll_config_params(config) & ASP_COLL_TREE &&
                config->tree.shape == ASP_COLL_BINE;

    if (bine && has_blocks(form))
        return refuse(config, "trees whose subtrees are intervals, not bine",
                      err);
    if (bine && form->reduces && !p->commutative)
        return refuse(config, "a commutative operation for tree=bine", err);
    if (require & ASP_COLL_COMMUTATIVE && !p->commutative)
        return refuse(config, "a commutative operation", err);
    if (require & ASP_COLL_SMOOTH && !asp_coll_smooth(p->ranks, config->tree.k))
        return refuse(config, "ranks whose prime factors are at most k", err);
    if (require & ASP_COLL_PART && config->tree.k + 1 >= p->ranks)
        return refuse(config, "more than k other ranks", err);
    if (require & ASP_COLL_NODES && (nodes->n < 2 || nodes->most < 2))
        return refuse(config, "several nodes with several ranks", err);
    if (require & ASP_COLL_BLOCKS && !nodes->blocks)
        return refuse(config, "nodes whose ranks follow one another", err);
    if (require & ASP_COLL_ORDERED && !nodes->blocks && !p->commutative)
        return refuse(config,
                      "a commutative operation, or nodes whose ranks follow "
                      "one another",
                      err);
    if (config->row->across && config->across == ASP_COLL_ACROSS_RING &&
        form->reduces && !p->commutative)
        return refuse(config, "a commutative operation for its ring", err);
    if (asp_coll_exchanges(form) && config->row->across &&
        config->across == ASP_COLL_ACROSS_EXCHANGE &&
        nodes->least != nodes->most)
        return refuse(config, "nodes of one size for an exchange", err);
    if (config->row->params & ASP_COLL_LEADERS &&
        (config->leaders < 1 || config->leaders > nodes->least))
        return asp_errf(err, ENOTSUP, "leaders=%u of nodes with %u ranks",
                        (unsigned) config->leaders, (unsigned) nodes->least);
    return 0;
}

static int check(const struct asp_coll_config *config,
                 const struct asp_coll_problem *problem,
                 const struct asp_coll_nodes *nodes, struct asp_err *err)
{
    uint32_t n = config->row->require & ASP_COLL_NODES ? nodes->n
                                                       : problem->ranks;

    if (config->row->op != problem->op)
        return asp_errf(err, EINVAL, "a configuration of %s for %s",
                        asp_coll_op_name(config->row->op),
                        asp_coll_op_name(problem->op));
    if (check_problem(problem, err) < 0 || check_values(config, n, err) < 0)
        return -1;
    return check_needs(config, problem, nodes, err);
}

static int find_nodes(const struct asp_coll_problem *problem,
                      struct asp_coll_nodes *nodes, struct asp_err *err)
{
    if (problem->ranks < 1 || problem->ranks > ASP_COLL_RANKS)
        return asp_errf(err, EINVAL, "%u ranks", (unsigned) problem->ranks);
    if (asp_coll_nodes_make(problem->node, problem->ranks, nodes) < 0)
        return asp_errf(err, errno, "nodes of %u ranks: %s",
                        (unsigned) problem->ranks, strerror(errno));
    return 0;
}

int asp_coll_fits(const struct asp_coll_config *config,
                  const struct asp_coll_problem *problem, struct asp_err *err)
{
    struct asp_coll_nodes nodes;
    int rc;

    if (find_nodes(problem, &nodes, err) < 0)
        return -1;
    rc = check(config, problem, &nodes, err);
    asp_coll_nodes_destroy(&nodes);
    return rc;
}

int asp_coll_make(const struct asp_coll_config *config,
                  const struct asp_coll_problem *problem,
                  const struct asp_coll_nodes *nodes, uint32_t rank,
                  struct asp_coll_schedule *s, struct asp_err *err)
{
    struct asp_coll_maker maker = {
        .s = s,
        .config = config,
        .problem = problem,
        .nodes = nodes,
        .rank = rank,
    };

    asp_coll_reset(s);
    config->row->build(&maker);
    asp_coll_release(&maker);
    if (asp_coll_finish(s) == 0)
        return 0;
    asp_errf(err, errno, "%s:%s: rank %u: %s", asp_coll_op_name(problem->op),
             config->row->name, (unsigned) rank, strerror(errno));
    asp_coll_reset(s);
    return -1;
}

int asp_coll_build(const struct asp_coll_config *config,
                   const struct asp_coll_problem *problem, uint32_t rank,
                   struct asp_coll_schedule *s, struct asp_err *err)
{
    struct asp_coll_nodes nodes;
    int rc;

    if (find_nodes(problem, &nodes, err) < 0)
        return -1;
    rc = check(config, problem, &nodes, err);
    if (rc == 0 && rank >= problem->ranks)
        rc = asp_errf(err, EINVAL, "rank %u of %u", (unsigned) rank,
                      (unsigned) problem->ranks);
    if (rc == 0)
        rc = asp_coll_make(config, problem, &nodes, rank, s, err);
    asp_coll_nodes_destroy(&nodes);
    return rc;
}

int asp_coll_build_some(const struct asp_coll_config *config,
                        const struct asp_coll_problem *problems,
                        uint32_t nproblems, uint64_t max_steps,
                        struct asp_coll_schedule *schedules,
                        struct asp_err *err)
{
    struct asp_coll_nodes nodes;
    uint64_t steps = 0;
    int rc = 0;

    if (find_nodes(problems, &nodes, err) < 0)
        return -1;
    for (uint32_t r = 0; r < problems->ranks && rc == 0; r++) {
        const struct asp_coll_problem *problem =
            &problems[nproblems > 1 ? r : 0];

        if (r < nproblems)
            rc = check(config, problem, &nodes, err);
        if (rc == 0)
            rc = asp_coll_make(config, problem, &nodes, r, &schedules[r], err);
        steps += schedules[r].nsteps;
        if (rc == 0 && steps > max_steps)
            rc = asp_errf(err, E2BIG, "more than %llu steps",
                          (unsigned long long) max_steps);
    }
    asp_coll_nodes_destroy(&nodes);
    return rc;
}
