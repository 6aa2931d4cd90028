/* SPDX-License-Identifier: BSD-3-Clause */
/* A barrier of all ranks in MPI_Finalize, before connections are closed there
 * (close.h). What a rank has promised by then may still need it: MPI delivers a
 * message whose request was freed, or whose sender has not waited for it, but
 * the peer has to answer before it can be sent. A rank that has received all
 * that it wants comes to MPI_Finalize; until all have come, everybody makes
 * progress. */
#ifndef ASPEN_RUNTIME_MPI_LAST_BARRIER_H
#define ASPEN_RUNTIME_MPI_LAST_BARRIER_H

/* Have MPI_Finalize do so. Call it when MPI_Init has just returned, on every
 * rank of MPI_COMM_WORLD or on none, inside MPI; idempotent. Where MPI fails
 * there is no barrier. */
void aspx_last_barrier_set(void);

#endif
