/* SPDX-License-Identifier: BSD-3-Clause */
/* Where in its source a program made a window: what the record has as an offset
 * in a file, told as function, file and line by the debugging information of
 * that file, where it is at hand. */
#ifndef ASPEN_TOOLS_REPORT_SOURCE_H
#define ASPEN_TOOLS_REPORT_SOURCE_H

#include "tools/record/record.h"

/* Fill in aspt_window.source of all windows: "exchange (app.c:42)", "exchange"
 * without line numbers, or "" if that cannot be told: then nothing was found
 * beside the record, here, along PATH or LD_LIBRARY_PATH; or a file that
 * changed after the record, has another function there than the record, or has
 * no call there, and so is of another build.
 *   path  of the record; "-": stdin
 * Nothing that the files name is run. They are read by a process of its own: a
 * damaged one costs its answers and 5 s at most. */
void aspt_sources_find(struct aspt_record *record, const char *path);

#endif
