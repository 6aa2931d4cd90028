/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory inside the nodes, and messages between one rank of each, its leader:
 * the lowest, but on the root's node the root.
 *
 *   barrier     all of a node have come | leaders: barrier   | the leader says so
 *   bcast                               | leaders: bcast     | to the node
 *   reduce      to the leader           | leaders: reduce    |
 *   allreduce   to the leader           | leaders: allreduce | to the node
 *   allgather   to the leader           | leaders: allgather | to the node
 *
 * An error does not keep a rank from taking part in what follows: the others
 * wait for it. */
#include "config.h"

#include "shared.h"
#include "messages.h"
#include "execute_call.h"
#include "executor.h"
#include "kept.h"

#include <string.h>

struct levels {
    const struct aspx_coll_job *job;
    const struct aspx_coll_config *config;
    uint32_t leader; /* of this node, as index in it */
    int rc;
};

static bool is_rooted(const struct levels *levels)
{
    return asp_coll_forms[levels->job->args->op].root != ASP_COLL_NO_ROOT;
}

static bool leads(const struct levels *levels)
{
    return levels->job->comm->index == levels->leader;
}

static void note(struct levels *levels, int rc)
{
    if (levels->rc == MPI_SUCCESS)
        levels->rc = rc;
}

/* The root leads its node. */
static void find_leader(struct levels *levels)
{
    const struct aspx_coll_comm *comm = levels->job->comm;
    uint32_t root = levels->job->args->root;

    if (!is_rooted(levels) || comm->node[root] != comm->node[comm->rank])
        return;
    while (comm->members[levels->leader] != (int) root)
        levels->leader++;
}

/* What leaders do; bytes of the problem among them. */
static void between(struct levels *levels, size_t bytes, const void *in,
                    void *out)
{
    const struct aspx_coll_job *job = levels->job;
    struct aspx_coll_comm *comm = job->comm;
    uint32_t root = is_rooted(levels) ? job->args->root : 0;
    uint32_t root_node = comm->node[root];
    int lowest = comm->leaders[root_node];
    struct asp_coll_problem problem;

    if (!leads(levels))
        return;
    aspx_coll_problem(comm, job->args, job->element_size, &problem);
    problem.ranks = comm->nnodes;
    problem.node = NULL;
    problem.bytes = bytes;
    problem.in_place = false;
    problem.root = is_rooted(levels) ? root_node : 0;
    if (is_rooted(levels))
        comm->leaders[root_node] = (int) root;
    note(levels,
         aspx_coll_schedule(job, &levels->config->messages, &problem,
                            comm->node[comm->rank], comm->leaders, in, out));
    comm->leaders[root_node] = lowest;
}

static void to_node(struct levels *levels, void *data, size_t bytes)
{
    note(levels,
         aspx_node_bcast(levels->job->comm->area, &levels->config->shared, data,
                         bytes, levels->leader));
}

static void barrier(struct levels *levels)
{
    char word = 0;

    note(levels,
         aspx_node_barrier(levels->job->comm->area, &levels->config->shared));
    between(levels, 0, NULL, NULL);
    to_node(levels, &word, sizeof(word));
}

static void bcast(struct levels *levels)
{
    const struct aspx_coll_job *job = levels->job;

    between(levels, job->args->bytes, NULL, job->out);
    to_node(levels, job->out, job->args->bytes);
}

/* Returns where the leader has what its node has reduced. */
static void *reduce_in_node(struct levels *levels)
{
    const struct aspx_coll_job *job = levels->job;
    void *sum = aspx_coll_scratch(&job->comm->levels, job->args->bytes);
    struct aspx_node_operator operator;
    struct aspx_node_mpi_op how;

    aspx_coll_operator(job, &how, &operator);
    note(levels, aspx_node_reduce(job->comm->area, &levels->config->shared,
                                  &operator, aspx_coll_input(job), sum,
                                  job->args->bytes / job->element_size,
                                  levels->leader));
    return sum;
}

static void reduce(struct levels *levels)
{
    const struct aspx_coll_job *job = levels->job;
    void *sum = reduce_in_node(levels);

    between(levels, job->args->bytes, sum, job->out);
}

static void allreduce(struct levels *levels)
{
    reduce(levels);
    to_node(levels, levels->job->out, levels->job->args->bytes);
}

