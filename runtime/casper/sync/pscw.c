/* SPDX-License-Identifier: BSD-3-Clause */
/* Post/start/complete/wait: operations went to ghosts, so they are flushed
 * there first; then MPI's own window does the synchronisation, with the
 * program's asserts. Only our own calls know that operations were issued: the
 * errors that follow from it are raised here. */
#include "config.h"

#include "runtime/casper/rma/flush.h"

#include "runtime/casper/window/native.h"
#include "runtime/mpi/real.h"
#include "runtime/casper/window/counts.h"
#include "mpi_wrap.h"

#include <stdlib.h>

/* Mark the targets of a group; returns how many, or -1 without memory. */
static int mark_group(struct aspx_win *win, MPI_Group group)
{
    MPI_Group all;
    int size, *ranks;

    aspx_real.MPI_Group_size(group, &size);
    ranks = malloc(2 * sizeof(*ranks) * (size_t) (size + 1));
    if (!ranks)
        return -1;
    for (int i = 0; i < size; i++)
        ranks[size + i] = i;
    aspx_real.MPI_Win_get_group(win->handle, &all);
    aspx_real.MPI_Group_translate_ranks(group, size, ranks + size, all, ranks);
    aspx_real.MPI_Group_free(&all);
    for (int i = 0; i < size; i++)
        if (ranks[i] >= 0 && ranks[i] < win->size)
            atomic_store(&win->targets[ranks[i]].held, ASPX_HELD_START);
    free(ranks);
    return size;
}

int aspx_wrap_MPI_Win_start(MPI_Group group, int assert, MPI_Win handle)
{
    struct aspx_win *win = aspx_win_find(handle);
    int access, rc;

    if (!win)
        return aspx_real.MPI_Win_start(group, assert, aspx_native_of(handle));
    if (win->forbidden & ASPX_EPOCH_PSCW)
        return aspx_win_refuse(win, "MPI_Win_start");
    access = atomic_load(&win->access);
    if (access != ASPX_ACCESS_NONE && access != ASPX_ACCESS_FENCED)
        return aspx_win_raise(win, MPI_ERR_RMA_SYNC);
    rc = aspx_real.MPI_Win_start(group, assert, handle);
    if (rc != MPI_SUCCESS)
        return rc;
    aspx_count(ASPX_CALL_PSCW, ASPX_HANDLING_GHOST);
    if (mark_group(win, group) < 0)
        return aspx_win_raise(win, MPI_ERR_NO_MEM);
    atomic_store(&win->access, ASPX_ACCESS_START);
    return MPI_SUCCESS;
}

int aspx_wrap_MPI_Win_complete(MPI_Win handle)
{
    struct aspx_win *win = aspx_win_find(handle);
    int rc;

    if (!win || atomic_load(&win->access) != ASPX_ACCESS_START)
        return aspx_real.MPI_Win_complete(aspx_native_of(handle));
    rc = aspx_flush_every(win);
    for (int i = 0; i < win->size; i++)
        atomic_store(&win->targets[i].held, ASPX_HELD_NONE);
    atomic_store(&win->access, ASPX_ACCESS_NONE);
    if (rc != MPI_SUCCESS)
        return aspx_win_pass(win, rc);
    return aspx_real.MPI_Win_complete(handle);
}

int aspx_wrap_MPI_Win_post(MPI_Group group, int assert, MPI_Win handle)
{
    struct aspx_win *win = aspx_win_find(handle);

    if (win && win->forbidden & ASPX_EPOCH_PSCW)
        return aspx_win_refuse(win, "MPI_Win_post");
    if (win && atomic_load(&win->exposed))
        return aspx_win_raise(win, MPI_ERR_RMA_SYNC);
    return aspx_real.MPI_Win_post(group, assert, aspx_native_of(handle));
}
