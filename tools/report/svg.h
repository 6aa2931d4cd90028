/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of a report. Shapes get their colours from classes of the page's
 * style sheet; words stay outside of what is stretched to the page's width. */
#ifndef ASPEN_TOOLS_REPORT_SVG_H
#define ASPEN_TOOLS_REPORT_SVG_H

#include <stddef.h>
#include <stdio.h>

struct aspt_bar {
    double value;
    const char *class;
    const char *name; /* shown when pointed at */
};

/* A bar of n parts out of a whole. A part that is not 0 can be seen. */
void aspt_svg_bar(FILE *to, const struct aspt_bar *parts, size_t n,
                  double whole);

/* Columns side by side: `parts` bars for each of n columns, column by column,
 * from the ground up. */
void aspt_svg_columns(FILE *to, const struct aspt_bar *bars, size_t parts,
                      size_t n, double whole, const char *label);

/* A strip of n fields as dark as their shares (0 to 1). */
void aspt_svg_strip(FILE *to, const double *shares, size_t n,
                    const char *label);

/* A CPU at a place of a picture: its number and who is on it. `small`: without
 * words, these are shown when pointed at. */
void aspt_svg_cpu(FILE *to, int x, int y, int cpu, const char *class,
                  const char *who, const char *title, int small);

#endif
