/* SPDX-License-Identifier: BSD-3-Clause */
/* See arrival.h. */
#include "config.h"

#include "arrival.h"

#include "runtime/base/log.h"
#include "runtime/mpi/fixes.h"
#include "runtime/mpi/real.h"
#include "runtime/net/device.h"

void aspx_arrival_start(bool device, bool says)
{
    bool late = !device && aspx_net_flushes_early();
    const char *warning = late && says ? aspx_net_order_warning() : NULL;

    aspx_fix_note(ASPX_FIX_FLUSH_PUT, late);
    if (warning)
        aspx_log(ASPX_LOG_WARNING, "%s", warning);
}

bool aspx_arrival_is_late(void)
{
    return aspx_fix_was_needed(ASPX_FIX_FLUSH_PUT);
}

int aspx_arrival_flush(int rank, MPI_Win win, MPI_Aint at)
{
    static char unread; /* threads may get it at the same time */
    int rc = MPI_SUCCESS;

    if (aspx_arrival_is_late())
        rc = aspx_real.MPI_Get(&unread, 1, MPI_BYTE, rank, at, 1, MPI_BYTE,
                               win);
    return rc == MPI_SUCCESS ? aspx_real.MPI_Win_flush(rank, win) : rc;
}
