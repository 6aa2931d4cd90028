/* SPDX-License-Identifier: BSD-3-Clause */
/* How UCX wakes a process of its node that has armed (ucx_event.h): it sends a
 * byte from a datagram socket, whose number it knows from MPI_Init. A program
 * may have closed that since, as daemons do, and then have a connection of its
 * own under the number: the byte would go into its data, and nobody would be
 * woken. */
#ifndef ASPEN_RUNTIME_MPI_UCX_SIGNAL_FIX_H
#define ASPEN_RUNTIME_MPI_UCX_SIGNAL_FIX_H

/* In a process beside ghosts: have UCX's shared memory use another socket then.
 * Idempotent; without UCX nothing is done. While no other thread is inside MPI.
 */
void aspx_ucx_signal_fix(void);

#endif
