/* SPDX-License-Identifier: BSD-3-Clause */
/* What users do with contiguous windows: one thread at a time operates on them
 * and flushes them. Not in ghosts. */
#include "config.h"

#include "arrival.h"
#include "contig_win.h"

#include "runtime/mpi/real.h"
#include "runtime/base/counter.h"

static pthread_mutex_t one_thread = PTHREAD_MUTEX_INITIALIZER;

bool aspx_contig_win_enter(void)
{
    return aspx_threads && pthread_mutex_lock(&one_thread) == 0;
}

void aspx_contig_win_leave(bool entered)
{
    if (entered)
        pthread_mutex_unlock(&one_thread);
}

int aspx_contig_win_flush(int rank, MPI_Win contig_win, bool late)
{
    bool entered = aspx_contig_win_enter();
    int rc = late ? aspx_arrival_flush(rank, contig_win, 0)
                  : aspx_real.MPI_Win_flush(rank, contig_win);

    aspx_contig_win_leave(entered);
    return rc;
}

void aspx_contig_win_get_word(int ghost, uint32_t local, size_t at,
                              uint32_t *into, bool contig)
{
    uint64_t off = local * sizeof(struct aspx_doorbell) + at;
    bool entered = contig && aspx_contig_win_enter();

    (void) aspx_real.MPI_Get(
        into, 1, MPI_UINT32_T, ghost,
        (MPI_Aint) (contig ? off : aspx_engine.arena_addr[ghost] + off), 1,
        MPI_UINT32_T, contig ? aspx_engine.contig_win : aspx_engine.win);
    aspx_contig_win_leave(entered);
}
