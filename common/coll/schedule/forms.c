/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of operations. */
#include "common/coll/schedule/forms.h"

#include <errno.h>
#include <string.h>

#define NAME(ID, TEXT, ...) [ASP_COLL_##ID] = TEXT,

static const char *const names[ASP_COLL_OPS] = {ASP_COLL_FORMS(NAME)};

const char *asp_coll_op_name(enum asp_coll_op op)
{
    return names[op];
}

int asp_coll_op_parse(const char *name, enum asp_coll_op *op_p,
                      struct asp_err *err)
{
    char list[ASP_ERR_TEXT_MAX] = "";

    for (int op = 0; op < ASP_COLL_OPS; op++) {
        if (strcmp(name, names[op]) == 0) {
            *op_p = (enum asp_coll_op) op;
            return 0;
        }
        strcat(list, op ? ", " : "");
        strcat(list, names[op]);
    }
    return asp_errf(err, EINVAL, "\"%.40s\" is no collective: take one of %s",
                    name, list);
}
