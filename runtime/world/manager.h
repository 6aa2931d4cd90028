/* SPDX-License-Identifier: BSD-3-Clause */
/* The process manager, on the descriptor that MPI has from it (PMI_FD), for
 * what MPI itself cannot tell it from a thread of ours. Speaks PMI-1, as MPICH
 * does to hydra and to Slurm's pmi2 plugin. To any other our exit is the error:
 * PMIx's server ends the job of a client that exits unfinalized. */
#ifndef ASPEN_RUNTIME_WORLD_MANAGER_H
#define ASPEN_RUNTIME_WORLD_MANAGER_H

/* Before the real MPI_Init: remember which socket it is. The program may close
 * it and open one of its own under the same number. */
void aspx_manager_note_socket(void);

/* Where MPI_Init was not called: make this process known to the manager, which
 * (Slurm's) hears nothing else before. Returns within some seconds. */
void aspx_manager_greet(void);

/* End the whole job with exit status 1. Returns if it was not heard, or after
 * some seconds in which nothing happened. */
void aspx_manager_abort(void);

/* This process will exit and shall not be missed, though MPI is not finalized
 * in it. No thread of it may be in MPI_Init or MPI_Finalize. Returns when the
 * manager has heard it, or after some seconds. */
void aspx_manager_leave(void);

/* Another thread is in MPI_Finalize, which says the same, and goes on to exit:
 * to say it twice would end hydra, and with it the job. Returns when the
 * manager has heard it, or after a minute. */
void aspx_manager_await_finalize(void);

#endif
