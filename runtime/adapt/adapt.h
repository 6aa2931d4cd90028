/* SPDX-License-Identifier: BSD-3-Clause */
/* Should ghosts serve this process, or does it serve itself? What decides;
 * casper/window/switch.h carries it out. docs/design/adaptation.md */
#ifndef ASPEN_RUNTIME_ADAPT_ADAPT_H
#define ASPEN_RUNTIME_ADAPT_ADAPT_H

#include "node_status_page.h"

#include "runtime/base/counter.h"

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

/* Can windows be switched? The same in all processes. */
bool aspx_adapt_able(void);

/* For the record: the knob's word, and how often the profile is looked at; by
 * ghosts, now. Until aspx_adapt_stop(). */
const char *aspx_adapt_mode(void);
double aspx_adapt_interval_s(void);

/* Is a window with this value left to MPI? */
bool aspx_adapt_native(enum aspx_async said);

/* Does this decide, whatever predictors say? */
bool aspx_adapt_said(enum aspx_async said);

/* What this process wants for itself as a target: true to be served by ghosts.
 * Cheap; called at every legal point of every window.
 *   first  the window is being made, and may have no other legal point */
bool aspx_adapt_wish(enum aspx_async said, bool first);

/* What the ghosts think of everybody (adapt=ghosts), by world rank: enum
 * aspx_view. NULL: nothing, or it is out of our reach. */
extern const aspx_target_byte *aspx_adapt_target_states;

/* Where this process counts what it does with windows (adapt=auto), or NULL. */
extern struct aspx_issued *aspx_adapt_issued;

/* Where ghosts say what a progress thread of this process is to do (enum
 * aspx_help), and where to count what it could work for; adapt=auto, else NULL.
 * Until aspx_adapt_stop(). */
const _Atomic int32_t *aspx_adapt_help(void);
struct aspx_message_counts *aspx_adapt_posted(void);

/* An operation that the target or a ghost carries out. Threads: any.  Cost: one
 * branch; with adapt=auto, three additions to a line of our own. */
static inline void aspx_adapt_count(int kind, uint64_t bytes, bool redirected)
{
    struct aspx_issued *issued = aspx_adapt_issued;

    if (!issued)
        return;
    (void) aspx_counter_add(&issued->ops[kind], 1);
    (void) aspx_counter_add(&issued->bytes[kind], bytes);
    if (redirected)
        (void) aspx_counter_add(&issued->redirected, 1);
}

/* A flush, or the like, that found something to wait for. */
static inline void aspx_adapt_count_wait(void)
{
    if (aspx_adapt_issued)
        (void) aspx_counter_add(&aspx_adapt_issued->waits, 1);
}

/* What was decided for all ranks (adapt=auto), up to now, if this is the first
 * user of the job; else, and where nothing is decided, NULL. The caller's, to
 * free. Until aspx_adapt_stop(). */
struct aspx_decisions *aspx_adapt_decisions(void);

/* What they thought of this process, over the time, up to now; the caller's
 * until the next call. NULL: nothing. Until aspx_adapt_stop(). Threads: one. */
struct aspx_trace *aspx_adapt_target_trace(void);

/* The trace of this process's windows that can be switched, from
 * aspx_adapt_start() on. Threads: any.
 *   by     a window has come (1) or gone (-1)
 *   order  of the window, or ASPX_TRACE_SOME_WINDOW */
void aspx_own_trace_window(int by, bool on);
void aspx_own_trace_switched(uint32_t order, bool on, int why);

/* That trace up to now, valid for ever; no more windows after that. */
struct aspx_trace *aspx_own_trace_close(void);

/* Why the wish is what it was at last: as in adapt/decide/trace.h. */
int aspx_adapt_why(enum aspx_async said);

#endif
