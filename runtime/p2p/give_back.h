/* SPDX-License-Identifier: BSD-3-Clause */
/* Adaptation gives messages back to MPI, for good, when all ranks spend most of
 * their time in MPI and so need no ghost. MPI matches what it is given for
 * itself, so nothing may be under way: the ranks agree in a collective call, in
 * which what each has sent and received does not change.
 *
 *   carried --64 collectives of all ranks--> all want it, nothing under way
 *      ^                                        | no          | yes
 *      +----------------------------------------+             v
 *                                                        given back
 *
 * Communicators of which a rule or the program says that ghosts carry them stay
 * as they are; and with MPI_THREAD_MULTIPLE all do, as another thread may send
 * meanwhile. */
#ifndef ASPEN_RUNTIME_P2P_GIVE_BACK_H
#define ASPEN_RUNTIME_P2P_GIVE_BACK_H

#include <mpi.h>
#include <stdint.h>

/* When ranks have joined. Collective over MPI_COMM_WORLD. */
void aspx_p2p_give_back_start(void);

/* A collective call on this communicator has returned rc; of one with a wrong
 * argument other ranks know nothing. Collective over it. Returns rc. */
int aspx_p2p_at_collective(int rc, MPI_Comm comm);

/* So many ms after the start it has happened; 0: it has not. */
extern uint64_t aspx_p2p_given_back_ms;

#endif
