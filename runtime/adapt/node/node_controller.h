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

/* Fills *controller_p; with NULL where there is nothing to judge: not asked
 * for, not the leader, no arena. Returns 0, or -1 without memory, or when MPI
 * failed. */
int aspx_node_controller_create(struct aspx_node_controller **controller_p,
                                const struct aspx_engine *engine);

/* In every round of the ghost's loop: reads the clock, and does what is due.
 * Takes NULL. Returns how many messages of other leaders came, or -1 when MPI
 * failed. */
int aspx_node_controller_step(struct aspx_node_controller *controller);

/* The longest nap, in microseconds, that the ghost may take after this step if
 * it has nothing else to do: until the next sample of the users is due. 0 while
 * the predictor wants ghosts for a user of the node, because how long users
 * stay outside MPI is only seen between two steps. Takes NULL: UINT64_MAX. */
uint64_t aspx_node_controller_nap_limit_us(
    const struct aspx_node_controller *controller);

/* Is no user of the node to be served by ghosts, and has that been so for long
 * enough that no order is expected soon? Then the ghost may nap longer: what
 * shows the next phase is the rate of operations, which any later step sees.
 * Takes NULL: false. */
bool aspx_node_controller_unwanted(
    const struct aspx_node_controller *controller);

/* Takes NULL. */
void aspx_node_controller_destroy(struct aspx_node_controller *controller);

#endif
