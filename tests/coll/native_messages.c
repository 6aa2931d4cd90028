/* SPDX-License-Identifier: BSD-3-Clause */
/* As the algorithms are described, written down anew. */
#include "config.h"

#include "native_test.h"

static int is_named(const struct aspx_native_config *config, const char *name)
{
    return aspx_native_is_named(config, name);
}

static int log2_up(int n)
{
    int log = 0;

    while (1 << log < n)
        log++;
    return log;
}

/* Children of a rank in MPICH's k-ary tree: vertex v has v k + 1 to v k + k. */
static int children(const struct shape *s, int k)
{
    int vertex = (s->rank - s->root + s->size) % s->size;
    int left = s->size - 1 - vertex * k;

    return left < 0 ? 0 : left < k ? left : k;
}

static int is_last(const struct shape *s)
{
    return (s->rank - s->root + s->size) % s->size == s->size - 1;
}

static int pieces(const struct aspx_native_config *config,
                  const struct asp_tune_args *args)
{
    return config->chunk
               ? (int) ((args->bytes + config->chunk - 1) / config->chunk)
               : 1;
}

/* By the names that MPICH gives them. */
int messages_of(const struct shape *s, const struct aspx_native_config *config,
                const struct asp_tune_args *args)
{
    int n = s->size, power = (n & (n - 1)) == 0, parts = pieces(config, args);
    int is_root = s->rank == s->root;

    if (config->device)
        return -1;
    switch (s->op) {
    case ASP_COLL_BARRIER:
        return is_named(config, "dissemination") ||
                       (is_named(config, "nb-recursive-doubling") && power)
                   ? log2_up(n)
                   : -1;
    case ASP_COLL_BCAST:
        if (is_named(config, "nb-tree") || is_named(config, "tree") ||
            is_named(config, "pipelined-tree"))
            return parts * children(s, (int) config->k);
        return is_named(config, "nb-ring") ? !is_last(s) : -1;
    case ASP_COLL_REDUCE:
        if (is_named(config, "nb-tree") || is_named(config, "nb-ring"))
            return is_root ? 0 : parts;
        return is_named(config, "binomial") ? !is_root : -1;
    case ASP_COLL_GATHER:
        return !is_root;
    case ASP_COLL_ALLREDUCE:
        if (is_named(config, "nb-tree") || is_named(config, "tree")) {
            struct shape zero = *s;

            zero.root = 0;
            return parts * (children(&zero, (int) config->k) + (s->rank != 0));
        }
        if (is_named(config, "nb-ring") ||
            (is_named(config, "ring") && s->n >= n)) /* none of no elements */
            return 2 * (n - 1);
        return is_named(config, "recursive-doubling") && power ? log2_up(n)
                                                               : -1;
    case ASP_COLL_ALLGATHER:
        if (is_named(config, "ring") || is_named(config, "nb-ring"))
            return n - 1;
        return is_named(config, "recursive-doubling") ||
                       is_named(config, "brucks") ||
                       (is_named(config, "nb-brucks") && config->k == 2)
                   ? log2_up(n)
                   : -1;
    case ASP_COLL_ALLTOALL:
        if (is_named(config, "brucks") ||
            (is_named(config, "nb-brucks") && config->k == 2))
            return log2_up(n);
        if (is_named(config, "scattered") ||
            is_named(config, "pairwise-sendrecv-replace"))
            return n; /* one to itself */
        return is_named(config, "pairwise") ? n - 1 : -1;
    case ASP_COLL_REDUCE_SCATTER_BLOCK:
        return is_named(config, "pairwise") ? n - 1 : -1;
    default:
        return -1;
    }
}
