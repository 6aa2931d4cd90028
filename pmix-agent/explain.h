/* SPDX-License-Identifier: BSD-3-Clause */
/* aspen-agent --explain: the same road as a real request, printed. */
#ifndef ASPEN_PMIX_AGENT_EXPLAIN_H
#define ASPEN_PMIX_AGENT_EXPLAIN_H

struct asp_answer;

/* Read a request from file (NULL: stdin) and print layout and answer to
 * stdout; errors to stderr.
 *   serve_dir  not NULL: also start the PMIx server, with its directory in
 *              there, and stay until stdin ends
 * Returns the exit status: 0 planned, 1 not. */
int aspa_explain(const char *file, const char *serve_dir);

#endif
