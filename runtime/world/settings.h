/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables that MPI and its network library read when they start: MPIR_*,
 * UCX_* and the like. Ghosts begin with those of the launcher; a program, or a
 * script around it, may change them before MPI_Init, and processes that differ
 * in them may not find a way to each other. So the first user of a node to
 * enter MPI puts its own on the board, and the ghosts of the node take them.
 * Beside them it puts what no variable says of it: which library its MPI is,
 * which files that has for its device (runtime/net/device_files.h), and the
 * thread level, for ghosts have to be like their users in all by which
 * MPI chooses how processes of a job talk to each other. */
#ifndef ASPEN_RUNTIME_WORLD_SETTINGS_H
#define ASPEN_RUNTIME_WORLD_SETTINGS_H

#include "common/board.h"

#include <stdbool.h>

/* In the environment of a ghost, from its user: the path of the MPI library,
 * its build (common/base/build_id.h), and the thread level that the program
 * asked for, a number of MPI_THREAD_*; without the last it called MPI_Init. */
#define ASPX_MPI_LIBRARY_ENV "ASPEN_MPI_LIBRARY"
#define ASPX_MPI_BUILD_ENV   "ASPEN_MPI_BUILD"
#define ASPX_MPI_THREADS_ENV "ASPEN_MPI_THREADS"

/* In a user, before it says ASP_TASK_INIT; does nothing where another user has
 * done it. Returns 0, or -1 with errno ENOSPC when there are too many: ghosts
 * keep what they have of MPI's own.
 *   settings  NULL where the board has no room for them
 *   required  the thread level that the program asks for, NULL: none */
int aspx_settings_tell(struct asp_board_settings *settings,
                       const int *required);

/* In a ghost: does aspx_settings_take() find all that there will be? The user
 * that writes changes the board when it has. */
bool aspx_settings_are_written(const struct asp_board_settings *settings);

/* In a ghost: make the environment of this process that of the user, as far as
 * these variables are concerned. The first thread does it, before MPI starts.
 */
void aspx_settings_take(const struct asp_board_settings *settings);

#endif
