/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the contiguous window of one redirected window, or agrees with the
 * other processes to do without. */
#include "config.h"

#include "contig.h"
#include "native.h"

#include "runtime/mpi/real.h"

/* How far a process came. All go by the worst of them. */
enum outcome { MADE, ASTRAY, REFUSED };

static _Atomic int alive;

bool aspx_win_contig_full(void)
{
    return atomic_load(&alive) >= ASPX_WIN_CONTIG_MAX;
}

/* The same processes in a communicator of our own, whose errors are ours. It
 * comes from the engine's, for an error on the program's would be the
 * program's, and to change the handler there, if only for now, is for good:
 * MPICH takes that of MPI_COMM_WORLD until one was set. The tag keeps windows
 * apart that threads make at the same time. */
static int make_comm(const struct aspx_win_request *request,
                     const struct aspx_win *win, MPI_Comm *comm)
{
    int tag = (int) ((win->id + 31 * (win->id >> 40)) & 0x7fff), rc;
    MPI_Group all, group;

    /* MPICH 4.0.2 dereferences NULL in MPI_Comm_create_group() when nobody has
     * asked for the group of the whole before. */
    aspx_real.MPI_Comm_group(aspx_engine.locks, &all);
    aspx_real.MPI_Group_free(&all);
    aspx_real.MPI_Comm_group(request->comm, &group);
    rc = aspx_real.MPI_Comm_create_group(aspx_engine.locks, group, tag, comm);
    aspx_real.MPI_Group_free(&group);
    if (rc == MPI_SUCCESS)
        aspx_real.MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
    return rc;
}

static enum outcome try_make(const struct aspx_win_request *request,
                             const struct aspx_win *win, MPI_Win *made)
{
    MPI_Comm comm;
    int rc;

    /* As all of MPICH's context ids are agreed on, all fail, or none. */
    if (make_comm(request, win, &comm) != MPI_SUCCESS)
        return REFUSED;
    rc = aspx_real.MPI_Win_create_c(request->base, request->bytes, 1,
                                    MPI_INFO_NULL, comm, made);
    aspx_real.MPI_Comm_free(&comm); /* the window has one of its own */
    if (rc != MPI_SUCCESS)
        return REFUSED;
    aspx_real.MPI_Win_set_errhandler(*made, MPI_ERRORS_RETURN);
    /* NOCHECK: nobody locks it otherwise, so this sends nothing. */
    if (aspx_real.MPI_Win_lock_all(MPI_MODE_NOCHECK, *made) != MPI_SUCCESS)
        return REFUSED;
    return aspx_native_shift(request, *made) ? ASTRAY : MADE;
}

void aspx_win_contig_make(const struct aspx_win_request *request,
                          struct aspx_win *win)
{
    MPI_Win made = MPI_WIN_NULL;
    int mine = (int) try_make(request, win, &made), worst = REFUSED;

    aspx_real.MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, request->comm);
    if (worst != REFUSED) {
        win->contig_win = made;
        atomic_fetch_add(&alive, 1);
    }
    /* Where it was refused to some, the others keep theirs: not all can free
     * it. */
    if (worst == ASTRAY)
        aspx_win_contig_free(win);
}

void aspx_win_contig_free(struct aspx_win *win)
{
    if (win->contig_win == MPI_WIN_NULL)
        return;
    aspx_real.MPI_Win_unlock_all(win->contig_win);
    aspx_real.MPI_Win_free(&win->contig_win);
    atomic_fetch_sub(&alive, 1);
}
