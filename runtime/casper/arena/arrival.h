/* SPDX-License-Identifier: BSD-3-Clause */
/* Completing Puts at the other side, on the internal windows.
 *
 * Where MPI's flush returns before a small Put has got there
 * (aspx_net_flushes_early), a Get goes behind the Puts, whose size MPI does not
 * say: the other side answers it when it has stored what came before, where the
 * provider keeps that order, as tcp and sockets do. The flush then waits for
 * the answer. It costs a message each way, beside those of the Puts.
 */
#ifndef ASPEN_RUNTIME_CASPER_ARENA_ARRIVAL_H
#define ASPEN_RUNTIME_CASPER_ARENA_ARRIVAL_H

#include <mpi.h>

#include <stdbool.h>

/* Find out whether that is so here, for the record, too (mpi_fixes). By users
 * and ghosts.
 *   device  this node has one by which MPI puts without the other side's help
 *           (aspx_settings_device): then MPI's word is taken
 *   says    this process says so where the provider does not promise to keep
 *           that order */
void aspx_arrival_start(bool device, bool says);

/* Is it? Threads: any. */
bool aspx_arrival_is_late(void);

/* MPI_Win_flush(), after Puts. Returns an MPI code. Threads: any.
 *   at  displacement of a byte that the rank has there */
int aspx_arrival_flush(int rank, MPI_Win win, MPI_Aint at);

#endif
