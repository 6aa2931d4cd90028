/* SPDX-License-Identifier: BSD-3-Clause */
/* How every subcommand says what is wrong. */
#include "config.h"

#include "command.h"

#include <stdio.h>

int aspt_complain(const struct asp_err *err)
{
    char text[ASP_ERR_TEXT_MAX + ASP_ERR_PLACE_MAX];

    fprintf(stderr, "%s\n", asp_err_print(err, text, sizeof(text)));
    return ASPT_REFUSED;
}
