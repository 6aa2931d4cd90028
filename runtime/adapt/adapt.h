/* SPDX-License-Identifier: BSD-3-Clause */
/* Should ghosts serve this process, or does it serve itself? What decides;
 * casper/switch.h carries it out. docs/design/adaptation.md */
#ifndef ASPEN_RUNTIME_ADAPT_ADAPT_H
#define ASPEN_RUNTIME_ADAPT_ADAPT_H

#include "notes.h"

#include <stdbool.h>

/* The info key async_config, of the program or of a rule. */
enum aspx_async {
    ASPX_ASYNC_UNSAID,
    ASPX_ASYNC_ON,
    ASPX_ASYNC_OFF,
    ASPX_ASYNC_AUTO,   /* takes ON or OFF back */
    ASPX_ASYNC_NATIVE, /* the window is MPI's own, for ever */
};

/* A value of the key; unknown ones are UNSAID. */
enum aspx_async aspx_async_read(const char *value);

/* The engine, which is borrowed, has started. And before it ends, when this
 * process does nothing more with windows. */
struct aspx_engine;
void aspx_adapt_start(const struct aspx_engine *engine);
void aspx_adapt_stop(void);

/* Can windows be switched at all? Same in all processes. */
bool aspx_adapt_able(void);

/* For the record: the knob's word, and how often the profile is looked at; by
 * ghosts, now. Until aspx_adapt_stop(). */
const char *aspx_adapt_mode(void);
double aspx_adapt_interval_s(void);

/* Is a window of which this was said left to MPI? */
bool aspx_adapt_native(enum aspx_async said);

/* Does this decide for itself, whatever is found out? */
bool aspx_adapt_said(enum aspx_async said);

/* What this process wants for itself as a target: true to be served by ghosts.
 * Cheap; called at every legal point of every window.
 *   first  the window is being made, and may have no other legal point */
bool aspx_adapt_wish(enum aspx_async said, bool first);

/* What the ghosts think of everybody (adapt=ghosts), by world rank: enum
 * aspx_view. NULL: nothing, or it is out of our reach. */
extern const aspx_view_byte *aspx_adapt_views;

/* What they thought of this process, over the time, up to now; the caller's until
 * the next call. NULL: nothing. Until aspx_adapt_stop(). Threads: one. */
struct aspx_trace *aspx_adapt_judged(void);

/* Why the wish is what it was at last: as in trace.h. */
int aspx_adapt_why(enum aspx_async said);

#endif