/* Nodes have equal numbers of ranks, one behind the other. */
static void allgather(struct levels *levels)
{
    const struct aspx_coll_job *job = levels->job;
    struct aspx_coll_comm *comm = job->comm;
    size_t block = job->args->bytes, of_node = block * comm->nmembers;
    struct aspx_node_blocks blocks = {.size = block};
    void *node = aspx_coll_scratch(&comm->levels, of_node);
    const void *in = job->in_place ? (char *) job->out + comm->rank * block
                                   : job->in;

    note(levels, aspx_node_gather(comm->area, &levels->config->shared, in,
                                  block, node, &blocks, levels->leader));
    between(levels, of_node, node, job->out);
    to_node(levels, job->out, block * comm->size);
}

static const struct row {
    void (*execute)(struct levels *levels); /* NULL: not done so */
    bool blocks; /* the vector of a node must be one block */
} rows[ASP_COLL_OPS] = {
    [ASP_COLL_BARRIER] = {.execute = barrier},
    [ASP_COLL_BCAST] = {.execute = bcast},
    [ASP_COLL_REDUCE] = {.execute = reduce},
    [ASP_COLL_ALLGATHER] = {.execute = allgather, .blocks = true},
    [ASP_COLL_ALLREDUCE] = {.execute = allreduce},
};

static int move(struct aspx_coll_job *job,
                const struct aspx_coll_config *config)
{
    struct levels levels = {.job = job, .config = config};

    find_leader(&levels);
    rows[config->op].execute(&levels);
    return levels.rc;
}

static int execute(struct aspx_coll_comm *comm,
                   const struct aspx_coll_call *call,
                   const struct asp_tune_args *args,
                   const struct aspx_coll_config *config)
{
    return aspx_coll_execute_call(comm, call, args, config, move);
}

/* ---- texts: the part in memory, a plus, that of messages -------------------- */

static void text(const struct aspx_coll_config *config, struct asp_strbuf *sb)
{
    char messages[ASP_COLL_CONFIG_TEXT];

    aspx_coll_text_of_memory(config, sb);
    asp_strbuf_add(sb, "+%s",
                   asp_coll_config_text(&config->messages, messages));
}

static bool reads(enum asp_coll_op op, const char *text)
{
    const char *rest = aspx_coll_after_shared(op, text);

    return rest && strchr(rest, '+');
}

static int parse(const char *text, struct aspx_coll_config *config,
                 struct asp_err *err)
{
    const char *rest = aspx_coll_after_shared(config->op, text);
    size_t len = strcspn(rest, "+");

    return rows[config->op].execute && aspx_coll_parse_memory(rest, len, config)
               ? aspx_coll_parse_messages(rest + len + 1, config, err)
               : aspx_coll_config_bad(text, err);
}

/* ---- selection -------------------------------------------------------------- */

/* Are there levels, of which the vector of a node is one block where it must
 * be?
 */
static bool has_levels(const struct aspx_coll_comm *comm,
                       const struct asp_tune_args *args)
{
    const struct row *row = &rows[args->op];

    return comm->area && comm->nnodes > 1 && comm->nnodes < comm->size &&
           row->execute &&
           (comm->regular ||
            !(row->blocks || args->reduction == ASP_TUNE_ORDERED));
}

/* Between the leaders each configuration of messages. */
static void list_all(struct aspx_coll_list *list)
{
    const struct aspx_coll_comm *comm = list->comm;
    const struct row *row = &rows[list->args->op];
    struct aspx_coll_config config = {
        .executor = &aspx_coll_hierarchical,
        .op = list->args->op,
        .shared = aspx_coll_flat_memory(),
    };
    struct asp_coll_problem problem;

    if (!has_levels(comm, list->args))
        return;
    aspx_coll_model_problem(list, &problem);
    problem.ranks = comm->nnodes;
    problem.node = NULL;
    problem.root = problem.root ? comm->node[problem.root] : 0;
    if (row->blocks)
        problem.bytes *= comm->size / comm->nnodes;
    aspx_coll_list_messages(list, &config, &problem,
                            aspx_coll_predict_memory(list, &config));
}

static bool fits(const struct aspx_coll_comm *comm,
                 const struct asp_tune_args *args, size_t element_size,
                 const struct aspx_coll_config *config)
{
    struct asp_coll_problem problem;
    struct asp_err err;

    if (!has_levels(comm, args))
        return false;
    aspx_coll_problem(comm, args, element_size, &problem);
    problem.ranks = comm->nnodes;
    problem.root = 0;
    problem.node = NULL;
    problem.in_place = false;
    return asp_coll_fits(&config->messages, &problem, &err) == 0;
}

const struct aspx_coll_executor aspx_coll_hierarchical = {
    .family = ASPX_COLL_SHARED_FAMILY,
    .text = text,
    .reads = reads,
    .parse = parse,
    .list = list_all,
    .fits = fits,
    .execute = execute,
};
