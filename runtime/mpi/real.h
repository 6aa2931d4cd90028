/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI library behind us. Everything in runtime/ calls MPI through
 * aspx_real: the names MPI_X and PMPI_X are our own entry points. */
#ifndef ASPEN_RUNTIME_MPI_REAL_H
#define ASPEN_RUNTIME_MPI_REAL_H

#include "mpi_real.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* The place of a function in struct aspx_real. */
#define ASPX_CALL(name)                                                        \
    (offsetof(struct aspx_real, name) / sizeof(void (*)(void)))

enum { ASPX_CALLS = sizeof(struct aspx_real) / sizeof(void (*)(void)) };

/* The MPI library's own functions; valid after aspx_real_resolve(). */
extern struct aspx_real aspx_real;

/* Names of the members of struct aspx_real ("MPI_Abort", ...), sorted. */
extern const char *const aspx_real_names[ASPX_CALLS];

/* Fill aspx_real from the MPI library of this process; none is loaded here.
 * Idempotent. Returns 0, or -1 with errno: ENOENT when there is none, EPROTO
 * when it has another binary interface than MPICH (library.h), and its
 * functions cannot be called with the types of our mpi.h. Threads: any,
 * concurrently. */
int aspx_real_resolve(void);

/* Is this the address of an instruction of the MPI library? */
bool aspx_real_has(const void *address);

/* The dlopen() handle of the MPI library; after aspx_real_resolve(). */
void *aspx_real_library(void);

/* The path of its file, absolute where that can be found. Returns 0, or -1. */
int aspx_real_path(char path[PATH_MAX]);

/* End the job with status 1: MPI_Abort on all ranks, which returns in MPICH 4.2
 * when it has asked the launcher. */
static inline _Noreturn void aspx_abort(void)
{
    aspx_real.MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
}

#endif
