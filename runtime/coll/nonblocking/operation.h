/* SPDX-License-Identifier: BSD-3-Clause */
/* A non-blocking collective of one rank, on bytes: what a rank gives is
 * published when it posts the operation, so that from then on nobody depends on
 * it; what it gets, it takes from the entries of others (mailbox.h) when it has
 * time.
 *
 *   posted --> all that it reads is there --> taken: the operation has ended
 *
 *   what the rank reads      all ranks on one node      several, by ghosts
 *   barrier                  all                        the ghost's
 *   bcast, scatter           the root's                 the same on its node,
 *                                                       else the ghost's
 *   reduce, gather: root     all                        the ghost's
 *   ... others               nothing                    nothing
 *   allreduce, allgather,    all                        the ghost's
 *   alltoall, reduce_scatter_block
 *   scan, exscan             those of lower ranks       (left to MPI)
 *
 * A ghost gathers what its node gives, exchanges it with the ghosts of other
 * nodes by a schedule (common/coll), and publishes what came out.
 *
 * Every rank reduces what it reads in the same order, so all have the same
 * bits: a0 op (a1 op (a2 op ...)), and of prefixes ((a0 op a1) op a2) op ...
 *
 * Source: MPI 4.0, 6.12. Threads: as mailbox.h. */
#ifndef ASPEN_RUNTIME_COLL_NONBLOCKING_OPERATION_H
#define ASPEN_RUNTIME_COLL_NONBLOCKING_OPERATION_H

#include "runtime/posted/mailbox.h"

#include "common/coll/build/index.h"

#include <string.h>

/* What an operation is; equal on all ranks of a correct program. */
struct aspx_mailbox_descriptor {
    uint64_t bytes;        /* as in common/coll/build/index.h */
    uint32_t op;           /* enum asp_coll_op */
    uint32_t root;         /* rank of the communicator */
    int32_t reduction;     /* MPI_Op and MPI_Datatype of MPI's own, whose */
    int32_t type;          /* handles are the same in all processes */
    uint32_t element_size; /* bytes of an element; 1 where nothing is reduced */
};

_Static_assert(sizeof(struct aspx_mailbox_descriptor) <=
                   sizeof(struct aspx_mailbox_label),
               "the label of an entry");

static inline struct aspx_mailbox_label aspx_mailbox_label_of(
    const struct aspx_mailbox_descriptor *descriptor)
{
    struct aspx_mailbox_label label = {{0}};

    memcpy(&label, descriptor, sizeof(*descriptor));
    return label;
}

static inline struct aspx_mailbox_descriptor aspx_mailbox_descriptor_of(
    const struct aspx_mailbox_view *view)
{
    struct aspx_mailbox_descriptor descriptor;

    memcpy(&descriptor, &view->label, sizeof(descriptor));
    return descriptor;
}

/* Of a rank or of a ghost: its mailbox, its operations, and who is where. */
struct aspx_posts {
    struct aspx_mailbox mailbox;
    uint32_t rank, ranks;
    uint32_t members; /* ranks of this node: participants but for the ghost */
    uint32_t nodes, node;
    const uint32_t *node_of;        /* of each rank */
    const uint32_t *member_of;      /* of each rank, its number in its node */
    uint32_t fullest;               /* members of the fullest node */
    uint64_t most;                  /* bytes of an entry; larger: MPI's */
    struct aspx_post *first, **end; /* not ended, in their order */
    uint64_t begun;
    /* Bytes of regions that operations which this rank may not have passed take
     * at most: those before `mark`, and those from it on. */
    uint64_t mark, before_mark, since_mark;
    uint64_t may_hold; /* bytes for which there was memory */
    /* inout[i] = in[i] op inout[i], an error code of MPI. */
    int (*reduce)(void *inout, const void *in,
                  const struct aspx_mailbox_descriptor *descriptor,
                  uint64_t bytes);
};

/* Embedded in what a caller has for an operation. */
struct aspx_post {
    struct aspx_mailbox_descriptor descriptor;
    uint64_t number;
    bool keeps_own;  /* MPI_IN_PLACE: its own block is in `out` already */
    bool is_pending; /* there was no room for what it gives: in `given` */
    bool has_ended;
    int rc; /* MPI_SUCCESS, or an error code */
    void *given;
    uint64_t given_bytes;
    struct aspx_mailbox_view *from; /* by participant, of `posts` */
    void *held; /* their data, copied (aspx_posts_hold()), or NULL */
    struct aspx_post *next;
};

/* Can operations of this kind be posted, with so many bytes? The same on all
 * ranks. */
bool aspx_posts_can(const struct aspx_posts *posts,
                    const struct aspx_mailbox_descriptor *descriptor);

/* Bytes that a rank gives, contiguous. */
uint64_t aspx_post_gives(const struct aspx_posts *posts,
                         const struct aspx_mailbox_descriptor *descriptor);

/* Begin: what is given is written by fill(arg, data), at once or, when there is
 * no room, into memory of its own until there is.
 *   post  zeroed but for descriptor and keeps_own; in the list until it has
 *         ended
 * Returns 0, or -1: no memory, and nothing was published. */
int aspx_post_begin(struct aspx_posts *posts, struct aspx_post *post,
                    int (*fill)(void *arg, void *data, uint64_t bytes),
                    void *arg);

/* Is there something that had no room? */
static inline bool aspx_posts_are_pending(const struct aspx_posts *posts)
{
    return posts->mailbox.published < posts->begun;
}

/* Look what came, and publish what had no room. */
void aspx_posts_look(struct aspx_posts *posts);

/* Has this rank posted so much that it has not passed that a region may be full
 * of it? Then the others may wait for it to look. */
bool aspx_posts_may_fill(const struct aspx_posts *posts);

/* Copy what came for operations that only have to be taken, so that its owners
 * have the room. Without memory for it, it stays where it is. */
void aspx_posts_hold(struct aspx_posts *posts);

/* The participant whose entry is not there; participants: none is missing. */
uint32_t aspx_post_misses(const struct aspx_posts *posts,
                          const struct aspx_post *post);

/* Nothing is missing: take what the rank gets.
 *   out  contiguous; of the bytes that forms.h says */
void aspx_post_take(struct aspx_posts *posts, struct aspx_post *post,
                    void *out);

/* It has ended: out of the list, and free what it had. */
void aspx_post_end(struct aspx_posts *posts, struct aspx_post *post);

#endif
