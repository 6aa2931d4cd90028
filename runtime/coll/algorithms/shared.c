/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks are on one node: its memory does it all. An operation is a row. */
#include "config.h"

#include "alltoallv.h"
#include "shared.h"
#include "executor.h"
#include "reproducible.h"

#include "runtime/coll/machine/machine.h"
#include "common/base/pairs.h"
#include "common/base/words.h"

#include <stdio.h>
#include <string.h>

enum { FLAT = ASPX_NODE_RANKS_MAX }; /* a radix */

/* One store of a flag until another CPU of the node reads it, and one byte into
 * and out of memory that is shared, ps: orders of magnitude for an ordering. */
#define FLAG_PS 200000.0
#define BYTE_PS 100.0

/* ---- operations ------------------------------------------------------------- */

typedef int execute_f(const struct aspx_coll_job *job,
                      const struct aspx_node_config *how);

void aspx_coll_operator(const struct aspx_coll_job *job,
                        struct aspx_node_mpi_op *how,
                        struct aspx_node_operator *operator)
{
    *how = (struct aspx_node_mpi_op){
        .mpi = &aspx_coll_behind,
        .op = job->call->reduction,
        .type = job->call->recv_type,
    };
    *operator=(struct aspx_node_operator){
        .reduce = aspx_node_mpi_reduce,
        .arg = how,
        .element = job->element_size,
        .is_commutative = job->args->reduction != ASP_TUNE_ORDERED,
        .reproducible = aspx_coll_is_reproducible(job->args),
    };
}

/* What a rank that says MPI_IN_PLACE has is where it is to be already. */
static const void *unless_in_place(const struct aspx_coll_job *job,
                                   const void *data)
{
    return job->in_place ? NULL : data;
}

static int barrier(const struct aspx_coll_job *job,
                   const struct aspx_node_config *how)
{
    return aspx_node_barrier(job->comm->area, how);
}

static int bcast(const struct aspx_coll_job *job,
                 const struct aspx_node_config *how)
{
    return aspx_node_bcast(job->comm->area, how, job->out, job->args->bytes,
                           job->args->root);
}

static int scatter(const struct aspx_coll_job *job,
                   const struct aspx_node_config *how)
{
    struct aspx_node_blocks blocks = {.size = job->args->bytes};

    return aspx_node_scatter(job->comm->area, how, job->in, &blocks,
                             job->in_place ? NULL : job->out, job->args->bytes,
                             job->args->root);
}

static int gather(const struct aspx_coll_job *job,
                  const struct aspx_node_config *how)
{
    struct aspx_node_blocks blocks = {.size = job->args->bytes};

    return aspx_node_gather(job->comm->area, how, unless_in_place(job, job->in),
                            job->args->bytes, job->out, &blocks,
                            job->args->root);
}

static int allgather(const struct aspx_coll_job *job,
                     const struct aspx_node_config *how)
{
    struct aspx_node_blocks blocks = {.size = job->args->bytes};

    return aspx_node_allgather(job->comm->area, how,
                               unless_in_place(job, job->in), job->args->bytes,
                               job->out, &blocks);
}

static int allgatherv(const struct aspx_coll_job *job,
                      const struct aspx_node_config *how)
{
    const struct aspx_coll_comm *comm = job->comm;
    struct aspx_node_blocks blocks = {
        .size = job->args->bytes,
        .sizes = comm->counts,
        .offsets = comm->offsets,
    };

    return aspx_node_allgather(comm->area, how, unless_in_place(job, job->in),
                               comm->counts[comm->rank], job->out, &blocks);
}

static int reduce(const struct aspx_coll_job *job,
                  const struct aspx_node_config *how)
{
    struct aspx_node_operator operator;
    struct aspx_node_mpi_op mpi;

    aspx_coll_operator(job, &mpi, &operator);
    return aspx_node_reduce(
        job->comm->area, how, &operator, aspx_coll_input(job), job->out,
        job->args->bytes / job->element_size, job->args->root);
}

static int allreduce(const struct aspx_coll_job *job,
                     const struct aspx_node_config *how)
{
    struct aspx_node_operator operator;
    struct aspx_node_mpi_op mpi;

    aspx_coll_operator(job, &mpi, &operator);
    return aspx_node_allreduce(job->comm->area, how, &operator,
                               aspx_coll_input(job), job->out,
                               job->args->bytes / job->element_size);
}

enum key { K, UP, DOWN, SEGMENT, FOLD, WAIT, KEYS };

enum {
    DATA = 1 << K | 1 << SEGMENT | 1 << WAIT,
    SIGNALS = 1 << K | 1 << UP | 1 << DOWN | 1 << WAIT,
    REDUCTIONS = DATA | 1 << FOLD,
    PAIRS = 1 << SEGMENT | 1 << WAIT, /* of ranks: there is no tree */
};

