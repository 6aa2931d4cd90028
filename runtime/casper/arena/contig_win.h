/* SPDX-License-Identifier: BSD-3-Clause */
/* The second internal window, over the same arenas: made by MPI_Win_create
 * with all that a ghost has mapped, so that MPI hands contiguous bytes to the
 * transport itself (put, get) where the dynamic window packs them in messages
 * of its own. Half the price, but less to trust: MPICH 4.0.2 loses track of
 * operations on such windows. Hence what goes there is only
 *
 *   Put and Get without a request, of bytes without gaps on both sides, to
 *   ghosts of other nodes; and only MPI_Win_flush() of one rank, behind what
 *   arrival.h sends, completes it, for local completion too: flush_local after
 *   a Get and a Put, and flush_all, return early.
 *
 * Users bring no memory to it: UCX would remember it as registered, and MPICH
 * then gives every later window on a part of it the base of the whole. */
#ifndef ASPEN_RUNTIME_CASPER_ARENA_CONTIG_WIN_H
#define ASPEN_RUNTIME_CASPER_ARENA_CONTIG_WIN_H

#include "engine.h"

/* Make the window, where settings.contig_win asks for it: not where a transport
 * would pin the arena or map it again (aspx_settings_pins), nor with
 * rma.direct=no.
 * Collective over world->all; the arena is mapped. Returns whether it can be
 * used from here; without it everything goes on the dynamic window. */
bool aspx_contig_win_make(struct aspx_engine *engine);

/* Collective over world->all. Does nothing when there is none. */
void aspx_contig_win_free(struct aspx_engine *engine);

/* Around operations on the window: MPICH's flush forgets what another thread
 * issues meanwhile, so only one thread uses it at a time. Returns whether there
 * is something to leave. */
bool aspx_contig_win_enter(void);
void aspx_contig_win_leave(bool entered);

/* Complete what this process issued to a rank, a ghost on the engine's window,
 * or a target on that of its own window. Returns an MPI code.
 *   late  there are Puts among it that need arrival.h */
int aspx_contig_win_flush(int rank, MPI_Win contig_win, bool late);

/* Begin to get a word that a ghost publishes in its doorbell; the next flush of
 * the ghost completes it. Errors are left to that flush.
 *   ghost   world rank
 *   local   index among the ghosts of its node
 *   at      of the word, in struct aspx_doorbell
 *   into    must stay until the flush
 *   contig  the flush is that of the contiguous window */
void aspx_contig_win_get_word(int ghost, uint32_t local, size_t at,
                              uint32_t *into, bool contig);

#endif
