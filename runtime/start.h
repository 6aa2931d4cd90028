/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of Aspen in a user rank: MPI_Init to MPI_Finalize. */
#ifndef ASPEN_RUNTIME_START_H
#define ASPEN_RUNTIME_START_H

#include "common/board.h"
#include "common/layout/layout.h"

#include <stdbool.h>

/* Map the board of ASPEN_BOARD_FD and take slot `local`; quietly none if it is
 * absent or does not fit the layout. */
void aspx_board_open(const struct asp_layout *layout, uint32_t local);

/* Tell the ghosts of this node where we are. Does nothing without a board. */
void aspx_board_say(enum asp_board_state state);

/* The board, or NULL. */
struct asp_board *aspx_board(void);

/* Did MPI_Init or its kin come through our entries? */
bool aspx_start_seen(void);

#endif
