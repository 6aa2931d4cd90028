/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "fixes.h"

#include "common/base/strbuf.h"

#include <stdatomic.h>

enum answer { NOT_ASKED, NO, YES };

static const char *const names[ASPX_FIXES] = {
    [ASPX_FIX_TCP_FINALIZE] = "tcp_finalize",
    [ASPX_FIX_END_BARRIER] = "end_barrier",
    [ASPX_FIX_SIGNAL] = "signal",
    [ASPX_FIX_WINDOW_BASE] = "window_base",
    [ASPX_FIX_ACC_TYPE] = "acc_type",
    [ASPX_FIX_FLUSH_ALL] = "flush_all",
};

static _Atomic int answers[ASPX_FIXES]; /* enum answer */

void aspx_fix_note(enum aspx_fix fix, bool needed)
{
    int answer = needed ? YES : NO;

    if (atomic_load(&answers[fix]) < answer)
        atomic_store(&answers[fix], answer);
}

const char *aspx_fixes(void)
{
    static char text[ASPX_FIXES * 20]; /* the longest with its answer */
    struct asp_strbuf sb = ASP_STRBUF(text);

    for (int i = 0; i < ASPX_FIXES; i++) {
        int answer = atomic_load(&answers[i]);

        if (answer != NOT_ASKED)
            asp_strbuf_add(&sb, "%s%s=%s", sb.len > 0 ? "," : "", names[i],
                           answer == YES ? "yes" : "no");
    }
    return text;
}
