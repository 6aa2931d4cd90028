/* SPDX-License-Identifier: BSD-3-Clause */
/* How often the program made which call on a window, and who carried it out;
 * the record sums them over the ranks. */
#ifndef ASPEN_RUNTIME_CASPER_WINDOW_COUNTS_H
#define ASPEN_RUNTIME_CASPER_WINDOW_COUNTS_H

#include "runtime/base/counter.h"

#include <stdatomic.h>
#include <stdint.h>

/* What is counted. */
enum aspx_call {
    ASPX_CALL_PUT,
    ASPX_CALL_GET,
    ASPX_CALL_ACCUMULATE,
    ASPX_CALL_GET_ACCUMULATE,
    ASPX_CALL_FETCH_AND_OP,
    ASPX_CALL_COMPARE_AND_SWAP,
    ASPX_CALL_LOCK,
    ASPX_CALL_LOCK_ALL,
    ASPX_CALL_FLUSH,
    ASPX_CALL_FENCE,
    ASPX_CALL_PSCW,
    ASPX_CALL_WINDOW, /* window created */
    ASPX_CALLS_COUNTED,
};

/* Who carried it out: Aspen in one of four ways, or plain MPI for a reason. */
enum aspx_handling {
    ASPX_HANDLING_GHOST,
    ASPX_HANDLING_COPY,    /* the origin itself: same node, through the arena */
    ASPX_HANDLING_DEVICE,  /* the RDMA device (rma.direct) */
    ASPX_HANDLING_TARGET,  /* the target itself: redirection is switched off */
    ASPX_HANDLING_PRIVATE, /* MPI_Win_create on memory outside the arena */
    ASPX_HANDLING_DYNAMIC, /* MPI_Win_create_dynamic */
    ASPX_HANDLING_SHARED,  /* MPI_Win_allocate_shared outside the arena */
    ASPX_HANDLING_ASKED,   /* info key async_config=off */
    ASPX_HANDLING_RELEASE, /* no MPI that Aspen knows (mpi/build.h) */
    ASPX_HANDLING_ARENA,   /* the arena is full or could not be mapped */
    ASPX_HANDLINGS,
};

extern _Atomic uint64_t aspx_counts[ASPX_CALLS_COUNTED][ASPX_HANDLINGS];

/* Count one call. Threads: any. */
static inline void aspx_count(enum aspx_call call, enum aspx_handling handling)
{
    (void) aspx_counter_add(&aspx_counts[call][handling], 1);
}

/* A handling in words, and as a key of the record. */
const char *aspx_handling_words(enum aspx_handling handling);
const char *aspx_handling_key(enum aspx_handling handling);

#endif
