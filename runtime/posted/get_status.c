/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI 4.1 asks of several requests without completing them. */
#include "config.h"

#include "complete.h"
#include "posted.h"

#include "mpi_behind.h"
#include "mpi_wrap.h"

#if MPI_VERSION * 100 + MPI_SUBVERSION >= 401
/* MPICH 4.2 takes requests that are not const, as the standard does not; they
 * stay as they are. */
static MPI_Request *not_const(const MPI_Request *requests)
{
    return (MPI_Request *) (uintptr_t) requests;
}

int aspx_posted_MPI_Request_get_status_all(int count,
                                           const MPI_Request requests[],
                                           int *flag, MPI_Status *statuses)
{
    struct aspx_own_set set;
    int rc = MPI_SUCCESS;

    if (!aspx_own_split(&set, count, not_const(requests)))
        return aspx_posted_behind.MPI_Request_get_status_all(
            count, not_const(requests), flag, statuses);
    aspx_own_look_at_all(&set);
    *flag = set.open == 0;
    if (*flag)
        rc = aspx_posted_behind.MPI_Request_get_status_all(count, set.others,
                                                           flag, statuses);
    for (int i = 0; *flag && i < count; i++) {
        struct aspx_own_request *own = aspx_own_find(requests[i]);

        if (aspx_own_is_active(own))
            aspx_own_copy_status(own, aspx_own_status_at(statuses, i));
    }
    aspx_own_drop(&set);
    return rc;
}

int aspx_posted_MPI_Request_get_status_any(int count,
                                           const MPI_Request requests[],
                                           int *index, int *flag,
                                           MPI_Status *status)
{
    struct aspx_own_set set;
    int rc = MPI_SUCCESS, i;

    if (!aspx_own_split(&set, count, not_const(requests)))
        return aspx_posted_behind.MPI_Request_get_status_any(
            count, not_const(requests), index, flag, status);
    aspx_own_look_at_all(&set);
    i = aspx_own_find_ended(&set);
    if (i >= 0) {
        *index = i;
        *flag = 1;
        aspx_own_copy_status(aspx_own_find(requests[i]), status);
    } else {
        rc = aspx_posted_behind.MPI_Request_get_status_any(count, set.others,
                                                           index, flag, status);
        *flag &= *index != MPI_UNDEFINED || set.open == 0;
    }
    aspx_own_drop(&set);
    return rc;
}

int aspx_posted_MPI_Request_get_status_some(int count,
                                            const MPI_Request requests[],
                                            int *ended, int *indexes,
                                            MPI_Status *statuses)
{
    struct aspx_own_set set;
    int rc, n;

    if (!aspx_own_split(&set, count, not_const(requests)))
        return aspx_posted_behind.MPI_Request_get_status_some(
            count, not_const(requests), ended, indexes, statuses);
    aspx_own_look_at_all(&set);
    rc = aspx_posted_behind.MPI_Request_get_status_some(
        count, set.others, ended, indexes, statuses);
    n = *ended == MPI_UNDEFINED ? 0 : *ended;
    for (int i = 0; i < count; i++) {
        struct aspx_own_request *own = aspx_own_find(requests[i]);

        if (!own || aspx_own_state_of(own) != ASPX_OWN_ENDED)
            continue;
        aspx_own_copy_status(own, aspx_own_status_at(statuses, n));
        indexes[n++] = i;
    }
    if (n > 0 || set.own > 0)
        *ended = n;
    aspx_own_drop(&set);
    return rc;
}
#endif
