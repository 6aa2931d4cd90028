/* SPDX-License-Identifier: BSD-3-Clause */
/* The ghosts of this job, for what lies below them: they have memory in common
 * with the users of their node, and join nodes. All but ring() are called by
 * one thread at a time. */
#ifndef ASPEN_RUNTIME_POSTED_GHOSTS_H
#define ASPEN_RUNTIME_POSTED_GHOSTS_H

#include <stdbool.h>
#include <stdint.h>

/* What a ghost is to serve. */
enum aspx_ghost_service {
    ASPX_SERVE_COLLECTIVES, /* a mailbox, as its participant `me` */
    ASPX_SERVE_MESSAGES,    /* a mailbox with the rank `me` of MPI_COMM_WORLD */
};

struct aspx_ghosts {
    bool (*can)(void); /* does this process map all that its ghost maps? */
    /* Number of the ghost, among all, that serves a rank of MPI_COMM_WORLD. */
    uint32_t (*of)(uint32_t rank_world);
    uint64_t (*most)(void); /* bytes that one mailbox may have */
    /* Zeroed memory, which the ghost maps at the same offset. */
    void *(*take)(uint64_t bytes, uint64_t *offset_p);
    void *(*find)(uint64_t offset, uint64_t bytes);
    void (*give)(uint64_t offset, uint64_t bytes);
    /* The other way round: does the ghost map this memory of the program's? */
    bool (*maps)(const void *address, uint64_t bytes, uint64_t *offset_p);
    void (*open)(enum aspx_ghost_service service, uint64_t offset, uint32_t me);
    void (*ring)(void); /* something was posted */
    /* Does adaptation judge whether ghosts help? The same in all processes; and
     * do they help this one? */
    bool (*adapts)(void);
    bool (*helps)(void);
    int32_t (*pid)(void); /* of the ghost of this rank */
};

/* NULL: there are none. Set before the ranks join (interceptors.h). */
extern const struct aspx_ghosts *aspx_ghosts;

#endif
