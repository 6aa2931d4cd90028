/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for packed messages, of which one piece is kept: fresh pages cost more
 * than to copy into them. */
#ifndef ASPEN_RUNTIME_PACK_STAGING_H
#define ASPEN_RUNTIME_PACK_STAGING_H

#include <stddef.h>

/* NULL: there is none. Threads: any. */
char *aspx_staging_take(size_t bytes);
void aspx_staging_give(char *staging);

#endif
