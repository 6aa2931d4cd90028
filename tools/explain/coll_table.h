/* SPDX-License-Identifier: BSD-3-Clause */
/* `aspen explain table`: a table of tuned collectives for people; the picture
 * of one. */
#ifndef ASPEN_TOOLS_EXPLAIN_COLL_TABLE_H
#define ASPEN_TOOLS_EXPLAIN_COLL_TABLE_H

#include "common/tune/table.h"

#include <stdio.h>

/* argv[0] is "table". */
int aspt_coll_table(int argc, char **argv);

/* What a row was measured for but its size and its communicator: "bcast, root
 * 0, strict". Rows of one such use make one picture. Returns buf. */
enum { ASPT_USE_MAX = 96 };
const char *aspt_coll_use(uint32_t call, char buf[ASPT_USE_MAX]);

/* The call word without its size. */
static inline uint32_t aspt_coll_use_of(uint32_t call)
{
    return call >> ASP_TUNE_BUCKET_BITS;
}

/* "8", "64 KiB". Returns buf. */
enum { ASPT_SIZE_MAX = 24 };
const char *aspt_coll_size(uint32_t call, char buf[ASPT_SIZE_MAX]);

/* Can the configuration of a row do what the row is for? Returns 0, or -1 with
 * errno EINVAL (no configuration that this Aspen knows, or one of another
 * operation), ENOTSUP (not on these ranks) or ENOMEM, and the reason in err.
 * coll_table_check.c. */
int aspt_coll_check_row(const struct asp_tune_table *table,
                        const struct asp_tune_row *row, struct asp_err *err);

/* A page of its own, in SVG: for each use the sizes from left to right and the
 * communicators from top to bottom, a field for each row of the table, coloured
 * and lettered by configuration, grey where the default was best.
 * coll_table_svg.c. */
void aspt_coll_table_svg(FILE *to, const struct asp_tune_table *table);

#endif
