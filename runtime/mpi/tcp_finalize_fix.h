/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Finalize over TCP. MPICH before 4.2 closes its UCX connections there and
 * waits until each peer has answered; then it waits in a barrier of the
 * launcher, and answers nobody any more. Over TCP a peer answers as soon as it
 * makes progress. So a rank that makes progress while others end, before it
 * ends itself, has answered them and gets no answer: it waits for ever. On
 * plain MPICH that is a rank which calls MPI when another is in MPI_Finalize
 * already; with ghosts, offload or progress threads, which make progress all
 * the time, it is whoever comes last.
 *
 * What the answer would say is that all has arrived. Here that is asked of the
 * kernel: when none of the process's TCP connections has anything that the
 * peer's kernel has not acknowledged, for a while in which MPI was making
 * progress, connections that lead over TCP alone are taken for closed. What has
 * arrived there the peer can still read: nobody's connection goes away before
 * the launcher's barrier, to which all ranks come. */
#ifndef ASPEN_RUNTIME_MPI_TCP_FINALIZE_FIX_H
#define ASPEN_RUNTIME_MPI_TCP_FINALIZE_FIX_H

/* Have libmpich's MPI_Finalize do so, if it is a release that closes before the
 * barrier. Idempotent; without UCX nothing is done. When MPI runs, while no
 * other thread is inside it. In the barrier itself: end_barrier.h. */
void aspx_tcp_finalize_fix(void);

#endif
