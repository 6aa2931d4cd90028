/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of a page that is HTML 5 and well-formed XML at once. Only these
 * write what comes from a record, and they escape it. */
#ifndef ASPEN_TOOLS_REPORT_HTML_H
#define ASPEN_TOOLS_REPORT_HTML_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A text as content or as the value of an attribute in double quotes. */
void aspt_html_text(FILE *to, const char *text);
void aspt_html_put(FILE *to, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* <NAME class="CLASS">text</NAME>; class may be NULL. */
void aspt_html_tag(FILE *to, const char *name, const char *class,
                   const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* A cell of a table with a count, its digits in groups of three. */
void aspt_html_count(FILE *to, uint64_t count);

/* A card with a title; and the end of one. */
void aspt_html_section(FILE *to, const char *title);
void aspt_html_section_end(FILE *to);

/* The head row of a table; NULL ends the titles. A title that begins with '#'
 * is that of a column of numbers. */
void aspt_html_table(FILE *to, const char *const *titles);

/* What the colours of a picture mean; a name of NULL ends the list. */
struct aspt_legend {
    const char *class, *name;
};

void aspt_html_legend(FILE *to, const struct aspt_legend *legend);

#endif
