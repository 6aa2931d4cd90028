/* SPDX-License-Identifier: BSD-3-Clause */
/* What the records of all modes have in common: where they go, and the head of
 * their JSON form (docs/design/record.md). */
#ifndef ASPEN_RUNTIME_RECORD_FRAME_H
#define ASPEN_RUNTIME_RECORD_FRAME_H

#include "common/layout/layout.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* "1" (stderr only), a file, or NULL: from --async-report, else from the job's
 * policy. layout may be NULL. */
const char *aspx_record_where(const struct asp_layout *layout);

/* The MPI build of the record that auto chose by (profile.build), or "". */
const char *aspx_record_profile(const struct asp_layout *layout);

/* Text for stderr that arrives there in one piece, also where other ranks
 * write: open, write to what it returns, close. Without memory that is stderr
 * itself. */
struct aspx_record_text {
    FILE *out;
    char *text;
    size_t size;
};
FILE *aspx_record_text_open(struct aspx_record_text *text);
void aspx_record_text_close(struct aspx_record_text *text);

/* Open the object, and write what is the same in all modes, without a comma
 * behind it. */
void aspx_record_head(FILE *out, const struct asp_layout *layout, int users,
                      int ghosts, uint32_t nodes);

#endif
