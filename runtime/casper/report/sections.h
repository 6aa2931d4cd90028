/* SPDX-License-Identifier: BSD-3-Clause */
/* What the record of a job with ghosts says of them (docs/design/record.md). */
#ifndef ASPEN_RUNTIME_CASPER_REPORT_SECTIONS_H
#define ASPEN_RUNTIME_CASPER_REPORT_SECTIONS_H

#include "runtime/record/frame.h"

/* The mode's first: what ran where, and the calls of the program on windows,
 * counted by who carried them out. */
extern const struct aspx_section aspx_calls_section;

/* All windows, and the rules that hold for them. */
extern const struct aspx_section aspx_windows_section;

/* What the ghosts did with their time. They do nothing for it: the first user
 * of each node reads their signs of life in the arena, while they serve. */
extern const struct aspx_section aspx_ghost_times_section;

/* How many ghosts of each node were active over the time; only with
 * ghost.active=auto. */
extern const struct aspx_section aspx_scaling_section;

#endif
