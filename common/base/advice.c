/* SPDX-License-Identifier: BSD-3-Clause */
/* The column `advice` of runtime/mpi/mpi_calls.tab, as a function. */
#include "advice.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *function;
    enum asp_advice_kind kind;
} rows[] = {
#include "mpi_advice.h" /* generated */
};

enum asp_advice_kind asp_advice_of(const char *function)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].function, function) == 0)
            return rows[i].kind;
    return ASP_ADVICE_NONE;
}
