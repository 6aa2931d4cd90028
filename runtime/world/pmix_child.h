/* SPDX-License-Identifier: BSD-3-Clause */
/* Running aspen-pmix-put from inside an MPI program without a trace. */
#ifndef ASPEN_RUNTIME_WORLD_PMIX_CHILD_H
#define ASPEN_RUNTIME_WORLD_PMIX_CHILD_H

/* Run "path put" with text as its input. Best effort, bounded: after timeout_ms
 * the child is killed.
 * Signals: SIGCHLD of the child is not delivered to the program, except where
 * another of its threads does not block it. */
void aspx_child_put(const char *path, const char *text, int timeout_ms);

#endif
