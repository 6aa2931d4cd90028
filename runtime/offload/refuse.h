/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of calls that never reach MPI. Each is raised in MPI, so that the
 * program's error handler has its say. Threads: any. */
#ifndef ASPEN_RUNTIME_OFFLOAD_REFUSE_H
#define ASPEN_RUNTIME_OFFLOAD_REFUSE_H

#include <mpi.h>

/* A null pointer or a negative count: let MPI say so. Returns what the call is
 * to return. */
int aspx_refuse_arguments(void);

/* The same of what can be no request. */
int aspx_refuse_request(MPI_Request stray);

/* Raise a code that belongs to no communicator. Returns what the call is to
 * return: from MPICH 4.3 on that is success where a handler was called. */
int aspx_raise_code(int code);

/* A call that cannot work beside an offload thread (`refuse` in mpi_calls.tab):
 * says so on stderr, once, and raises MPI_ERR_UNSUPPORTED_OPERATION on comm.
 *   call  its name    why  the reason, part of a sentence
 * Returns what the call is to return. */
int aspx_offload_refuse(MPI_Comm comm, const char *call, const char *why);

#endif
