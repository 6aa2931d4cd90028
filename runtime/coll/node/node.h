/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives among the ranks of one communicator on one node, in memory that
 * they share. Start reading here; docs/design/coll-node.md has the protocol.
 *
 * Each operation is a state machine that its function drives to the end:
 * aspx_node_step(op) until that returns true, and meanwhile MPI is kept going.
 * Operations of an area run one after the other, and in the same order with the
 * same configuration, root and operator on all its ranks. MPI demands that of
 * programs.
 *
 * Buffers are contiguous, counts are bytes or elements, ranks are indexes
 * within the area (0..count-1). Errors are MPI's error codes: MPI_ERR_TRUNCATE
 * where ranks gave different sizes (all return, some with MPI_SUCCESS and the
 * data that there were), whatever a reduction returned, MPI_ERR_ARG for a
 * configuration that is none. Threads: one at a time in each rank, any.
 *
 * Source: Nishtala, "Automatically tuning collective communication for
 * one-sided programming models" (2009), sections 5.1 and 7.1; MPI 4.0 chapter
 * 6. */
#ifndef ASPEN_RUNTIME_COLL_NODE_NODE_H
#define ASPEN_RUNTIME_COLL_NODE_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aspx_node_area; /* area.h */

/* How a signal gets from one rank to another in a barrier. */
enum aspx_node_signal {
    ASPX_NODE_PULL, /* the sender's own flag, which the receivers read */
    ASPX_NODE_PUSH, /* the receiver's flag or counter, which it alone reads */
    ASPX_NODE_SIGNALS
};

enum aspx_node_waiter {
    ASPX_NODE_SPIN,  /* a CPU for each rank */
    ASPX_NODE_YIELD, /* somewhat fewer */
    ASPX_NODE_SLEEP, /* many ranks on a CPU */
    ASPX_NODE_WAITERS
};

/* Who reduces the contributions to a reduction. */
enum aspx_node_reduction {
    ASPX_NODE_REDUCE_TREE,   /* inner ranks of the tree, on the way up */
    ASPX_NODE_REDUCE_SHARES, /* all, each a share of the elements: large ones */
    ASPX_NODE_REDUCE_EACH,   /* each rank everything: small Allreduces. A Reduce
                                does as with TREE */
    ASPX_NODE_REDUCTIONS
};

enum {
    ASPX_NODE_SEGMENT_MIN = 4096, /* bytes; the greatest element, too */
    ASPX_NODE_RANKS_MAX = 1024,   /* of an area */
};

/* How to do it: what a tuner chooses. Nothing of it changes what is moved, and
 * only radix and reduction the order in which a reduction associates. */
struct aspx_node_config {
    uint32_t radix;    /* children of a rank: 1 (chain) .. RANKS_MAX; from
                          count - 1 on the tree is flat */
    uint32_t segment;  /* bytes that go at once: SEGMENT_MIN.. ; the area's
                          slot where that is smaller */
    uint8_t up;        /* enum aspx_node_signal, of barriers */
    uint8_t down;      /* the same */
    uint8_t waiter;    /* enum aspx_node_waiter */
    uint8_t reduction; /* enum aspx_node_reduction */
};

/* Are all values in their ranges? */
bool aspx_node_config_is_valid(const struct aspx_node_config *config);

/* A reduction: inout[i] = in[i] op inout[i], in[] being of lower ranks. Called
 * on memory that is aligned as the element's size allows, at most segment bytes
 * at once. Returns MPI_SUCCESS or an error code. */
struct aspx_node_operator {
    int (*reduce)(void *inout, const void *in, size_t count, void *arg);
    void *arg;
    size_t element;      /* bytes, 1..ASPX_NODE_SEGMENT_MIN */
    bool is_commutative; /* the tree may begin at the root */
    bool reproducible;   /* associate as a0 op (a1 op (a2 op ...)), whatever
                            the configuration, the root and the sizes */
};

