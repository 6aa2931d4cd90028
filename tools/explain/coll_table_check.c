/* SPDX-License-Identifier: BSD-3-Clause */
/* Does the configuration of a row fit what the row is for? What only the
 * runtime knows, MPICH's own algorithms and the memory of a node, is taken as
 * it is. */
#include "config.h"

#include "coll_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The part of a configuration that sends messages: behind the plus of one that
 * begins in the memory of the node. NULL: there is none. */
static const char *messages_of(const char *config)
{
    const char *plus = strchr(config, '+');

    if (plus)
        return plus + 1;
    if (strcmp(config, "default") == 0 || strstr(config, ":mpich=") ||
        strstr(config, ":shared"))
        return NULL;
    return config;
}

/* Nodes and counts; every rank has as much. */
static bool fill(const struct asp_tune_shape *shape, size_t bytes,
                 uint32_t **node_p, size_t **counts_p)
{
    *node_p = malloc(shape->ranks * sizeof(**node_p));
    *counts_p = malloc(shape->ranks * sizeof(**counts_p));
    for (uint32_t r = 0; *node_p && *counts_p && r < shape->ranks; r++) {
        (*node_p)[r] = r / (shape->ppn ? shape->ppn : 1);
        (*counts_p)[r] = bytes;
    }
    return *node_p && *counts_p;
}

/* On the nodes of its shape, if that says which. */
static int check_fit(const struct asp_coll_config *config,
                     const struct asp_tune_key *key, struct asp_err *err)
{
    struct asp_tune_args args;
    struct asp_coll_problem p;
    uint32_t *node;
    size_t *counts;
    int rc = -1;

    asp_tune_call_args(key->call, &args);
    if (!fill(&key->shape, args.bytes, &node, &counts)) {
        asp_errf(err, ENOMEM, "out of memory");
    } else {
        p = (struct asp_coll_problem){
            .op = args.op,
            .ranks = key->shape.ranks,
            .root = args.root ? key->shape.ranks - 1 : 0,
            .bytes = args.bytes,
            .counts = counts,
            .recv_counts = counts,
            .element_size = 1,
            .commutative = args.reduction != ASP_TUNE_ORDERED,
            .in_place = args.in_place,
            .node = node,
        };
        rc = asp_coll_fits(config, &p, err);
    }
    free(node);
    free(counts);
    return rc;
}

int aspt_coll_check_row(const struct asp_tune_table *table,
                        const struct asp_tune_row *row, struct asp_err *err)
{
    const char *text = messages_of(table->configs[row->config]);
    struct asp_tune_args args;
    struct asp_coll_config config;

    if (!text)
        return 0;
    if (asp_coll_config_parse(text, &config, err) < 0)
        return -1;
    asp_tune_call_args(row->key.call, &args);
    if (config.row->op != args.op)
        return asp_errf(err, EINVAL, "a configuration of %s for %s",
                        asp_coll_op_name(config.row->op),
                        asp_coll_op_name(args.op));
    return row->key.shape.map ? 0 : check_fit(&config, &row->key, err);
}
