/* SPDX-License-Identifier: BSD-3-Clause */
/* A preload that makes messages wrong, so that a test sees whether the programs
 * of this folder notice. ASPEN_SPOIL says how:
 *
 *   source   a receive of one source takes messages of any
 *   tag      and one of one tag those of any
 *   context  dups of the world share its messages
 *   byte     a byte in the middle of what is sent is another
 *   behind   the byte behind what is received into is written
 *   late     a receive that was cancelled gets a byte at the next probe */
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The tree is compiled with hidden symbols. */
#pragma GCC visibility push(default)

int MPI_Isend(const void *at, int n, MPI_Datatype type, int to, int tag,
              MPI_Comm comm, MPI_Request *request);
int MPI_Irecv(void *at, int n, MPI_Datatype type, int from, int tag,
              MPI_Comm comm, MPI_Request *request);
int MPI_Cancel(MPI_Request *request);
int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status);

#pragma GCC visibility pop

static char *last, *revoked; /* buffers: of the last receive, if cancelled */

static bool is(const char *what)
{
    const char *wanted = getenv("ASPEN_SPOIL");

    return wanted && strcmp(wanted, what) == 0;
}

static MPI_Comm context_of(MPI_Comm comm)
{
    int result = MPI_UNEQUAL;

    if (!is("context"))
        return comm;
    PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    return result == MPI_CONGRUENT ? MPI_COMM_WORLD : comm;
}

int MPI_Isend(const void *at, int n, MPI_Datatype type, int to, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    if (is("byte") && type == MPI_BYTE && n > 0)
        ((char *) at)[n / 2] ^= 1;
    return PMPI_Isend(at, n, type, to, tag, context_of(comm), request);
}

int MPI_Irecv(void *at, int n, MPI_Datatype type, int from, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    last = at;
    if (is("behind") && type == MPI_BYTE)
        last[n] = 1;
    return PMPI_Irecv(at, n, type, is("source") ? MPI_ANY_SOURCE : from,
                      is("tag") ? MPI_ANY_TAG : tag, context_of(comm), request);
}

int MPI_Cancel(MPI_Request *request)
{
    revoked = last;
    return PMPI_Cancel(request);
}

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    if (is("late") && revoked)
        *revoked ^= 1;
    revoked = NULL;
    return PMPI_Probe(from, tag, comm, status);
}
