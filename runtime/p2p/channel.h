/* SPDX-License-Identifier: BSD-3-Clause */
/* Between a rank and the ghost that serves it: one mailbox, in the rank's slice
 * of the arena. Whatever the rank posts waits for nobody:
 *
 *   post --room--> published --> the ghost's news --> the request has ended
 *     |               ^
 *     +-- no room: a list in this process, published when there is some
 *
 * A small standard send ends when it is published. Threads: any. */
#ifndef ASPEN_RUNTIME_P2P_CHANNEL_H
#define ASPEN_RUNTIME_P2P_CHANNEL_H

#include "message.h"

/* Make it, and have the ghost serve it. Returns whether it does. Waits for the
 * ghost, whose end its watchdog notices. */
bool aspx_p2p_channel_open(void);

/* Is there something that was to be posted, and waits for room? */
bool aspx_p2p_channel_is_full(void);

/* Nothing is posted any more, and what still lands is read by nobody: the ghost
 * does not wait for this rank. */
void aspx_p2p_channel_close(void);

/* A request for a message, inactive; NULL: no memory. */
struct aspx_own_request *aspx_p2p_request(MPI_Comm comm,
                                          const struct aspx_p2p_post *post,
                                          const struct aspx_p2p_buffer *buffer);

/* One of a small standard send that was posted: it has ended. */
struct aspx_own_request *aspx_p2p_request_ended(void);

/* Begin what it says: find the data, and post it. It is active, or has ended.
 * Returns an error code; then nothing was posted. */
int aspx_p2p_begin(struct aspx_own_request *request);

/* A small standard send without a request. Returns false where there is no room
 * now: then it needs one. */
bool aspx_p2p_post_small(struct aspx_p2p_post *post, const void *data);

/* Look at what came, so that it may end, whatever the program waits for. */
void aspx_p2p_look(void);

/* How many sends with MPI_Bsend's data are under way: bytes of the program's
 * buffer that they would take. */
extern _Atomic uint64_t aspx_p2p_buffered;

/* Counts, for the record. */
struct aspx_p2p_counts {
    _Atomic uint64_t sent, received; /* messages */
    _Atomic uint64_t cancelled;      /* of those sent */
    _Atomic uint64_t bytes_sent, bytes_received;
    _Atomic uint64_t bytes_direct; /* received, written in place by the ghost */
    _Atomic uint64_t
        bytes_copied; /* sent, copied at the post: it may not read */
    _Atomic uint64_t posted_most, unexpected_most; /* at the ghost */
};
extern struct aspx_p2p_counts aspx_p2p_counts;

#endif
