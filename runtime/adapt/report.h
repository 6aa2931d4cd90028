/* SPDX-License-Identifier: BSD-3-Clause */
/* Where and when redirection was off, in the record of a job. */
#ifndef ASPEN_RUNTIME_ADAPT_REPORT_H
#define ASPEN_RUNTIME_ADAPT_REPORT_H

#include "runtime/world/world.h"

#include <stdio.h>

struct aspx_adaptation; /* opaque */

/* In user rank 0; elsewhere, without memory, and where nothing can be switched,
 * NULL. Collective over users. */
struct aspx_adaptation *aspx_adaptation_gather(const struct aspx_world *world);

/* Takes NULL. */
void aspx_adaptation_free(struct aspx_adaptation *all);

/* A line, and a strip for each of the first nodes. Takes NULL. */
void aspx_adaptation_print(FILE *to, const struct aspx_adaptation *all);

/* The member "adaptation", with a comma before it. Takes NULL. */
void aspx_adaptation_json(FILE *to, const struct aspx_adaptation *all);

#endif
