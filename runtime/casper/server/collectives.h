/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking collectives among nodes, in the ghost: what its users have
 * posted on the mailboxes of communicators (runtime/posted/mailbox.h)
 * is gathered, exchanged with the ghosts of the other nodes, and published.
 *
 *   an entry of a user --> gathering --all that the node gives--> exchanging
 *                                                                     |
 *                      users take it <-- published <--the schedule has ended
 *
 * Users can write to the memory of mailboxes at any time. A mailbox whose
 * memory is not what a correct program leaves there is closed, on all nodes,
 * and its users end the job when they wait for it.
 *
 * Nothing of it blocks. All 0 and idle without coll=tune or coll=table. */
#ifndef ASPEN_RUNTIME_CASPER_SERVER_COLLECTIVES_H
#define ASPEN_RUNTIME_CASPER_SERVER_COLLECTIVES_H

#include "runtime/casper/arena/engine.h"

#include <stdbool.h>

void aspx_ghost_collectives_start(const struct aspx_engine *engine,
                                  const struct aspx_doorbell *doorbell);

/* Serve a mailbox from now on. Returns 0, or -1: no memory, or it is none, as
 * was said. */
int aspx_ghost_collectives_open(uint64_t offset, uint32_t me);

/* The ghost of another node has found a mailbox overwritten, and closed it: the
 * communicator's is closed here, too.
 *   tag  its first
 * Returns 0, or -1: no memory. */
int aspx_ghost_collectives_close(uint64_t tag);

/* In every round of the loop. Returns whether there was something to do, or -1:
 * no memory, or MPI failed. Cost: a load while nothing is under way. */
int aspx_ghost_collectives_step(void);

/* Does another ghost still need this one? */
bool aspx_ghost_collectives_are_busy(void);

/* When to look again at what nothing announces, us. */
uint64_t aspx_ghost_collectives_due_us(void);

#endif
