/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of an exchange: the entries of the node's members are combined into
 * one buffer, a schedule of messages among ghosts moves it, and what came is
 * published in the mailbox. Data of ranks that disagree is left out, as an
 * erroneous program has it. */
#include "config.h"

#include "exchange.h"

#include "runtime/coll/call/call.h"
#include "runtime/coll/call/reducible.h"
#include "runtime/mpi/handle.h"

#include "common/coll/build/index.h"

#include <stdlib.h>
#include <string.h>

/* ---- begun and ended ---------------------------------------------------------- */

void aspx_exchange_free(struct aspx_exchange *x)
{
    aspx_coll_plan_free(&x->plan);
    asp_coll_destroy(&x->schedule);
    free(x->from);
    free(x->in);
    free(x->out);
    free(x);
}

/* ---- what the node gives ------------------------------------------------------ */

static bool has_root(const struct aspx_exchange_mailbox *mailbox,
                     const struct aspx_exchange *x)
{
    return mailbox->node_of[x->descriptor.root] == mailbox->node;
}

static const struct asp_coll_form *form_of(const struct aspx_exchange *x)
{
    return &asp_coll_forms[x->descriptor.op];
}

/* Has this node what is exchanged? */
static bool is_given(const struct aspx_exchange_mailbox *mailbox,
                     const struct aspx_exchange *x)
{
    return form_of(x)->root != ASP_COLL_ROOT_SENDS || has_root(mailbox, x);
}

static bool has_all(const struct aspx_exchange_mailbox *mailbox,
                    const struct aspx_exchange *x)
{
    if (!is_given(mailbox, x))
        return true;
    if (form_of(x)->root == ASP_COLL_ROOT_SENDS)
        return x->from[mailbox->member_of[x->descriptor.root]].data != NULL;
    for (uint32_t p = 0; p < mailbox->mailbox.me; p++)
        if (!x->from[p].data)
            return false;
    return true;
}

/* Bytes of an entry from an offset on, or NULL where ranks disagree. */
static const char *data_of(const struct aspx_exchange *x, uint32_t member,
                           uint64_t offset, uint64_t bytes)
{
    const struct aspx_mailbox_view *view = &x->from[member];
    struct aspx_mailbox_descriptor its = aspx_mailbox_descriptor_of(view);

    return view->data && its.op == x->descriptor.op &&
                   its.bytes == x->descriptor.bytes &&
                   offset + bytes <= view->bytes
               ? view->data + offset
               : NULL;
}

static void give(struct aspx_exchange *x, uint64_t to, uint32_t member,
                 uint64_t offset, uint64_t bytes)
{
    const char *data = data_of(x, member, offset, bytes);

    if (data)
        memcpy(x->in + to, data, bytes);
    else
        x->run.rc = MPI_ERR_TRUNCATE;
}

/* The root's message, which a broadcast sends from where it lands. */
static void give_bcast(const struct aspx_exchange_mailbox *mailbox,
                       struct aspx_exchange *x)
{
    const char *data = data_of(x, mailbox->member_of[x->descriptor.root], 0,
                               x->descriptor.bytes);

    if (data)
        memcpy(x->out, data, x->descriptor.bytes);
    else
        x->run.rc = MPI_ERR_TRUNCATE;
}

/* From the last to the first, as in a node. */
static void give_reduction(const struct aspx_exchange_mailbox *mailbox,
                           struct aspx_exchange *x)
{
    uint64_t bytes = asp_coll_count_blocks(form_of(x)->in, mailbox->ranks) *
                     x->descriptor.bytes;
    uint32_t last = mailbox->mailbox.me - 1;

    give(x, 0, last, 0, bytes);
    for (uint32_t p = last; p-- > 0 && x->run.rc == MPI_SUCCESS;) {
        const char *data = data_of(x, p, 0, bytes);

        x->run.rc = data ? aspx_coll_behind.MPI_Reduce_local(
                               data, x->in,
                               (int) (bytes / x->descriptor.element_size),
                               x->descriptor.type, x->descriptor.reduction)
                         : MPI_ERR_TRUNCATE;
    }
}

static void give_gather(const struct aspx_exchange_mailbox *mailbox,
                        struct aspx_exchange *x)
{
    for (uint32_t p = 0; p < mailbox->mailbox.me; p++)
        give(x, p * x->descriptor.bytes, p, 0, x->descriptor.bytes);
}

/* The root's blocks, by node and member. */
static void give_scatter(const struct aspx_exchange_mailbox *mailbox,
                         struct aspx_exchange *x)
{
    uint64_t bytes = x->descriptor.bytes;

    for (uint32_t r = 0; r < mailbox->ranks; r++)
        give(x,
             (mailbox->node_of[r] * mailbox->fullest + mailbox->member_of[r]) *
                 bytes,
             mailbox->member_of[x->descriptor.root], r * bytes, bytes);
}

/* For each node, of each member, the blocks for the members there. */
static void give_alltoall(const struct aspx_exchange_mailbox *mailbox,
                          struct aspx_exchange *x)
{
    uint64_t bytes = x->descriptor.bytes, full = mailbox->fullest;

