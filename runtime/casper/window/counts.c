/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters, and what their ways are called. */
#include "config.h"

#include "counts.h"

bool aspx_threads = true;
_Atomic uint64_t aspx_counts[ASPX_CALLS_COUNTED][ASPX_WAYS];

/* JSON key and the words of the one-line report. */
static const struct {
    const char *key, *words;
} ways[ASPX_WAYS] = {
    [ASPX_WAY_GHOST] = {"ghost", "by ghosts"},
    [ASPX_WAY_COPY] = {"copy", "on the node"},
    [ASPX_WAY_DEVICE] = {"device", "by RDMA devices"},
    [ASPX_WAY_TARGET] = {"target", "by targets while redirection was off"},
    [ASPX_WAY_PRIVATE] = {"private_memory",
                          "window on private memory (MPI_Win_create)"},
    [ASPX_WAY_DYNAMIC] = {"dynamic_window", "dynamic window"},
    [ASPX_WAY_SHARED] = {"shared_window",
                         "MPI_Win_allocate_shared outside the arena"},
    [ASPX_WAY_ASKED] = {"asked", "window with async_config=off"},
    [ASPX_WAY_RELEASE] = {"unknown_mpi", "an MPI that Aspen does not know"},
    [ASPX_WAY_ARENA] = {"arena_unavailable", "no room in the node's arena"},
};

const char *aspx_way_words(enum aspx_way way)
{
    return ways[way].words;
}

const char *aspx_way_key(enum aspx_way way)
{
    return ways[way].key;
}
