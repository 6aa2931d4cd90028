/* SPDX-License-Identifier: BSD-3-Clause */
/* A window's own contiguous window: a second window of MPI on the same bytes,
 * for simple Puts and Gets that targets or a device carry out, under the rules
 * of casper/arena/contig_win.h. Each takes one of the context ids of MPICH, of
 * which a process has 2048 for all its windows and communicators. The program
 * shall not run out of them because of us: a window does without where one of
 * its processes has ASPX_WIN_CONTIG_MAX already, and where MPI refuses. */
#ifndef ASPEN_RUNTIME_CASPER_WINDOW_CONTIG_H
#define ASPEN_RUNTIME_CASPER_WINDOW_CONTIG_H

#include "request.h"
#include "window.h"

enum { ASPX_WIN_CONTIG_MAX = 256 };

/* Has this process as many as it may have? */
bool aspx_win_contig_full(void);

/* Make it, locked for life, on all processes or none; none is no error.
 * Collective over request->comm, whose error handler sees nothing of it. */
void aspx_win_contig_make(const struct aspx_win_request *request,
                          struct aspx_win *win);

/* Collective over the window. Does nothing when there is none. */
void aspx_win_contig_free(struct aspx_win *win);

#endif