    for (uint32_t r = 0; r < mailbox->ranks; r++)
        for (uint32_t p = 0; p < mailbox->mailbox.me; p++)
            give(x,
                 ((mailbox->node_of[r] * full + p) * full +
                  mailbox->member_of[r]) *
                     bytes,
                 p, r * bytes, bytes);
}

/* ---- how it is exchanged ------------------------------------------------------ */

/* The ghosts' own operation: its configuration, and what is in and out, in
 * units of the operation's bytes: blocks of members (full), of all nodes (nodes
 * * full). */
enum unit { NONE, ONE, RANKS, NODE, NODES, PAIRS };

typedef void give_f(const struct aspx_exchange_mailbox *mailbox,
                    struct aspx_exchange *x);

/* clang-format off */
static const struct between {
    const char *config;
    enum unit block, in, out;
    give_f *give; /* what the node gives: on the root's node, if a root sends */
} betweens[ASP_COLL_OPS] = {
    [ASP_COLL_BARRIER] = {"barrier:dissemination,k=2", NONE, NONE, NONE, NULL},
    [ASP_COLL_BCAST] = {"bcast:tree=knomial,k=2", ONE, NONE, ONE, give_bcast},
    [ASP_COLL_REDUCE] =
        {"reduce:tree=knomial,k=2", ONE, ONE, ONE, give_reduction},
    [ASP_COLL_SCATTER] =
        {"scatter:tree=knomial,k=2", NODE, NODES, NODE, give_scatter},
    [ASP_COLL_GATHER] =
        {"gather:tree=knomial,k=2", NODE, NODE, NODES, give_gather},
    [ASP_COLL_ALLGATHER] =
        {"allgather:dissemination,k=2", NODE, NODE, NODES, give_gather},
    [ASP_COLL_ALLTOALL] = {"alltoall:flat", PAIRS, PAIRS, PAIRS, give_alltoall},
    [ASP_COLL_ALLREDUCE] =
        {"allreduce:tree=knomial,k=2", ONE, ONE, ONE, give_reduction},
    [ASP_COLL_REDUCE_SCATTER_BLOCK] =
        {"allreduce:tree=knomial,k=2", RANKS, RANKS, RANKS, give_reduction},
};
/* clang-format on */

static uint64_t count_of(const struct aspx_exchange_mailbox *mailbox,
                         enum unit unit)
{
    uint64_t full = mailbox->fullest;
    const uint64_t units[] = {
        [NONE] = 0,
        [ONE] = 1,
        [RANKS] = mailbox->ranks,
        [NODE] = full,
        [NODES] = full * mailbox->nodes,
        [PAIRS] = full * full,
    };

    return units[unit];
}

/* Of all nodes where the unit is that of one pair. */
static uint64_t bytes_of_all(const struct aspx_exchange_mailbox *mailbox,
                             const struct aspx_exchange *x, enum unit unit)
{
    return count_of(mailbox, unit) * (unit == PAIRS ? mailbox->nodes : 1) *
           x->descriptor.bytes;
}

/* ---- begun -------------------------------------------------------------------- */

/* Larger operations are MPI's, so no correct one has pieces of a quarter of a
 * region; and what is not larger always finds room in the end. */
enum { REGION_SHARE = 4 };

static bool is_too_large(const struct aspx_exchange_mailbox *mailbox,
                         const struct aspx_exchange *x, enum unit unit)
{
    uint64_t most = mailbox->mailbox.region / REGION_SHARE;
    uint64_t count = count_of(mailbox, unit) *
                     (unit == PAIRS ? mailbox->nodes : 1);

    return count > 0 && x->descriptor.bytes > most / count;
}

static const char *wrong_sizes(const struct aspx_exchange_mailbox *mailbox,
                               const struct aspx_exchange *x)
{
    const struct between *between = &betweens[x->descriptor.op];
    uint32_t size = aspx_handle_basic_size(x->descriptor.type);

    if (is_too_large(mailbox, x, between->block) ||
        is_too_large(mailbox, x, between->in) ||
        is_too_large(mailbox, x, between->out))
        return "bytes";
    if (form_of(x)->reduces &&
        (x->descriptor.element_size == 0 ||
         x->descriptor.element_size != size ||
         x->descriptor.bytes % x->descriptor.element_size))
        return "element size";
    return NULL;
}

/* NULL, or what no correct program can have posted. */
static const char *wrong_what(const struct aspx_exchange_mailbox *mailbox,
                              const struct aspx_exchange *x)
{
    bool floating;

    if (x->descriptor.op >= ASP_COLL_OPS || !betweens[x->descriptor.op].config)
        return "operation";
    if (x->descriptor.root >= mailbox->ranks)
        return "root";
    if (form_of(x)->reduces &&
        !aspx_coll_can_reduce(x->descriptor.reduction, x->descriptor.type,
                              &floating))
        return "reduction";
    return wrong_sizes(mailbox, x);
}

