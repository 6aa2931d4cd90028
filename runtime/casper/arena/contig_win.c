/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and frees the engine's contiguous window, in users and ghosts. */
#include "config.h"

#include "contig_win.h"

#include "runtime/mpi/fixes.h"
#include "runtime/mpi/real.h"

bool aspx_contig_win_make(struct aspx_engine *engine)
{
    const struct aspx_arena *arena = &engine->arena;
    bool ghost = engine->world->rank_user < 0 && arena->base;

    if (aspx_real.MPI_Win_create_c(
            ghost ? arena->base : NULL, ghost ? (MPI_Aint) arena->bytes : 0, 1,
            MPI_INFO_NULL, engine->locks, &engine->contig_win) != MPI_SUCCESS) {
        engine->contig_win = MPI_WIN_NULL;
        return false;
    }
    aspx_fix_note(ASPX_FIX_FLUSH_ALL, true);
    aspx_real.MPI_Win_set_errhandler(engine->contig_win, MPI_ERRORS_RETURN);
    return aspx_real.MPI_Win_lock_all(MPI_MODE_NOCHECK, engine->contig_win) ==
           MPI_SUCCESS;
}

void aspx_contig_win_free(struct aspx_engine *engine)
{
    if (engine->contig_win == MPI_WIN_NULL)
        return;
    aspx_real.MPI_Win_unlock_all(engine->contig_win);
    aspx_real.MPI_Win_free(&engine->contig_win);
}
