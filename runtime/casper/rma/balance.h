/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ghost of the target's node carries out a Put or a Get (dissertation
 * section 4.5.3.3, "dynamic binding"). The papers let them move only after a
 * flush has proved that the lock is held; here a lock call returns with the
 * lock, so they may move in every epoch. */
#ifndef ASPEN_RUNTIME_CASPER_RMA_BALANCE_H
#define ASPEN_RUNTIME_CASPER_RMA_BALANCE_H

#include "runtime/casper/window/window.h"

/* Ghost of the target's node, index in win->ghosts. Threads: any; counters of
 * concurrent threads are read as they come. */
uint32_t aspx_balance_choose(struct aspx_win *win,
                             const struct aspx_target *target);

/* Count an operation that went to a ghost (world rank). */
void aspx_balance_note(int ghost, uint64_t bytes);

/* Before a flush of a ghost: let it bring how much that ghost has to do.
 *   contig  the flush is that of the contiguous window */
void aspx_balance_ask(const struct aspx_win *win, int ghost, bool contig);

#endif
