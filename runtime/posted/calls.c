/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls on one request. */
#include "config.h"

#include "complete.h"
#include "posted.h"

#include "mpi_behind.h"
#include "mpi_wrap.h"

static struct aspx_own_request *find(const MPI_Request *request)
{
    return aspx_own_has_none() || !request ? NULL : aspx_own_find(*request);
}

int aspx_posted_MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct aspx_own_request *own = find(request);

    if (!own)
        return aspx_posted_behind.MPI_Wait(request, status);
    if (!aspx_own_is_active(own)) {
        aspx_own_set_empty(status);
        return MPI_SUCCESS;
    }
    aspx_own_await(own);
    return aspx_own_finish(own, request, status);
}

int aspx_posted_MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct aspx_own_request *own = find(request);

    if (!own)
        return aspx_posted_behind.MPI_Test(request, flag, status);
    *flag = aspx_own_has_ended(own);
    if (!aspx_own_is_active(own)) {
        aspx_own_set_empty(status);
        return MPI_SUCCESS;
    }
    if (*flag)
        return aspx_own_finish(own, request, status);
    aspx_own_poll_mpi();
    return MPI_SUCCESS;
}

int aspx_posted_MPI_Request_get_status(MPI_Request request, int *flag,
                                       MPI_Status *status)
{
    struct aspx_own_request *own = find(&request);

    if (!own)
        return aspx_posted_behind.MPI_Request_get_status(request, flag, status);
    *flag = aspx_own_has_ended(own);
    if (!aspx_own_is_active(own)) {
        aspx_own_set_empty(status);
    } else if (*flag) {
        aspx_own_copy_status(own, status);
        return aspx_own_raise(own->comm, own->rc);
    } else {
        aspx_own_poll_mpi();
    }
    return MPI_SUCCESS;
}

#if MPICH_NUMVERSION >= 40300000
int aspx_posted_MPIX_Request_is_complete(MPI_Request request)
{
    struct aspx_own_request *own = find(&request);

    return own ? aspx_own_has_ended(own)
               : aspx_posted_behind.MPIX_Request_is_complete(request);
}
#endif

int aspx_posted_MPI_Request_free(MPI_Request *request)
{
    struct aspx_own_request *own = find(request);

    if (!own)
        return aspx_posted_behind.MPI_Request_free(request);
    *request = MPI_REQUEST_NULL;
    (void) aspx_own_has_ended(own); /* as far as it can tell now */
    aspx_own_abandon(own);
    return MPI_SUCCESS;
}

int aspx_posted_MPI_Cancel(MPI_Request *request)
{
    struct aspx_own_request *own = find(request);

    if (!own)
        return aspx_posted_behind.MPI_Cancel(request);
    return own->kind->cancel && !aspx_own_has_ended(own)
               ? own->kind->cancel(own)
               : MPI_SUCCESS;
}

int aspx_posted_MPI_Start(MPI_Request *request)
{
    struct aspx_own_request *own = find(request);

    if (!own)
        return aspx_posted_behind.MPI_Start(request);
    return aspx_own_raise(own->comm,
                          own->kind->start &&
                                  aspx_own_state_of(own) == ASPX_OWN_INACTIVE
                              ? own->kind->start(own)
                              : MPI_ERR_REQUEST);
}

int aspx_posted_MPI_Startall(int count, MPI_Request requests[])
{
    int rc = MPI_SUCCESS;

    if (aspx_own_has_none() || count < 0 || !requests)
        return aspx_posted_behind.MPI_Startall(count, requests);
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        rc = aspx_posted_MPI_Start(&requests[i]);
    return rc;
}
