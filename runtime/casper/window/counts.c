/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters, and what handlings are called. */
#include "config.h"

#include "counts.h"

bool aspx_threads = true;
_Atomic uint64_t aspx_counts[ASPX_CALLS_COUNTED][ASPX_HANDLINGS];

/* JSON key and the words of the one-line report. */
static const struct {
    const char *key, *words;
} handlings[ASPX_HANDLINGS] = {
    [ASPX_HANDLING_GHOST] = {"ghost", "by ghosts"},
    [ASPX_HANDLING_COPY] = {"copy", "on the node"},
    [ASPX_HANDLING_DEVICE] = {"device", "by RDMA devices"},
    [ASPX_HANDLING_TARGET] = {"target", "by targets while redirection was off"},
    [ASPX_HANDLING_PRIVATE] = {"private_memory",
                               "window on private memory (MPI_Win_create)"},
    [ASPX_HANDLING_DYNAMIC] = {"dynamic_window", "dynamic window"},
    [ASPX_HANDLING_SHARED] = {"shared_window",
                              "MPI_Win_allocate_shared outside the arena"},
    [ASPX_HANDLING_ASKED] = {"asked", "window with async_config=off"},
    [ASPX_HANDLING_RELEASE] = {"unknown_mpi",
                               "an MPI that Aspen does not know"},
    [ASPX_HANDLING_ARENA] = {"arena_unavailable",
                             "no room in the node's arena"},
};

const char *aspx_handling_words(enum aspx_handling handling)
{
    return handlings[handling].words;
}

const char *aspx_handling_key(enum aspx_handling handling)
{
    return handlings[handling].key;
}
