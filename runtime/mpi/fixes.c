/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of fixes, with the releases of MPICH that need them, and the answer
 * to each that was asked about. */
#include "config.h"

#include "fixes.h"

#include "build.h"

#include "runtime/base/log.h"

#include "common/base/strbuf.h"

#include <limits.h>
#include <stdatomic.h>

enum answer { NOT_ASKED, NO, UNKNOWN, YES };

enum { ANY = 0, STILL = INT_MAX };

/* since, until: the first release of MPICH that has the mistake, and the first
 * that has not (aspx_mpi_release); 0, 0: it is asked about otherwise. */
static const struct {
    const char *name;
    int since, until;
} fixes[ASPX_FIXES] = {
    /* 4.2 waits in the launcher's barrier before it closes */
    [ASPX_FIX_TCP_FINALIZE] = {"tcp_finalize", ANY, 402},
    [ASPX_FIX_END_BARRIER] = {"end_barrier", 0, 0},
    [ASPX_FIX_SIGNAL] = {"signal", 0, 0},
    [ASPX_FIX_WINDOW_BASE] = {"window_base", 0, 0},
    [ASPX_FIX_ACC_TYPE] = {"acc_type", 402, STILL},
    [ASPX_FIX_MATCH] = {"match", 0, 0},
    [ASPX_FIX_PACK] = {"pack", 0, 0},
    [ASPX_FIX_FLUSH_ALL] = {"flush_all", 0, 0},
    [ASPX_FIX_FLUSH_PUT] = {"flush_put", 0, 0},
};

static const struct {
    const char *word, *trace; /* "this MPI ... it" */
} words[] = {
    [NO] = {"no", "does not need"},
    [UNKNOWN] = {"unknown", "is unknown to"},
    [YES] = {"yes", "needs"},
};

static _Atomic int answers[ASPX_FIXES]; /* enum answer */

static void note(enum aspx_fix fix, enum answer answer)
{
    if (atomic_load(&answers[fix]) >= (int) answer)
        return;
    atomic_store(&answers[fix], answer);
    aspx_trace("fix %s: this MPI %s it", fixes[fix].name, words[answer].trace);
}

void aspx_fix_note(enum aspx_fix fix, bool needed)
{
    note(fix, needed ? YES : NO);
}

void aspx_fix_note_unknown(enum aspx_fix fix)
{
    note(fix, UNKNOWN);
}

bool aspx_fix_is_for_release(enum aspx_fix fix)
{
    int release = aspx_mpi_release();
    bool needed = release >= fixes[fix].since && release < fixes[fix].until;

    aspx_fix_note(fix, needed);
    return needed;
}

bool aspx_fix_was_needed(enum aspx_fix fix)
{
    return atomic_load(&answers[fix]) == YES;
}

const char *aspx_fixes(void)
{
    static char text[ASPX_FIXES * 24]; /* the longest with its answer */
    struct asp_strbuf sb = ASP_STRBUF(text);

    for (int i = 0; i < ASPX_FIXES; i++) {
        int answer = atomic_load(&answers[i]);

        if (answer != NOT_ASKED)
            asp_strbuf_add(&sb, "%s%s=%s", sb.len > 0 ? "," : "", fixes[i].name,
                           words[answer].word);
    }
    return text;
}
