/* SPDX-License-Identifier: BSD-3-Clause */
/* The windows of a job, in its record. */
#ifndef ASPEN_RUNTIME_CASPER_REPORT_WINDOWS_H
#define ASPEN_RUNTIME_CASPER_REPORT_WINDOWS_H

#include "runtime/world/world.h"

#include <stdio.h>

struct aspx_windows; /* opaque */

/* All lists in user rank 0, by order; elsewhere, and without memory, NULL.
 * Collective over users. */
struct aspx_windows *aspx_windows_gather(const struct aspx_world *world);

/* Takes NULL. */
void aspx_windows_free(struct aspx_windows *windows);

/* A line for each of the first windows, and for each rule that held for none.
 * Takes NULL. */
void aspx_windows_print(FILE *to, const struct aspx_windows *windows);

/* The members "windows", "windows_more" and "window_rules" of the record, with
 * a comma before each. Takes NULL. */
void aspx_windows_json(FILE *to, const struct aspx_windows *windows);

#endif
