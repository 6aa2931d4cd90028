/* SPDX-License-Identifier: BSD-3-Clause */
/* The record: what ran where, counted per rank, summed at MPI_Finalize and
 * printed when the user asked for it (--async-report, ASPEN_REPORT).
 * docs/design/record.md describes the JSON form. */
#ifndef ASPEN_RUNTIME_RECORD_RECORD_H
#define ASPEN_RUNTIME_RECORD_RECORD_H

#include "runtime/base/counter.h"
#include "runtime/world/world.h"

#include <stdatomic.h>
#include <stdbool.h>
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

/* Who carried it out: Aspen in four ways, or plain MPI for a reason. */
enum aspx_way {
    ASPX_WAY_GHOST,
    ASPX_WAY_COPY,    /* the origin itself: same node, through the arena */
    ASPX_WAY_DEVICE,  /* the RDMA device (rma.direct) */
    ASPX_WAY_TARGET,  /* the target itself: redirection is switched off */
    ASPX_WAY_PRIVATE, /* MPI_Win_create on memory outside the arena */
    ASPX_WAY_DYNAMIC, /* MPI_Win_create_dynamic */
    ASPX_WAY_SHARED,  /* MPI_Win_allocate_shared that the arena cannot hold */
    ASPX_WAY_ASKED,   /* info key async_config=off */
    ASPX_WAY_ARENA,   /* the arena is full or could not be mapped */
    ASPX_WAYS,
};

extern _Atomic uint64_t aspx_counts[ASPX_CALLS_COUNTED][ASPX_WAYS];

/* Count one call. Threads: any. */
static inline void aspx_count(enum aspx_call call, enum aspx_way way)
{
    (void) aspx_tally(&aspx_counts[call][way], 1);
}

/* A way in words, and as a key of the record. */
const char *aspx_way_words(enum aspx_way way);
const char *aspx_way_key(enum aspx_way way);

/* Has somebody asked for the record? */
bool aspx_record_wanted(const struct aspx_world *world);

/* Sum over the users and print what ASPEN_REPORT asks for: "1" is one line on
 * stderr of user rank 0, anything else a file that gets the JSON too.
 * Collective over users when ASPEN_REPORT is set; else nothing at all. */
void aspx_record_report(const struct aspx_world *world);

#endif
