/* SPDX-License-Identifier: BSD-3-Clause */
/* What operations are made of: an operation is a list of phases that is gone
 * through once for each segment.
 *
 *          +------------------ next segment ------------------+
 *          v                                                  |
 *     phase 0 --true--> phase 1 --true--> ... --> the last ---+--> end
 *      |   ^
 *      false: what op->event announces is not there; the next step tries again
 *
 * A phase that returned false is called again, with op->at as it left it (0 to
 * begin with). Internal to this folder. */
#ifndef ASPEN_RUNTIME_COLL_NODE_PHASES_H
#define ASPEN_RUNTIME_COLL_NODE_PHASES_H

#include "flags.h"

#include <string.h>

typedef bool aspx_node_phase(struct aspx_node_op *op);

/* Set up an operation; the caller sets what is its own. Where the configuration
 * is none it has ended with an error. */
void aspx_node_begin(struct aspx_node_op *op, struct aspx_node_area *area,
                     const struct aspx_node_config *config,
                     aspx_node_phase *const *phases);

/* The tree that begins with op->first. */
const struct aspx_node_tree *aspx_node_tree(struct aspx_node_op *op);

/* Cut bytes into segments of `piece` at most, one at least. */
void aspx_node_cut(struct aspx_node_op *op, size_t bytes, size_t piece);

/* Bytes of the segment in work, of a block of so many; 0 behind its end. */
static inline size_t aspx_node_length(const struct aspx_node_op *op,
                                      size_t bytes)
{
    size_t begin = (size_t) op->segment * op->piece;

    if (begin >= bytes)
        return 0;
    return bytes - begin < op->piece ? bytes - begin : op->piece;
}

static inline void aspx_node_copy(void *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
}

/* sync.c: all ranks have come here, in two phases. */
aspx_node_phase aspx_node_sync_gather, aspx_node_sync_release;

/* slots.c */

/* Nobody reads my slot any more: it may be written. */
aspx_node_phase aspx_node_slot_is_free;

/* The slot is written, for the ranks first..end-1 without this one. The flag
 * that says so is raised next. */
void aspx_node_fill(struct aspx_node_op *op, uint32_t first, uint32_t end);

/* Write a segment of op->in to my slot, for these. */
void aspx_node_put(struct aspx_node_op *op, uint32_t first, uint32_t end);

/* The same for all, before a sync. */
aspx_node_phase aspx_node_put_for_all;

/* I have read what I wanted of the segment in work. */
void aspx_node_raise_done(struct aspx_node_op *op);

/* Another rank says that it gives so many bytes: no more and no fewer than I
 * expect, or it is an error, and only what both have is moved. */
void aspx_node_accept(struct aspx_node_op *op, uint64_t bytes, uint64_t error);

/* After the first sync: do all ranks write as many segments, and as many bytes?
 * Otherwise the operation ends with this segment, and an error, on each. */
bool aspx_node_all_agree(struct aspx_node_op *op, bool same_bytes);

/* stream.c: a segment from the rank op->first is there; its children know. */
aspx_node_phase aspx_node_await_first;

/* It is read, from there in its slot. */
void aspx_node_take(struct aspx_node_op *op, const char *from);

static inline size_t aspx_node_block_size(const struct aspx_node_blocks *blocks,
                                          uint32_t rank)
{
    return blocks->sizes ? blocks->sizes[rank] : blocks->size;
}

static inline size_t aspx_node_block_offset(
    const struct aspx_node_blocks *blocks, uint32_t rank)
{
    return blocks->sizes ? blocks->offsets[rank] : rank * blocks->size;
}

size_t aspx_node_block_max(const struct aspx_node_blocks *blocks,
                           uint32_t count);

/* reduce_order.c */

/* Set up a reduction; false: the operation has ended already. */
bool aspx_node_begin_reduction(struct aspx_node_op *op,
                               const struct aspx_node_operator *operator,
                               const void * in, void *out, size_t count);

/* inout = in op inout; what fails is the operation's error. */
void aspx_node_reduce_local(struct aspx_node_op *op, char *inout,
                            const char *in, size_t bytes);

/* Phases of reductions along the tree ... */
aspx_node_phase aspx_node_reduce_children; /* and my own, into my slot */
aspx_node_phase aspx_node_send_up;         /* my slot, to my parent */

/* ... and by shares, or by each rank on its own. */
aspx_node_phase aspx_node_reduce_share; /* into the last rank's slot */
aspx_node_phase aspx_node_reduce_all;   /* into op->out */

#endif
