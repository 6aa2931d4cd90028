/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking calls whose data idle OpenMP threads pack and unpack: MPI_Send,
 * MPI_Ssend, MPI_Rsend, MPI_Recv, MPI_Sendrecv, MPI_Pack, MPI_Unpack, and their
 * twins with large counts.
 *
 *   send      pack by threads into staging memory, send that as bytes
 *   receive   the same number of bytes into staging memory, unpack by threads
 *             what has come
 *
 * That is done in the caller's thread, in front of the mode's table, so outside
 * of MPI and of its locks. MPI sees one call in the place of one: what matches,
 * waits, is truncated, fails, and what the status says is the same. The bytes
 * are those of the typed message, so each side decides by itself; a sender only
 * sends them to ranks that take them apart as Aspen does (peers.h). */
#ifndef ASPEN_RUNTIME_PACK_STAGED_H
#define ASPEN_RUNTIME_PACK_STAGED_H

#include "runtime/mpi/entry.h"

/* Before MPI_Init, when messages are to be Aspen's to pack: unless the layout
 * says pack.threads=off. */
void aspx_staged_prepare(const struct asp_layout *layout);

/* In front of the mode, when they are, if the process has an OpenMP. */
extern const struct aspx_interceptor aspx_staged_interceptor;

#endif
