/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher's barrier in MPI_Finalize. MPICH has closed its connections
 * before it, as far as they can be closed, or closes them after it (4.2), and
 * waits in it without progress: for all others, which may still receive what it
 * has sent, or left to MPI to send. With this it makes progress there: until
 * all ranks have come, nobody's messages stand still. Nothing is agreed upon
 * with other ranks, so it does not matter whether they run Aspen. */
#ifndef ASPEN_RUNTIME_MPI_END_BARRIER_H
#define ASPEN_RUNTIME_MPI_END_BARRIER_H

/* Once, when MPI runs: MPI_Finalize will lead libmpich's read() here. Without
 * UCX nothing is done. While no other thread is inside MPI. */
void aspx_end_barrier_patch(void);

#endif
