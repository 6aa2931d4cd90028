/* SPDX-License-Identifier: BSD-3-Clause */
/* The index of algorithms: a row for each, with its parameters, what it needs,
 * and what builds its schedule. A "configuration" is a row with values for its
 * parameters, and has a text: "bcast:tree=kary,k=4,segment=65536".
 *
 * Everything here depends on its arguments alone, so ranks that agree on
 * problem and configuration have schedules that fit together.
 *
 * Threads: reentrant. Nothing is written but what the caller passes.
 * Source: Nishtala (tree.h), section 8.2.1; seed algorithms are named where
 * they are built. */
#ifndef ASPEN_COMMON_COLL_BUILD_INDEX_H
#define ASPEN_COMMON_COLL_BUILD_INDEX_H

#include "common/base/err.h"
#include "common/coll/schedule/forms.h"
#include "common/coll/schedule/schedule.h"
#include "common/coll/schedule/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One call of a collective; forms.h says what is in IN and OUT. Sizes are bytes
 * of the type signature.
 *
 * in_place is MPI_IN_PLACE of all ranks, or of the root where only the root may
 * say it. Then the other ranks ignore it: they must not need to know it, and
 * build the same messages either way. */
struct asp_coll_problem {
    enum asp_coll_op op;
    uint32_t ranks; /* 1..ASP_COLL_RANKS */
    uint32_t root;
    size_t bytes; /* of a block or vector */
    /* Instead, of operations with counts, bytes for each rank, borrowed.
     * gatherv, scatterv: only the root has all, the others need just their own.
     * alltoallv: what this rank sends, and recv_counts what it receives. */
    const size_t *counts;
    const size_t *displs; /* offsets in bytes; NULL: one after the other */
    const size_t *recv_counts;
    const size_t *recv_displs;
    size_t element_size; /* bytes of an element, for reductions; >= 1 */
    bool commutative;    /* else operands stay in the order of ranks */
    bool in_place;
    const uint32_t *node; /* node[rank], below ranks; NULL: all on one */
};

enum { ASP_COLL_RANKS = 1 << 20 };

/* Parameters, as bits of a row. */
enum asp_coll_param_b {
    ASP_COLL_TREE = 1 << 0,    /* tree=: shape, k=, dims= */
    ASP_COLL_RADIX = 1 << 1,   /* k=: of an exchange, >= 2 */
    ASP_COLL_SEGMENT = 1 << 2, /* segment=: bytes, 0 (not written): whole */
    ASP_COLL_ACROSS = 1 << 3,  /* across=: what the leaders of nodes do */
    ASP_COLL_LEADERS = 1 << 4, /* leaders=: of each node, >= 1 */
    ASP_COLL_INNER = 1 << 5, /* inner=: radix of the k-nomial tree in a node */
};

/* What a row needs, as bits. */
enum asp_coll_require_b {
    ASP_COLL_COMMUTATIVE = 1 << 0, /* a commutative operation */
    ASP_COLL_SMOOTH = 1 << 1,      /* ranks without prime factors above k */
    ASP_COLL_NODES = 1 << 2,       /* several nodes, one with several ranks */
    ASP_COLL_BLOCKS = 1 << 3,  /* the ranks of each node follow one another */
    ASP_COLL_ORDERED = 1 << 4, /* that, or a commutative operation */
    ASP_COLL_PART = 1 << 5,    /* fewer than all others are k */
};

struct asp_coll_maker; /* common/coll/build/maker.h */

struct asp_coll_row {
    enum asp_coll_op op;
    const char *name; /* "tree", "ring", "levels" */
    unsigned params;  /* enum asp_coll_param_b */
    unsigned require; /* enum asp_coll_require_b */
    unsigned across;  /* bits of enum asp_coll_across */
    const char *what; /* half a line for people */
    void (*build)(struct asp_coll_maker *maker); /* private */
    /* A reduction from rank to rank: always, or along the tree of k = 1. */
    bool chain;
};

/* What leaders do among themselves in rows "levels". */
enum asp_coll_across {
    ASP_COLL_ACROSS_TREE,     /* of the configuration's tree */
    ASP_COLL_ACROSS_EXCHANGE, /* recursive, dissemination, Bruck; of radix k */
    ASP_COLL_ACROSS_RING,
    ASP_COLL_ACROSS_HALVING, /* recursive halving, and doubling back */
    ASP_COLL_ACROSS_FLAT,
    ASP_COLL_ACROSSES,
};

