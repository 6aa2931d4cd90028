/* SPDX-License-Identifier: BSD-3-Clause */
/* The server's private directory. */
#ifndef ASPEN_PMIX_AGENT_TMPDIR_H
#define ASPEN_PMIX_AGENT_TMPDIR_H

#include "common/base/err.h"

#include <stddef.h>

/* Make base/aspen-UID-JOB.NODE.RANDOM.PID, mode 0700, after removing what dead
 * agents of this user left in base.
 *   path   at least PATH_MAX bytes; untouched on failure
 * Returns 0, or -1 with errno ENAMETOOLONG or mkdir()'s. */
int aspa_tmpdir_make(const char *base, const char *job, unsigned node,
                     char *path, size_t size, struct asp_err *err);

/* Remove the directory and the plain files in it, and one level of
 * directories below. Follows no link. Best effort; "" does nothing. */
void aspa_tmpdir_remove(const char *path);

#endif