struct aspx_exchange *aspx_exchange_begin(struct aspx_exchange_mailbox *mailbox,
                                          uint32_t member,
                                          const struct aspx_mailbox_view *view)
{
    struct aspx_exchange *x = calloc(1, sizeof(*x));
    const char *wrong;

    if (!x)
        return NULL;
    x->number = view->number;
    x->descriptor = aspx_mailbox_descriptor_of(view);
    x->from = calloc(mailbox->mailbox.me, sizeof(*x->from));
    wrong = wrong_what(mailbox, x);
    if (!wrong && !form_of(x)->reduces)
        x->descriptor.element_size = 1; /* means nothing */
    if (x->from && !wrong)
        return x;
    if (wrong) {
        mailbox->mailbox.fault = wrong;
        mailbox->mailbox.fault_of = member;
    }
    aspx_exchange_free(x);
    return NULL;
}

/* ---- exchanged ---------------------------------------------------------------- */

static int build(const struct aspx_exchange_mailbox *mailbox,
                 struct aspx_exchange *x, const struct between *between)
{
    struct asp_coll_problem problem = {
        .ranks = mailbox->nodes,
        .root = mailbox->node_of[x->descriptor.root],
        .bytes = count_of(mailbox, between->block) * x->descriptor.bytes,
        .element_size = x->descriptor.element_size,
        .commutative = true,
    };
    struct asp_coll_config config;
    struct asp_err err;

    if (asp_coll_config_parse(between->config, &config, &err) != 0)
        return -1;
    problem.op = config.row->op;
    if (asp_coll_build(&config, &problem, mailbox->node, &x->schedule, &err) !=
        0)
        return -1;
    for (uint32_t i = 0; i < x->schedule.nsteps; i++)
        if (x->schedule.steps[i].tag >= ASPX_MAILBOX_MESSAGES)
            return -1;
    return aspx_coll_plan_make(&x->plan, &x->schedule);
}

static int start(const struct aspx_exchange_mailbox *mailbox,
                 struct aspx_exchange *x)
{
    const struct between *between = &betweens[x->descriptor.op];
    int rc;

    x->out_bytes = bytes_of_all(mailbox, x, between->out);
    x->in = calloc(1, bytes_of_all(mailbox, x, between->in) + 1);
    x->out = calloc(1, x->out_bytes + 1);
    if (!x->in || !x->out || build(mailbox, x, between) != 0)
        return -1;
    if (between->give && is_given(mailbox, x))
        between->give(mailbox, x);
    rc = x->run.rc;
    aspx_coll_run_start(
        &x->run, &x->plan,
        &(struct aspx_coll_where){
            .comm = mailbox->comm,
            .ranks = mailbox->ghosts,
            .tag = mailbox->tag + (int) (x->number % ASPX_MAILBOX_WINDOW) *
                                      ASPX_MAILBOX_MESSAGES,
            .in = x->in,
            .out = x->out,
            .element_size = x->descriptor.element_size,
            .type = x->descriptor.type,
            .reduction = x->descriptor.reduction,
        });
    if (x->run.rc == MPI_SUCCESS)
        x->run.rc = rc;
    x->state = ASPX_EXCHANGE_RUNNING;
    return 0;
}

int aspx_exchange_step(const struct aspx_exchange_mailbox *mailbox,
                       struct aspx_exchange *x)
{
    if (x->state == ASPX_EXCHANGE_GATHERING && has_all(mailbox, x) &&
        start(mailbox, x) != 0)
        return -1;
    if (x->state == ASPX_EXCHANGE_RUNNING && aspx_coll_run_test(&x->run))
        x->state = ASPX_EXCHANGE_DONE;
    return 0;
}

/* ---- published ---------------------------------------------------------------- */

/* What users of this node do not read is not published. */
static uint64_t read_bytes(const struct aspx_exchange_mailbox *mailbox,
                           const struct aspx_exchange *x)
{
    unsigned root = form_of(x)->root;
    bool read = !root || has_root(mailbox, x) == (root == ASP_COLL_ROOT_GETS);

    return read ? x->out_bytes : 0;
}

bool aspx_exchange_publish(struct aspx_exchange_mailbox *mailbox,
                           struct aspx_exchange *x)
{
    uint64_t bytes = read_bytes(mailbox, x);
    struct aspx_mailbox_view own;
    struct aspx_mailbox_entry *entry = aspx_mailbox_take(&mailbox->mailbox,
                                                         bytes);

    if (!entry)
        return false;
    if (x->run.rc != MPI_SUCCESS)
        x->descriptor.bytes = UINT64_MAX; /* readers see that it is none */
    entry->label = aspx_mailbox_label_of(&x->descriptor);
    memcpy(entry->data, x->out, bytes);
    aspx_mailbox_publish(&mailbox->mailbox, entry, bytes);
    /* A ghost reads nothing of its own. */
    (void) aspx_mailbox_next(&mailbox->mailbox, mailbox->mailbox.me, &own);
    return true;
}
