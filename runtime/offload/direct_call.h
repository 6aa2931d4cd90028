/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls without a non-blocking twin may wait for other ranks: blocking
 * collectives, making communicators, windows and files, epochs, spawn. In the
 * offload thread one of them would keep the program's other threads out of MPI,
 * and what it waits for may need one of those: two threads that make
 * communicators, in another order than those of the next rank, would wait for
 * ever.
 *
 * So in a program with MPI_THREAD_MULTIPLE the caller carries such calls out
 * itself, beside the offload thread. That is why MPI gets the level
 * that such a program asked for.
 *
 * Streams are the exception (MPICH 4.1): MPICH takes no locks for what uses
 * one, because the program has to see to it that one thread does so at a time.
 * That thread is the offload thread then, which tests the requests. */
#ifndef ASPEN_RUNTIME_OFFLOAD_DIRECT_CALL_H
#define ASPEN_RUNTIME_OFFLOAD_DIRECT_CALL_H

#include <mpi.h>
#include <stdbool.h>

/* MPI has this level: may there be direct_calls? */
void aspx_direct_call_allow(int level);

/* The program is about to make a stream. */
void aspx_direct_call_expect_streams(void);

/* The program is about to make a communicator with a list of streams. MPICH 4.2
 * reads behind the list when it is asked for one of them (displs[rank] is added
 * in its MPIR_Comm_get_stream_impl), so no communicator is asked from then on:
 * the offload thread carries out all. */
void aspx_direct_call_expect_lists(void);

/* Enter MPI, when all that has been posted, by any thread, has been
 * taken by MPI. Returns false when the offload thread shall do it.
 *   comm  the call's communicator; MPI_COMM_NULL: it has none, and may concern a
 *         window or a file of any */
bool aspx_direct_call_enter(MPI_Comm comm);

/* Out again. */
void aspx_direct_call_leave(void);

#endif
