/* SPDX-License-Identifier: BSD-3-Clause */
/* A request of MPI's that ends only when the program does. */
#include "config.h"

#include "complete.h"
#include "posted.h"

#include "runtime/mpi/real.h"

#include <pthread.h>

static MPI_Request unending = MPI_REQUEST_NULL;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int query(void *state, MPI_Status *status)
{
    (void) state;
    aspx_own_set_empty(status);
    return MPI_SUCCESS;
}

static int forget(void *state)
{
    (void) state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void) state;
    (void) complete;
    return MPI_SUCCESS;
}

static void start(void)
{
    if (aspx_real.MPI_Grequest_start(query, forget, cancel, NULL, &unending) !=
        MPI_SUCCESS)
        unending = MPI_REQUEST_NULL;
}

MPI_Request aspx_own_unending(void)
{
    pthread_once(&once, start);
    return unending;
}

void aspx_posted_leave(void)
{
    if (unending == MPI_REQUEST_NULL)
        return;
    aspx_real.MPI_Grequest_complete(unending);
    aspx_real.MPI_Request_free(&unending);
}
