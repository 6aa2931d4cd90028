/* SPDX-License-Identifier: BSD-3-Clause */
/* Which mistakes of MPICH or UCX Aspen works around in this process, for the
 * record: each is asked about, by release or by trying, before it is. */
#ifndef ASPEN_RUNTIME_MPI_FIXES_H
#define ASPEN_RUNTIME_MPI_FIXES_H

#include <stdbool.h>

enum aspx_fix {
    ASPX_FIX_TCP_FINALIZE, /* tcp_finalize_fix.h: by release */
    ASPX_FIX_END_BARRIER,  /* end_barrier.h: where MPI is on UCX */
    ASPX_FIX_SIGNAL,       /* ucx_signal_fix.h: where UCX sends signals */
    ASPX_FIX_WINDOW_BASE,  /* casper/window/native.h: by looking at each window
                            */
    ASPX_FIX_ACC_TYPE,  /* casper/rma/acc.c: by release, when one is issued */
    ASPX_FIX_MATCH,     /* full_tag_mask.h: by trying */
    ASPX_FIX_PACK,      /* pack/messages.h: by trying */
    ASPX_FIX_FLUSH_ALL, /* casper/arena/contig_win.h: where there is such a
                           window */
    ASPX_FIX_FLUSH_PUT, /* casper/arena/arrival.h: by device */
    ASPX_FIXES,
};

/* Is it for the release of MPICH that runs (the table in fixes.c)? Notes the
 * answer. Of those that are asked about by release only. Threads: any. */
bool aspx_fix_is_for_release(enum aspx_fix fix);

/* It was asked about, and is needed, or not. Once needed it stays so.
 * Threads: any. */
void aspx_fix_note(enum aspx_fix fix, bool needed);

/* It was tried, and MPI does the thing in a way that Aspen does not know: MPI
 * is left as it is. Threads: any. */
void aspx_fix_note_unknown(enum aspx_fix fix);

/* Has it been needed in this process so far? Threads: any. */
bool aspx_fix_was_needed(enum aspx_fix fix);

/* "tcp_finalize=no,end_barrier=yes,match=unknown": those that were asked about;
 * "" where none was. The result is static. Threads: one. */
const char *aspx_fixes(void);

#endif
