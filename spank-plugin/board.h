/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin's side of common/board.h: make it before the tasks are forked,
 * and enter a task's pid in the task itself. */
#ifndef ASPEN_SPANK_PLUGIN_BOARD_H
#define ASPEN_SPANK_PLUGIN_BOARD_H

#include <stdint.h>

/* Make a sealed board. Returns its descriptor (close-on-exec), or -1 with
 * errno of memfd_create(), ftruncate(), pwrite() or fcntl(). */
int asps_board_create(uint32_t ntasks, uint32_t nghosts);

/* In task `slot`, as the user: say that it runs, and wake whoever waits.
 * Returns 0, or -1 with errno of mmap(). */
int asps_board_enter(int board_fd, uint32_t ntasks, uint32_t slot);

#endif
