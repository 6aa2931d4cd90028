/* SPDX-License-Identifier: BSD-3-Clause */
/* Running aspen-pick from inside an MPI program without a trace. */
#ifndef ASPEN_RUNTIME_PICKUP_CHILD_H
#define ASPEN_RUNTIME_PICKUP_CHILD_H

#include "common/err.h"

#include <stddef.h>

/* Run "path get" and take what it prints.
 *   buf, size   for the layout's text; *len_p bytes of it are valid
 *   timeout_ms  then the child is killed
 * Returns 0, or -1 with errno ETIMEDOUT, EMSGSIZE, EIO (the child's reason in
 * err) or posix_spawn()'s.
 * Signals: SIGCHLD of the child is not delivered to the program, except where
 * another of its threads does not block it. */
int aspx_child_get(const char *path, char *buf, size_t size, size_t *len_p,
                   int timeout_ms, struct asp_err *err);

/* Run "path put" with text as its input. Best effort, bounded. */
void aspx_child_put(const char *path, const char *text, int timeout_ms);

#endif
