/* SPDX-License-Identifier: BSD-3-Clause */
/* A table with one number per world rank, which the leaders of all nodes keep
 * alike, each a little later. The leader of a rank's node is the only author of
 * its number. What changes travels in small messages along the tree of leaders:
 * a leader has nine neighbours at most, and many changes at once cost one
 * message per 32 of them. Between two leaders there is at most one message
 * under way each way; numbers arrive in order, and one that changed twice
 * meanwhile is sent once. Nothing here waits.
 *
 * Ghosts only, from the thread that calls MPI. */
#ifndef ASPEN_RUNTIME_ADAPT_NODE_STATUS_BROADCAST_H
#define ASPEN_RUNTIME_ADAPT_NODE_STATUS_BROADCAST_H

#include "runtime/casper/arena/engine.h"

#include <stdbool.h>
#include <stdint.h>

struct aspx_status_broadcast;

/* Called when a number that another leader changed has come. */
typedef void aspx_status_heard(void *context, uint32_t rank, uint64_t value);

/* All numbers are 0 in the beginning.
 *   engine  borrowed; this process leads its node
 * Returns NULL without memory, or when MPI fails. */
struct aspx_status_broadcast *aspx_status_broadcast_create(
    const struct aspx_engine *engine, aspx_status_heard *heard, void *context);

/* Our own number. heard() is not called. */
void aspx_status_broadcast_set(struct aspx_status_broadcast *broadcast,
                               uint32_t rank, uint64_t value);

/* Take what has come, send what has changed. Cheap when there is nothing.
 * Returns how many messages came, or -1 when MPI failed. */
int aspx_status_broadcast_step(struct aspx_status_broadcast *broadcast);

/* Takes NULL. */
void aspx_status_broadcast_destroy(struct aspx_status_broadcast *broadcast);

#endif