static const struct row {
    execute_f *execute; /* NULL: the memory of a node does not do it */
    uint32_t keys;      /* of its texts, as bits */
    bool all;           /* blocks of all ranks get to each */
} rows[ASP_COLL_OPS] = {
    [ASP_COLL_BARRIER] = {.execute = barrier, .keys = SIGNALS},
    [ASP_COLL_BCAST] = {.execute = bcast, .keys = DATA},
    [ASP_COLL_REDUCE] = {.execute = reduce, .keys = REDUCTIONS},
    [ASP_COLL_SCATTER] = {.execute = scatter, .keys = DATA},
    [ASP_COLL_GATHER] = {.execute = gather, .keys = DATA},
    [ASP_COLL_ALLGATHER] = {.execute = allgather, .keys = DATA, .all = true},
    [ASP_COLL_ALLREDUCE] = {.execute = allreduce, .keys = REDUCTIONS},
    [ASP_COLL_ALLGATHERV] = {.execute = allgatherv,
                             .keys = DATA}, /* bytes are those of all */
    [ASP_COLL_ALLTOALLV] = {.execute = aspx_coll_alltoallv_in_memory,
                            .keys = PAIRS},
};

static int move(struct aspx_coll_job *job,
                const struct aspx_coll_config *config)
{
    return rows[config->op].execute(job, &config->shared);
}

static int execute(struct aspx_coll_comm *comm,
                   const struct aspx_coll_call *call,
                   const struct asp_tune_args *args,
                   const struct aspx_coll_config *config)
{
    return aspx_coll_execute_call(comm, call, args, config, move);
}

/* ---- texts ------------------------------------------------------------------ */

static const char *const signals[] = {"pull", "push"};
static const char *const waiters[] = {"spin", "yield", "sleep"};
static const char *const reductions[] = {"tree", "shares", "each"};

#define CONFIG struct aspx_node_config
static const struct asp_pair keys[KEYS] = {
    [K] = ASP_PAIR_NUMBER("k", CONFIG, radix, 0, UINT32_MAX),
    [UP] = ASP_PAIR_WORD("up", CONFIG, up, signals),
    [DOWN] = ASP_PAIR_WORD("down", CONFIG, down, signals),
    [SEGMENT] = ASP_PAIR_NUMBER("segment", CONFIG, segment, 0, UINT32_MAX),
    [FOLD] = ASP_PAIR_WORD("fold", CONFIG, reduction, reductions),
    [WAIT] = ASP_PAIR_WORD("wait", CONFIG, waiter, waiters),
};
#undef CONFIG

void aspx_coll_text_of_memory(const struct aspx_coll_config *config,
                              struct asp_strbuf *sb)
{
    asp_strbuf_add(sb, "%s:%s", asp_coll_op_name(config->op),
                   ASPX_COLL_SHARED_FAMILY);
    asp_pairs_write(keys, KEYS, &config->shared, rows[config->op].keys, sb);
}

const char *aspx_coll_after_shared(enum asp_coll_op op, const char *text)
{
    const char *rest = asp_after(text, asp_coll_op_name(op));

    rest = rest ? asp_after(rest, ":" ASPX_COLL_SHARED_FAMILY) : NULL;
    return rest && (!*rest || *rest == ',') ? rest : NULL;
}

bool aspx_coll_parse_memory(const char *text, size_t len,
                            struct aspx_coll_config *config)
{
    char pairs[ASPX_COLL_CONFIG_TEXT];
    struct asp_err err;
    uint32_t given;

    config->shared = (struct aspx_node_config){
        .radix = 4, .segment = ASPX_NODE_SEGMENT_MIN};
    snprintf(pairs, sizeof(pairs), "%.*s", (int) len, text);
    return asp_pairs_read(keys, KEYS, pairs + (*pairs == ','), &config->shared,
                          &given, &err) == 0 &&
           aspx_node_config_is_valid(&config->shared);
}

static bool reads(enum asp_coll_op op, const char *text)
{
    const char *rest = aspx_coll_after_shared(op, text);

    return rest && !strchr(rest, '+');
}

static int parse(const char *text, struct aspx_coll_config *config,
                 struct asp_err *err)
{
    const char *rest = aspx_coll_after_shared(config->op, text);

    return rows[config->op].execute &&
                   aspx_coll_parse_memory(rest, strlen(rest), config)
               ? 0
               : aspx_coll_config_bad(text, err);
}

/* ---- selection -------------------------------------------------------------- */

