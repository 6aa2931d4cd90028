/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between ranks, in the first ghost of each node: it reads the posts
 * of the users of its node (runtime/p2p/posts.h) and matches all messages to
 * them, alone (docs/design/p2p.md).
 *
 *   a send --receiver elsewhere--> its ghost (message_wire.h)
 *     |                               |
 *     +--receiver here--> matched <---+
 *                           |  small: the data came with it
 *                           +--> transferred (message_transfer.h), and both told
 *
 * Users can write to what they share with a ghost at any time: what is read
 * there is copied and checked once. Nothing blocks. All 0 and idle without
 * p2p. */
#ifndef ASPEN_RUNTIME_CASPER_SERVER_MESSAGES_H
#define ASPEN_RUNTIME_CASPER_SERVER_MESSAGES_H

#include "runtime/casper/arena/engine.h"

#include <stdbool.h>

/* Collective over the ghosts. Returns 0, or -1: no memory, or MPI failed. */
int aspx_ghost_messages_start(const struct aspx_engine *engine,
                              const struct aspx_doorbell *doorbell);
void aspx_ghost_messages_stop(void);

/* Serve a user from now on. Returns 0, or -1: no memory, or it is no mailbox,
 * as was said. */
int aspx_ghost_messages_open(uint64_t offset, uint32_t user);

struct aspx_ghost_message;

/* A message has come; data: of a small one, or NULL. Owned from now on. Returns
 * 0 or -1. */
int aspx_ghost_arrive(struct aspx_ghost_message *message, const void *data);

/* The sender, at the ghost of another node, cancels what it calls so: it is
 * told if that was among the unexpected. */
int aspx_ghost_cancel(int32_t ghost, uint32_t number);

/* In every round of the loop. Returns whether there was something to do, or -1:
 * no memory, or MPI failed. Cost: a load while nothing is under way, and
 * with several nodes a probe. */
int aspx_ghost_messages_step(void);

/* Is there something to be moved? */
bool aspx_ghost_messages_are_busy(void);

/* When to look again at what nothing announces, us. */
uint64_t aspx_ghost_messages_due_us(void);

#endif
