/* SPDX-License-Identifier: BSD-3-Clause */
/* aspen explain --extra: what cli_filter.lua asks, for the ghosts that a
 * request adds. The words and the answer are described in
 * common/expand/expand.h. */
#include "config.h"

#include "explain.h"

#include "tools/base/command.h"

#include "common/expand/expand.h"

#include <stdio.h>

enum { ANSWER_MAX = 8192 };

int aspt_extra(int nwords, char **words)
{
    char answer[ANSWER_MAX];
    struct asp_err err;

    if (asp_expand_words(nwords, (const char *const *) words, answer,
                         sizeof(answer), &err) < 0)
        return aspt_complain(&err);
    fputs(answer, stdout);
    return ASPT_OK;
}
