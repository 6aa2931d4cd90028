/* SPDX-License-Identifier: BSD-3-Clause */
/* A generalized request that never ends while it is needed: asking MPI about it
 * makes progress, and receives nothing. */
#include "config.h"

#include "progress_request.h"

#include "real.h"

static MPI_Request endless = MPI_REQUEST_NULL;

static int query(void *unused, MPI_Status *status)
{
    (void) unused;
    aspx_real.MPI_Status_set_elements(status, MPI_BYTE, 0);
    return aspx_real.MPI_Status_set_cancelled(status, 0);
}

static int ignore(void *unused)
{
    (void) unused;
    return MPI_SUCCESS;
}

static int ignore_cancel(void *unused, int complete)
{
    (void) complete;
    return ignore(unused);
}

bool aspx_progress_request_start(void)
{
    return endless != MPI_REQUEST_NULL ||
           aspx_real.MPI_Grequest_start(query, ignore, ignore_cancel, NULL,
                                        &endless) == MPI_SUCCESS;
}

void aspx_progress_request_stop(void)
{
    if (endless == MPI_REQUEST_NULL)
        return;
    aspx_real.MPI_Grequest_complete(endless);
    aspx_real.MPI_Wait(&endless, MPI_STATUS_IGNORE);
}

void aspx_progress_poll(void)
{
    MPI_Status status;
    int flag;

    if (endless != MPI_REQUEST_NULL)
        aspx_real.MPI_Request_get_status(endless, &flag, &status);
}
