/* SPDX-License-Identifier: BSD-3-Clause */
/* How every subcommand reads its options: getopt_long(), its errors as one line
 * of ours. */
#ifndef ASPEN_TOOLS_BASE_OPTIONS_H
#define ASPEN_TOOLS_BASE_OPTIONS_H

#include "common/base/err.h"

#include <getopt.h>

/* The value of --help in each table. */
enum { ASPT_OPTION_HELP = 'h' };

/* What a subcommand knows. */
struct aspt_options {
    const char *command; /* "aspen run" */
    /* The letters, as getopt() has them: ":o:" knows -o VALUE, and where "+"
     * begins them, options end at the first word that is none. The ":" before
     * them is needed. */
    const char *letters;
    const struct option *table; /* ends with zeros; no flags */
    const char *usage;          /* what --help prints */
    /* Take one, not --help. Returns 0, 1 (all is done: end well), or -1 with
     * err; without a text the usage is printed. */
    int (*take)(int option, const char *value, void *data, struct asp_err *err);
};

/* Read them all.
 *   data  for take()
 * Returns -1 to go on with argv[optind], or the exit status. Threads: none, as
 * getopt(). */
int aspt_options_read(const struct aspt_options *options, int argc, char **argv,
                      void *data);

#endif
