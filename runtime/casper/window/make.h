/* SPDX-License-Identifier: BSD-3-Clause */
/* Making and unmaking a redirected window. */
#ifndef ASPEN_RUNTIME_CASPER_WINDOW_MAKE_H
#define ASPEN_RUNTIME_CASPER_WINDOW_MAKE_H

#include "rules.h"
#include "window.h"

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

/* Free the engine's part; MPI's window is gone already. Takes NULL. */
void aspx_win_destroy(struct aspx_win *win);

#endif
