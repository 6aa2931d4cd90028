/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of mends, a row for each fix that is applied when MPI runs. None of
 * them depends on another. */
#include "config.h"

#include "mends.h"

#include "runtime/mpi/end_barrier.h"
#include "runtime/mpi/fixes.h"
#include "runtime/mpi/full_tag_mask.h"
#include "runtime/mpi/tcp_finalize_fix.h"
#include "runtime/mpi/ucx_signal_fix.h"
#include "runtime/pack/messages.h"

/* Which ranks get a mend: those of a mode, by its number, and those whose mode
 * could not come up. */
#define MODE(NAME) (1u << ASP_MODE_##NAME)
enum {
    PLAIN = 1u << 31,
    HELPED = MODE(GHOST) | MODE(OFFLOAD) | MODE(THREAD),
    EVERY_MODE = HELPED | MODE(OFF),
};

static void end_barrier(const struct asp_layout *layout)
{
    (void) layout;
    aspx_end_barrier_patch();
}

static void tcp_finalize(const struct asp_layout *layout)
{
    (void) layout;
    aspx_tcp_finalize_fix();
}

static void ucx_signal(const struct asp_layout *layout)
{
    (void) layout;
    aspx_ucx_signal_fix();
}

static void pack(const struct asp_layout *layout)
{
    (void) layout; /* it was asked before MPI_Init (aspx_pack_interceptor) */
    aspx_pack_start();
}

/* apply is NULL where a fix is applied elsewhere (fixes.h). */
static const struct {
    unsigned modes;
    void (*apply)(const struct asp_layout *layout);
} mends[ASPX_FIXES] = {
    /* Also where the mode could not come up: other ranks may have helpers that
     * make progress while this one ends. */
    [ASPX_FIX_TCP_FINALIZE] = {EVERY_MODE | PLAIN, tcp_finalize},
    [ASPX_FIX_END_BARRIER] = {EVERY_MODE | PLAIN, end_barrier},
    /* Only ghosts block on UCX's events, so that they have to be woken. */
    [ASPX_FIX_SIGNAL] = {MODE(GHOST), ucx_signal},
    /* Knobs of a mode (match, pack): a program that was told that it runs
     * without Aspen runs without them. */
    [ASPX_FIX_MATCH] = {EVERY_MODE, aspx_full_tag_mask},
    [ASPX_FIX_PACK] = {EVERY_MODE, pack},
};

void aspx_mends_apply(const struct asp_layout *layout, bool plain)
{
    unsigned as = plain ? PLAIN : 1u << layout->mode;
    static bool done;

    if (done)
        return;
    done = true;
    for (int fix = 0; fix < ASPX_FIXES; fix++) {
        if (mends[fix].modes & as)
            mends[fix].apply(layout);
    }
}
