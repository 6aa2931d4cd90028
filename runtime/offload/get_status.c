/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Request_get_status of several requests (MPI 4.1, 3.7.7): what Testall,
 * Testany and Testsome would say, and no request is given back. */
#include "config.h"

#include "request.h"

#include "mpi_wrap.h"

#include <stddef.h>

static bool is_active(MPI_Request request)
{
    return aspx_request_is_active(aspx_pool_find(request));
}

/* Is that one complete? *rc_p: how it ended, also in its status. */
static bool is_complete(MPI_Request request, MPI_Status *status, bool codes,
                        int *rc_p)
{
    int flag = 0;

    *rc_p = aspx_offload_MPI_Request_get_status(request, &flag, status);
    if (flag && codes && status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = *rc_p;
    return flag;
}

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

static bool is_bad(int count, const MPI_Request requests[])
{
    return count < 0 || (count > 0 && !requests);
}

int aspx_offload_MPI_Request_get_status_all(int count,
                                            const MPI_Request requests[],
                                            int *flag, MPI_Status *statuses)
{
    bool all = true, failed = false;

    if (is_bad(count, requests) || !flag || (count > 0 && !statuses))
        return aspx_refuse_arguments();
    for (int i = 0; i < count; i++) {
        int rc;

        all &= is_complete(requests[i], status_at(statuses, i), true, &rc);
        failed |= rc != MPI_SUCCESS;
    }
    *flag = all;
    return all && failed ? aspx_raise_code(MPI_ERR_IN_STATUS) : MPI_SUCCESS;
}

int aspx_offload_MPI_Request_get_status_any(int count,
                                            const MPI_Request requests[],
                                            int *indx, int *flag,
                                            MPI_Status *status)
{
    bool none = true;
    int rc;

    if (is_bad(count, requests) || !indx || !flag || !status)
        return aspx_refuse_arguments();
    *indx = MPI_UNDEFINED;
    for (int i = 0; i < count; i++) {
        if (!is_active(requests[i]))
            continue;
        none = false;
        *flag = is_complete(requests[i], status, false, &rc);
        if (*flag) {
            *indx = i;
            return rc == MPI_SUCCESS ? rc : aspx_raise_code(rc);
        }
    }
    *flag = none;
    return none ? aspx_offload_MPI_Request_get_status(MPI_REQUEST_NULL, flag,
                                                      status)
                : MPI_SUCCESS;
}

int aspx_offload_MPI_Request_get_status_some(int incount,
                                             const MPI_Request requests[],
                                             int *outcount, int indices[],
                                             MPI_Status *statuses)
{
    bool none = true, failed = false;
    int n = 0, rc;

    if (is_bad(incount, requests) || !outcount ||
        (incount > 0 && (!indices || !statuses)))
        return aspx_refuse_arguments();
    for (int i = 0; i < incount; i++) {
        if (!is_active(requests[i]))
            continue;
        none = false;
        if (is_complete(requests[i], status_at(statuses, n), true, &rc)) {
            failed |= rc != MPI_SUCCESS;
            indices[n++] = i;
        }
    }
    *outcount = none ? MPI_UNDEFINED : n;
    return failed ? aspx_raise_code(MPI_ERR_IN_STATUS) : MPI_SUCCESS;
}
