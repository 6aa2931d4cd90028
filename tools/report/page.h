/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections of a report's page, in their order; each writes nothing when the
 * record has nothing for it. */
#ifndef ASPEN_TOOLS_REPORT_PAGE_H
#define ASPEN_TOOLS_REPORT_PAGE_H

#include "report.h"

enum { ASPT_ROWS_MAX = 60 }; /* of a table; the rest is in the record */

/* tools/report/place.c */
void aspt_page_place(FILE *to, const struct aspt_record *record);

/* tools/report/counts.c */
void aspt_page_calls(FILE *to, const struct aspt_record *record);
void aspt_page_loads(FILE *to, const struct aspt_record *record);
void aspt_page_counts(FILE *to, struct aspt_counts counts);
void aspt_page_messages(FILE *to, const struct aspt_record *record);
void aspt_page_windows(FILE *to, const struct aspt_record *record);

/* tools/report/times.c */
void aspt_page_time(FILE *to, const struct aspt_record *record);
void aspt_page_busy(FILE *to, const struct aspt_record *record);
void aspt_page_adaptation(FILE *to, const struct aspt_record *record);

/* tools/report/collectives.c */
void aspt_page_collectives(FILE *to, const struct aspt_record *record);

/* Parts of these: strips of time, a row for each node. tools/report/strips.c */
void aspt_page_scaling(FILE *to, const struct aspt_record *record);
void aspt_page_strips(FILE *to, const struct aspt_adaptation *adaptation);

/* Cells of a table: a time; and which rank, on which node. */
void aspt_page_seconds(FILE *to, double seconds);
void aspt_page_rank(FILE *to, const char *before, uint64_t rank, uint64_t node);

/* A line below a table: how many rows it leaves out. */
void aspt_page_more(FILE *to, uint64_t n, uint64_t shown);

#endif
