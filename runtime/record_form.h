/* SPDX-License-Identifier: BSD-3-Clause */
/* What the records of all modes have in common: where they go, and the head of
 * their JSON form (docs/design/record.md). */
#ifndef ASPEN_RUNTIME_RECORD_FORM_H
#define ASPEN_RUNTIME_RECORD_FORM_H

#include "common/layout.h"

#include <stdint.h>
#include <stdio.h>

/* "1" (stderr only), a file, or NULL: from --async-report, else from the job's
 * policy. layout may be NULL. */
const char *aspx_record_where(const struct asp_layout *layout);

/* Open the object, and write what is the same in all modes. */
void aspx_record_head(FILE *out, const struct asp_layout *layout, int users,
                      int ghosts, uint32_t nodes);

#endif
