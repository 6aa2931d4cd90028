/* SPDX-License-Identifier: BSD-3-Clause */
/* Redirection of a window, switched off and on while it is in use: per target,
 * at legal points only, by all processes together. While it is off, the target
 * itself carries out what is for it, and no ghost does.
 *
 * A legal point is a call in which every process first completes all it has
 * issued on the window and then waits for all others to get there:
 * MPI_Win_fence, and MPI_Win_set_info with symmetric=true. Each process tells
 * before the barrier what it wants for itself as a target, and looks after the
 * barrier what all told. It tells by one byte in the arena of every node of the
 * window, where all processes of the node see it, and only if the byte has to
 * change. There are two banks of such bytes, for points of odd and even number:
 * a process that is ahead writes to the bank that nobody reads any more. A byte
 * says what is not as in the beginning, so zero-filled pages are right.
 *
 * docs/design/adaptation.md says why this is safe. */
#ifndef ASPEN_RUNTIME_CASPER_WINDOW_SWITCH_H
#define ASPEN_RUNTIME_CASPER_WINDOW_SWITCH_H

#include "window.h"

/* What a target wants, in a byte; and in its difference to the first one. */
enum {
    ASPX_SWITCH_ITSELF = 1, /* it carries out what is for it */
    ASPX_SWITCH_FIXED = 2,  /* so it was said: nobody is to know better */
    ASPX_SWITCH_OWNER =
        4, /* times the ghost of its node, 0..63, that carries
              out its accumulates (casper/arena/ghost_scaling.h) */
};

/* This process's own wish now, for a window of which that was said.
 *   first  it is being made */
unsigned char aspx_switch_wish(enum aspx_async asked, bool first);

/* How many bytes a node of the window needs, behind its lock words. */
uint64_t aspx_switch_bytes(const struct aspx_win *win);

/* A new window, with all that the processes told of it: can it be switched, and
 * how each target begins. Its targets, nodes and turn.asked are complete. */
void aspx_switch_make(struct aspx_win *win);

/* The window is in use, or gone: for the record. */
void aspx_switch_begin(const struct aspx_win *win);
void aspx_switch_end(const struct aspx_win *win);

/* At a legal point, before the barrier: all this process has issued is
 * complete. Returns an MPI code.  Cost: nothing where the wish is the old
 * one; else a Put and a flush for each other node of the window. */
int aspx_switch_tell(struct aspx_win *win);

/* And after the barrier.  Cost: a look at one byte per process. */
void aspx_switch_take(struct aspx_win *win);

#endif
