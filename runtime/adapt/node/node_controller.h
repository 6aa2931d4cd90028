/* SPDX-License-Identifier: BSD-3-Clause */
/* adapt=ghosts: the first ghost of a node, its leader, reads how long the users
 * of the node are in MPI and decides for them, whether they call MPI or not: a
 * user that computes cannot do it itself. The leader tells the users of its
 * node through the arena, and the leaders of other nodes by messages.
 *
 * Ghosts only, from the thread that calls MPI. */
#ifndef ASPEN_RUNTIME_ADAPT_NODE_NODE_CONTROLLER_H
#define ASPEN_RUNTIME_ADAPT_NODE_NODE_CONTROLLER_H

#include "runtime/casper/arena/engine.h"

#include <stdbool.h>
#include <stdint.h>

struct aspx_node_controller;

/* Fills *controller_p; with NULL where there is nothing to decide: not
 * asked for, not the leader, no arena. Returns 0, or -1 without memory, or when
 * MPI failed. */
int aspx_node_controller_create(struct aspx_node_controller **controller_p,
                                const struct aspx_engine *engine);

/* In every round of the ghost's loop. Takes NULL. Reads the clock; does more
 * when its time has come.
 *   came  the device has reported something: maybe a message of another leader
 * Returns how many messages of other leaders it took, or -1 when MPI failed. */
int aspx_node_controller_step(struct aspx_node_controller *controller,
                              bool came);

/* How long the ghost may block as of the last step if it has nothing else to
 * do, in microseconds: until the next look at the users. For a millisecond only
 * while the predictor wants ghosts for one of them: how long users stay outside
 * MPI is seen between two steps. But when it was found that ghosts are no help,
 * what shows another phase is above all the rate of operations, which any step
 * sees. Takes NULL: as long as it likes. */
uint64_t aspx_node_controller_due_us(
    const struct aspx_node_controller *controller);

/* Takes NULL. */
void aspx_node_controller_destroy(struct aspx_node_controller *controller);

#endif
