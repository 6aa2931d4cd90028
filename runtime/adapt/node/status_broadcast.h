/* SPDX-License-Identifier: BSD-3-Clause */
/* What the leaders of all nodes, their first ghosts, tell each other: a table
 * of numbers that is the same everywhere a little later. Every number has one
 * author. Only what changed travels, in small messages along a tree of leaders,
 * so no leader has more than nine neighbours and a change costs one message per
 * node however many users changed meanwhile. Between two leaders there is at
 * most one message under way and each number arrives in the order in which it
 * changed; what changed twice meanwhile is told once. Nothing here waits.
 *
 * Ghosts only, from the thread that calls MPI. */
#ifndef ASPEN_RUNTIME_ADAPT_NODE_STATUS_BROADCAST_H
#define ASPEN_RUNTIME_ADAPT_NODE_STATUS_BROADCAST_H

#include "runtime/casper/arena/engine.h"

#include <stdbool.h>
#include <stdint.h>

struct aspx_status_broadcast;

/* Called when a number is not what it was, by whoever it was changed. */
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
