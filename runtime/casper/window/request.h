/* SPDX-License-Identifier: BSD-3-Clause */
/* A window that a program asks for, and what the policy's rules decide of it.
 */
#ifndef ASPEN_RUNTIME_CASPER_WINDOW_REQUEST_H
#define ASPEN_RUNTIME_CASPER_WINDOW_REQUEST_H

#include "runtime/world/call_site.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Kinds of epochs, as bits. */
enum aspx_epoch {
    ASPX_EPOCH_FENCE = 1,
    ASPX_EPOCH_PSCW = 2,
    ASPX_EPOCH_LOCK = 4,
    ASPX_EPOCH_LOCK_ALL = 8,
};

/* What is decided of a window. All zero when there are no rules. */
struct aspx_verdict {
    uint32_t order;       /* from 1; 0: not counted */
    uint32_t could;       /* bit r: rule r holds, if it names no name */
    uint32_t holds;       /* of these, the ones without a name */
    unsigned forbidden;   /* enum aspx_epoch: promised not to happen */
    uint64_t least, most; /* bytes of the smallest and of the largest part */
    struct aspx_call_site call_site;
    MPI_Info info; /* owned, when own_info */
    bool own_info;
};

/* Where the memory of a new window comes from. */
enum aspx_memory {
    ASPX_MEMORY_GIVEN,  /* the program has it */
    ASPX_MEMORY_OWN,    /* each process takes its own */
    ASPX_MEMORY_SHARED, /* the first process takes it for all, in one piece */
};

struct aspx_win_request {
    enum aspx_memory memory;
    int flavor;
    void *base; /* ASPX_MEMORY_GIVEN: in; else out */
    MPI_Aint bytes, disp_unit;
    MPI_Info info;
    MPI_Comm comm;      /* as the library knows it */
    MPI_Info kept_info; /* native.h */
    bool asked_off;     /* out: why the window is MPI's own */
    struct aspx_verdict verdict;
};

/* Would MPI take the arguments? What it refuses it shall refuse itself. */
bool aspx_win_sane(const struct aspx_win_request *request);

/* Make a redirected window and enter it in the table. Returns false when the
 * window has to be MPI's own; else *rc is MPI's verdict.
 * Collective over request->comm; same result in all its processes. */
bool aspx_win_make(struct aspx_win_request *request, MPI_Win *handle, int *rc);

struct aspx_win;

/* Free the engine's part; MPI's window is gone already. Takes NULL. */
void aspx_win_destroy(struct aspx_win *win);

#endif
