/* SPDX-License-Identifier: BSD-3-Clause */
/* Making and unmaking a redirected window. */
#ifndef ASPEN_RUNTIME_CASPER_WINDOW_MAKE_H
#define ASPEN_RUNTIME_CASPER_WINDOW_MAKE_H

#include "request.h"
#include "window.h"

/* Would MPI take the arguments? What it refuses it shall refuse itself. */
bool aspx_win_sane(const struct aspx_win_request *request);

/* Make a redirected window and enter it in the table. Returns false when the
 * window has to be MPI's own; else *rc is MPI's verdict.
 * Collective over request->comm; same result in all its processes. */
bool aspx_win_make(struct aspx_win_request *request, MPI_Win *handle, int *rc);

/* Free the engine's part; MPI's window is gone already. Takes NULL. */
void aspx_win_destroy(struct aspx_win *win);

#endif
