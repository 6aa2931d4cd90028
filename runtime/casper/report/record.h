/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a job with ghosts: what ran where, counted per rank, summed at
 * MPI_Finalize and printed when the user asked for it (--async-report,
 * ASPEN_REPORT). docs/design/record.md describes the JSON form. */
#ifndef ASPEN_RUNTIME_CASPER_REPORT_RECORD_H
#define ASPEN_RUNTIME_CASPER_REPORT_RECORD_H

#include "runtime/world/world.h"

/* Sum over the users and print what ASPEN_REPORT asks for: "1" is one line on
 * stderr of user rank 0, anything else a file that gets the JSON too.
 * Collective over users when ASPEN_REPORT is set; else nothing at all. */
void aspx_record_report(const struct aspx_world *world);

#endif
