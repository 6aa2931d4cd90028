/* SPDX-License-Identifier: BSD-3-Clause */
/* Should ghosts serve this process, or does it serve itself? What decides;
 * casper/switch.h carries it out. docs/design/adaptation.md */
#ifndef ASPEN_RUNTIME_ADAPT_ADAPT_H
#define ASPEN_RUNTIME_ADAPT_ADAPT_H

#include "common/layout.h"

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

/* Read the knobs. The engine has started: settings.adapt, which is the same in
 * all processes, is `able`. */
void aspx_adapt_start(const struct asp_layout *layout, bool able);

/* Can windows be switched at all? Same in all processes. */
bool aspx_adapt_able(void);

/* For the record: the knob's word, and how often the profile is looked at. */
const char *aspx_adapt_mode(void);
double aspx_adapt_interval_s(void);

/* Is a window of which this was said left to MPI? */
bool aspx_adapt_native(enum aspx_async said);

/* What this process wants for itself as a target: true to be served by ghosts.
 * Cheap; called at every legal point of every window. */
bool aspx_adapt_wish(enum aspx_async said);

/* Why the wish is what it was at last: as in trace.h. */
int aspx_adapt_why(enum aspx_async said);

#endif