static uint32_t depth(uint32_t ranks, uint32_t radix)
{
    uint32_t levels = 1;

    for (uint64_t reach = radix > 1 ? radix : ranks; reach < ranks && radix > 1;
         reach *= radix)
        levels++;
    return radix > 1 ? levels : ranks;
}

double aspx_coll_predict_memory(const struct aspx_coll_list *list,
                                const struct aspx_coll_config *config)
{
    uint32_t ranks = list->comm->nmembers, waiter = config->shared.waiter;
    uint32_t radix = config->shared.radix < ranks ? config->shared.radix
                                                  : ranks;
    double hop = FLAG_PS * (1 + 0.1 * radix);
    double bytes = (double) list->args->bytes;

    /* A CPU that is shared is given up by those that sleep. */
    if (aspx_coll_shares_cpus() && waiter != ASPX_NODE_SLEEP)
        hop *= waiter == ASPX_NODE_SPIN ? 1000 : 100;
    if (!aspx_coll_shares_cpus() && waiter != ASPX_NODE_SPIN)
        hop *= waiter == ASPX_NODE_SLEEP ? 20 : 1.5;
    if (rows[list->args->op].all)
        bytes *= ranks;
    return 1e-6 * (2 * depth(ranks, radix) * hop + 2 * BYTE_PS * bytes);
}

/* The lowest digit of a choice, and the choice without it. */
static uint32_t digit(uint32_t *choice, uint32_t base)
{
    uint32_t value = *choice % base;

    *choice /= base;
    return value;
}

/* The configurations that are worth a thought: a choice is a number, with a
 * digit for each parameter. Returns whether there is one of it. */
static bool choose(uint32_t has, uint32_t choice,
                   struct aspx_node_config *config_p)
{
    static const uint32_t radixes[] = {2, 4, 16, FLAT};
    enum { RADIXES = sizeof(radixes) / sizeof(radixes[0]) };

    *config_p = (struct aspx_node_config){.segment = ASPX_NODE_SLOT_BYTES};
    if (has >> UP & 1)
        config_p->up = (uint8_t) digit(&choice, ASPX_NODE_SIGNALS);
    if (has >> DOWN & 1)
        config_p->down = (uint8_t) digit(&choice, ASPX_NODE_SIGNALS);
    if (has >> FOLD & 1)
        config_p->reduction = (uint8_t) digit(&choice, ASPX_NODE_REDUCTIONS);
    config_p->radix = has >> K & 1 ? radixes[digit(&choice, RADIXES)] : FLAT;
    config_p->waiter = (uint8_t) choice;
    return choice < ASPX_NODE_WAITERS;
}

static bool is_here(const struct aspx_coll_comm *comm)
{
    return comm->area && comm->nnodes == 1;
}

static void list_all(struct aspx_coll_list *list)
{
    const struct row *row = &rows[list->args->op];
    struct aspx_coll_config config = {.executor = &aspx_coll_shared_memory,
                                      .op = list->args->op};

    if (!is_here(list->comm) || !row->execute)
        return;
    for (uint32_t i = 0; choose(row->keys, i, &config.shared); i++)
        aspx_coll_list_add(list, &config,
                           aspx_coll_predict_memory(list, &config));
}

static bool fits(const struct aspx_coll_comm *comm,
                 const struct asp_tune_args *args, size_t element_size,
                 const struct aspx_coll_config *config)
{
    (void) args;
    (void) element_size;
    (void) config;
    return is_here(comm);
}

struct aspx_node_config aspx_coll_flat_memory(void)
{
    return (struct aspx_node_config){
        .radix = FLAT,
        .segment = ASPX_NODE_SLOT_BYTES,
        .waiter = aspx_coll_shares_cpus() ? ASPX_NODE_SLEEP : ASPX_NODE_SPIN,
    };
}

/* Reductions do so when they are told to. */
static bool keeps_order(const struct asp_tune_args *args,
                        const struct aspx_coll_config *config)
{
    (void) config;
    return rows[args->op].keys >> FOLD & 1;
}

static bool reproducible(const struct aspx_coll_comm *comm,
                         const struct asp_tune_args *args,
                         struct aspx_coll_config *config_p)
{
    config_p->shared = aspx_coll_flat_memory();
    return is_here(comm) && keeps_order(args, config_p);
}

const struct aspx_coll_executor aspx_coll_shared_memory = {
    .family = ASPX_COLL_SHARED_FAMILY,
    .text = aspx_coll_text_of_memory,
    .reads = reads,
    .parse = parse,
    .list = list_all,
    .predict = aspx_coll_predict_memory,
    .fits = fits,
    .keeps_order = keeps_order,
    .reproducible = reproducible,
    .execute = execute,
};