/* The blocks of Gather, Scatter, Allgather and Alltoall: of rank i sizes[i]
 * bytes at offsets[i] bytes; without arrays size bytes at i * size. Borrowed
 * until the operation ends. */
struct aspx_node_blocks {
    size_t size;
    const size_t *sizes, *offsets; /* both or none */
};

/* An operation in progress; its fields are those of this folder. Lives until
 * the step or wait that ended it. */
struct aspx_node_op {
    struct aspx_node_area *area;
    struct aspx_node_config config;
    bool (*const *phases)(struct aspx_node_op *op); /* of a segment, to NULL */
    uint32_t phase;
    uint32_t at;      /* how far a phase is, ranks or children */
    uint64_t segment; /* the one in work */
    uint64_t segments;
    uint64_t sequence;        /* of the first segment; see flags.h */
    struct aspx_event *event; /* where to sleep; set by a step that returned
                                 false */
    const struct aspx_node_operator *operator;
    const struct aspx_node_blocks *blocks;
    const struct aspx_node_blocks *sent; /* of Alltoall */
    const char *in;
    char *out;
    size_t bytes;         /* that this rank gives or gets */
    size_t piece;         /* of them in a segment */
    uint32_t root, first; /* first: at the top of the tree */
    int error;
    bool has_data; /* its end frees slots */
    bool has_ended;
};

/* One step: as far as it goes without waiting. Returns whether the operation
 * has ended, then and at any later call. Calls no MPI but what reductions call.
 */
bool aspx_node_step(struct aspx_node_op *op);

/* Step, and wait in between as the configuration says. Returns the operation's
 * error. */
int aspx_node_wait(struct aspx_node_op *op);

int aspx_node_barrier(struct aspx_node_area *area,
                      const struct aspx_node_config *config);

/* The root's bytes to all. The root may return before the others came. */
int aspx_node_bcast(struct aspx_node_area *area,
                    const struct aspx_node_config *config, void *buffer,
                    size_t bytes, uint32_t root);

/* Block i of the root to rank i.
 *   blocks  of in; read in the root only
 *   out     bytes of this rank's block; NULL in the root: its block stays where
 *           it is (MPI_IN_PLACE) */
int aspx_node_scatter(struct aspx_node_area *area,
                      const struct aspx_node_config *config, const void *in,
                      const struct aspx_node_blocks *blocks, void *out,
                      size_t bytes, uint32_t root);

/* The other way round. in NULL in the root: its block is in out already. */
int aspx_node_gather(struct aspx_node_area *area,
                     const struct aspx_node_config *config, const void *in,
                     size_t bytes, void *out,
                     const struct aspx_node_blocks *blocks, uint32_t root);

/* To all; blocks are the same on all ranks. in NULL: as in the root above. */
int aspx_node_allgather(struct aspx_node_area *area,
                        const struct aspx_node_config *config, const void *in,
                        size_t bytes, void *out,
                        const struct aspx_node_blocks *blocks);

/* Block i of in[] to rank i, which has it as its block of this rank.
 *   sent, received  of in and out: a rank knows but its own. A rank that
 * expects
 *                   of some other what that does not send gets an error, and of
 *                   all of them no more than a first segment */
int aspx_node_alltoall(struct aspx_node_area *area,
                       const struct aspx_node_config *config, const void *in,
                       const struct aspx_node_blocks *sent, void *out,
                       const struct aspx_node_blocks *received);

/* in[] of rank 0 op in[] of rank 1 op ..., in this order, unless the operator
 * is commutative; the same bits on all ranks.
 *   operator  borrowed until the operation ends
 *   in        count elements; may be out (MPI_IN_PLACE)
 *   out       of Reduce: in the root only */
int aspx_node_reduce(struct aspx_node_area *area,
                     const struct aspx_node_config *config,
                     const struct aspx_node_operator *operator, const void * in,
                     void *out, size_t count, uint32_t root);
int aspx_node_allreduce(struct aspx_node_area *area,
                        const struct aspx_node_config *config,
                        const struct aspx_node_operator *operator,
                        const void * in, void *out, size_t count);

#endif
