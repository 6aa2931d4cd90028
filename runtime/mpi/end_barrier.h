/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher's barrier in MPI_Finalize. MPICH 4.0.2 has closed its
 * connections before it, as far as they can be closed, and waits in it without
 * progress: for all others, which may still receive what it has sent, or left
 * to MPI to send. With this it makes progress there: until all ranks have come,
 * nobody's messages stand still. Nothing is agreed upon with other ranks, so it
 * does not matter whether they run Aspen. */
#ifndef ASPEN_RUNTIME_MPI_END_BARRIER_H
#define ASPEN_RUNTIME_MPI_END_BARRIER_H

/* Once, with tcp_finalize_fix.c: libmpich's read() leads here. */
void aspx_end_barrier_patch(void);

/* MPI_Finalize has begun to close its connections: what it polls from now on is
 * polled in the barrier, too. By its thread. Idempotent until the barrier. */
void aspx_end_barrier_note_close(void);

#endif
