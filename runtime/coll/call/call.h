/* SPDX-License-Identifier: BSD-3-Clause */
/* A collective call of the program, in one form for all of them. */
#ifndef ASPEN_RUNTIME_COLL_CALL_CALL_H
#define ASPEN_RUNTIME_COLL_CALL_CALL_H

#include "common/tune/key.h"

#include "runtime/mpi/real.h"

#include "mpi_behind.h"

#include <mpi.h>
#include <stdbool.h>

/* Arguments as the program gave them, those that an operation lacks 0.
 * The buffer of MPI_Bcast is recv, with its count and type; MPI_Reduce and
 * others with one count have it on both sides. */
struct aspx_coll_call {
    enum asp_coll_op op;
    int root;
    const void *send;
    void *recv;
    MPI_Count nsend, nrecv;
    /* Of blocks whose sizes differ (counts.h), for each rank: int, or MPI_Count
     * and MPI_Aint of a large call. Of recv_type. */
    const void *counts, *displs;
    /* Of what MPI_Alltoallv sends, of send_type. */
    const void *send_counts, *send_displs;
    bool large;
    MPI_Datatype send_type, recv_type;
    MPI_Op reduction;
    MPI_Comm comm;
    /* The same call behind us, as MPI carries it out. */
    int (*mpi)(const struct aspx_coll_call *call);
};

/* All MPI calls of runtime/coll go through aspx_coll_behind: to the library,
 * the wrappers of the mode, or the offload thread. */

#endif
