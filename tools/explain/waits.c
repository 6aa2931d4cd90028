/* SPDX-License-Identifier: BSD-3-Clause */
/* aspen explain --waits: the table by which everything in Aspen waits. */
#include "config.h"

#include "explain.h"

#include "runtime/base/wait_table.h"

void aspt_print_waits(FILE *to)
{
    fputs(
        "Microseconds without work: first a waiter spins, then it yields its\n"
        "CPU, then it blocks; what it waits for ends a block, and so does its\n"
        "bound, which grows from the first to the longest.\n\n",
        to);
    fprintf(to, "%-44s %7s %7s %8s %8s\n", "waiter", "spins", "yields",
            "blocks", "at most");
    for (int i = 0; i < ASPX_WAITERS; i++) {
        const struct aspx_wait_policy *row = &aspx_wait_table[i];

        fprintf(to, "%-44s %7u %7u %8u %8u\n", row->waiter, row->spin_us,
                row->yield_us, row->first_us, row->max_us);
        aspt_print_wrapped(to, row->why);
    }
}
