/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithms associate a reduction in the order of ranks, and which of
 * them is carried out where no other is chosen. */
#include "config.h"

#include "pinned.h"

#include "machine.h"
#include "settings.h"

#include <string.h>

enum {
    /* Bytes from which a chain is a pipeline, and what then goes at once: a
     * segment takes a hop's latency to send at some GB/s. */
    LONG = 32768,
    SEGMENT = 8192,
};

bool aspx_coll_is_pinned(const struct asp_tune_args *args)
{
    return aspx_coll_settings.reproducible && args->fold != ASP_TUNE_NO_FOLD &&
           args->floating;
}

static bool is_prefix(enum asp_coll_op op)
{
    return op == ASP_COLL_SCAN || op == ASP_COLL_EXSCAN;
}

static bool has_memory(enum asp_coll_op op)
{
    return op == ASP_COLL_REDUCE || op == ASP_COLL_ALLREDUCE;
}

/* Each rank folds its own in front of what the ranks behind it have folded; of
 * prefixes, behind what those before it have. */
static bool is_chain(enum asp_coll_op op, const struct asp_coll_way *way)
{
    if (is_prefix(op))
        return strcmp(way->row->name, "chain") == 0;
    return strcmp(way->row->name, "tree") == 0 &&
           way->tree.shape == ASP_COLL_KARY && way->tree.k == 1;
}

bool aspx_coll_keeps_order(const struct asp_tune_args *args,
                           const struct aspx_coll_way *way)
{
    switch (way->kind) {
    case ASPX_COLL_SHARED:
        return has_memory(args->op);
    case ASPX_COLL_MESSAGES:
        return is_chain(args->op, &way->messages);
    default:
        return false;
    }
}

static const struct asp_coll_row *row_of(enum asp_coll_op op)
{
    const char *name = is_prefix(op) ? "chain" : "tree";
    size_t n;
    const struct asp_coll_row *rows = asp_coll_rows(&n);

    for (size_t i = 0; i < n; i++)
        if (rows[i].op == op && strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL; /* no operation that folds */
}

void aspx_coll_pinned_way(const struct aspx_coll_comm *comm,
                          const struct asp_tune_args *args,
                          struct aspx_coll_way *way_p)
{
    *way_p = (struct aspx_coll_way){.op = args->op};
    if (comm->area && comm->nnodes == 1 && has_memory(args->op)) {
        way_p->kind = ASPX_COLL_SHARED;
        way_p->shared = (struct aspx_node_way){
            .radix = ASPX_NODE_RANKS_MAX,
            .segment = ASPX_NODE_SLOT_BYTES,
            .waiter = aspx_coll_shares_cpus() ? ASPX_NODE_SLEEP
                                              : ASPX_NODE_SPIN,
        };
        return;
    }
    way_p->kind = ASPX_COLL_MESSAGES;
    way_p->messages.row = row_of(args->op);
    way_p->messages.segment = args->bytes > LONG ? SEGMENT : 0;
    if (!is_prefix(args->op)) {
        way_p->messages.tree.shape = ASP_COLL_KARY;
        way_p->messages.tree.k = 1;
    }
}
