/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables that MPI and its network library read when they start: MPIR_*,
 * UCX_* and the like. Ghosts begin with those of the launcher; a program, or a
 * script around it, may change them before MPI_Init, and processes that differ
 * in them may not find a way to each other. So the first user of a node to
 * enter MPI puts its own on the board, and the ghosts of the node take them. */
#ifndef ASPEN_RUNTIME_WORLD_SETTINGS_H
#define ASPEN_RUNTIME_WORLD_SETTINGS_H

#include "common/board.h"

#include <stdbool.h>

/* In a user, before it says ASP_TASK_INIT; does nothing where another user has
 * done it. Returns 0, or -1 with errno ENOSPC when there are too many: ghosts
 * keep what they have. settings: NULL where the board has no room for them. */
int aspx_settings_tell(struct asp_board_settings *settings);

/* In a ghost: does aspx_settings_take() find all that there will be? The user
 * that writes changes the board when it has. */
bool aspx_settings_are_written(const struct asp_board_settings *settings);

/* In a ghost: make the environment of this process that of the user, as far as
 * these variables are concerned. The first thread does it, before MPI starts.
 */
void aspx_settings_take(const struct asp_board_settings *settings);

#endif