/* A row and its parameters; those that the row does not have, or that have no
 * meaning with its across (tree and k are for TREE, k for EXCHANGE), are 0. */
struct asp_coll_config {
    const struct asp_coll_row *row;
    struct asp_coll_tree tree; /* k is also that of ASP_COLL_RADIX */
    uint32_t leaders;
    uint32_t inner;
    enum asp_coll_across across;
    size_t segment;
};

/* The parameters that have a meaning: enum asp_coll_param_b. */
unsigned asp_coll_config_params(const struct asp_coll_config *config);

/* Does a reduction associate as a0 op (a1 op (a2 op ...)), and a prefix as
 * ((a0 op a1) op a2) ..., whatever its segments and sizes are? */
bool asp_coll_config_is_chain(const struct asp_coll_config *config);

/* The configuration of an operation that does. Returns false where it reduces
 * nothing. */
bool asp_coll_config_chain(enum asp_coll_op op, size_t segment,
                           struct asp_coll_config *config_p);

/* All rows, by operation in the order of the enum. */
const struct asp_coll_row *asp_coll_rows(size_t *nrows_p);

enum { ASP_COLL_CONFIG_TEXT = 128 };

/* The canonical text, into buf of at least ASP_COLL_CONFIG_TEXT bytes; returns
 * buf. OP:NAME[,key=value...]; a row named "tree" begins OP:tree=SHAPE. Keys
 * come in the order tree, k or dims, segment, across, leaders, inner. */
const char *asp_coll_config_text(const struct asp_coll_config *config,
                                 char *buf);

/* The reverse; keys in any order, each once, missing ones have the least legal
 * value (tree: knomial, k=2). Returns 0, or -1 with errno EINVAL and the
 * reason. */
int asp_coll_config_parse(const char *text, struct asp_coll_config *config_p,
                          struct asp_err *err);

/* Can the problem be solved this way? Depends only on what is the same on all
 * ranks, also of rooted operations. Returns 0, or -1 with errno EINVAL (no such
 * configuration or problem) or ENOTSUP, and the reason in err. */
int asp_coll_fits(const struct asp_coll_config *config,
                  const struct asp_coll_problem *problem, struct asp_err *err);

/* The schedule of one rank, finished.
 *   s  all zeros, or used before: its steps are replaced, its memory is kept
 * Returns 0, or -1 with errno as asp_coll_fits(), ENOMEM or ERANGE (too many
 * messages); the schedule is then empty.  Cost: O(steps log steps + ranks). */
int asp_coll_build(const struct asp_coll_config *config,
                   const struct asp_coll_problem *problem, uint32_t rank,
                   struct asp_coll_schedule *s, struct asp_err *err);

/* The schedules of all ranks.
 *   problems   one for all, or (nproblems = ranks) one for each
 *   max_steps  of all ranks together; errno E2BIG as soon as there are more
 *   schedules  ranks of them, as for asp_coll_build() */
int asp_coll_build_some(const struct asp_coll_config *config,
                        const struct asp_coll_problem *problems,
                        uint32_t nproblems, uint64_t max_steps,
                        struct asp_coll_schedule *schedules,
                        struct asp_err *err);

/* All configurations to solve a problem that are worth a thought, in a fixed
 * order: rows as in asp_coll_rows(), parameters ascending: radices and segments
 * are powers of two. Begin with all zeros:
 *     struct asp_coll_configs configs = {0};
 *     while (asp_coll_configs_next(&configs, problem)) use(&configs.config);
 * Each fits. Duplicates (a radix as large as the ranks and a larger one) are
 * left out. */
struct asp_coll_configs {
    struct asp_coll_config config;
    uint32_t row; /* private from here */
    enum asp_coll_across across;
    uint32_t choice;             /* number of the combination of values */
    uint32_t nodes, least, most; /* of the problem; 0: not counted yet */
};

bool asp_coll_configs_next(struct asp_coll_configs *configs,
                           const struct asp_coll_problem *problem);

#endif
