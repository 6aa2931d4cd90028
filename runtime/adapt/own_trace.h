/* SPDX-License-Identifier: BSD-3-Clause */
/* What became of redirection to this process: the trace of its windows that can
 * be switched. Threads: any. */
#ifndef ASPEN_RUNTIME_ADAPT_OWN_TRACE_H
#define ASPEN_RUNTIME_ADAPT_OWN_TRACE_H

#include "runtime/adapt/decide/trace.h"

void aspx_own_trace_start(void);

/* A window has come (by 1) or gone (-1). */
void aspx_own_trace_window(int by, bool on);

/* One was switched.
 *   order  of the window, or ASPX_TRACE_SOME_WINDOW */
void aspx_own_trace_switched(uint32_t order, bool on, int why);

/* The end: the trace up to now, valid for ever. No more windows after that. */
struct aspx_trace *aspx_own_trace_close(void);

#endif
