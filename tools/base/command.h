/* SPDX-License-Identifier: BSD-3-Clause */
/* What the subcommands of `aspen` have in common. Each takes its own name as
 * argv[0] and returns one of these exit statuses. */
#ifndef ASPEN_TOOLS_BASE_COMMAND_H
#define ASPEN_TOOLS_BASE_COMMAND_H

#include "common/base/err.h"

enum {
    ASPT_OK = 0,
    ASPT_NO = 1,      /* a negative answer */
    ASPT_REFUSED = 2, /* a refusal, or a usage error */
};

enum { ASPT_WIDTH = 80 }; /* columns that a terminal has */

/* Print "place: text", or just the text, on stderr. Returns ASPT_REFUSED. */
int aspt_complain(const struct asp_err *err);

#endif
