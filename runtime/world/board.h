/* SPDX-License-Identifier: BSD-3-Clause */
/* A user rank's slot of the board, where the ghosts of its node see how far it
 * is. All of this does nothing without a board. */
#ifndef ASPEN_RUNTIME_WORLD_BOARD_H
#define ASPEN_RUNTIME_WORLD_BOARD_H

#include "common/board.h"
#include "common/layout/layout.h"

#include <stdint.h>

/* Map the board of ASPEN_BOARD_FD and take slot `local`; quietly none if it is
 * absent or does not fit the layout. */
void aspx_board_open(const struct asp_layout *layout, uint32_t local);

/* Tell the ghosts of this node where we are. */
void aspx_board_say(enum asp_board_state state);

/* Put on it by what the ghosts are to be like this process (settings.h).
 * Returns 0, or -1 with errno. */
int aspx_board_tell_settings(const int *required);

/* The board, or NULL. */
struct asp_board *aspx_board(void);

#endif
