/* SPDX-License-Identifier: BSD-3-Clause */
/* What the calls on requests share. */
#ifndef ASPEN_RUNTIME_OFFLOAD_REQUEST_H
#define ASPEN_RUNTIME_OFFLOAD_REQUEST_H

#include "refuse.h"
#include "request_pool.h"

#include "runtime/mpi/handle.h"

/* The slot of a request. A request that is not ours gets one; NULL for
 * MPI_REQUEST_NULL. */
struct aspx_request *aspx_request_adopt(MPI_Request *request);

/* Can that be a request, of MPI or of ours, or none? */
static inline bool aspx_request_may_be(MPI_Request request)
{
    return request == MPI_REQUEST_NULL ||
           aspx_handle_is(request, ASPX_HANDLE_REQUEST);
}

/* A request that is there to be completed. */
static inline bool aspx_request_is_active(const struct aspx_request *slot)
{
    return slot && atomic_load_explicit(&slot->head.state,
                                        memory_order_acquire) != ASPX_INACTIVE;
}

/* MPI_Request_get_status of a caller-progressed slot. */
int aspx_request_get_status(struct aspx_request *slot, int *flag,
                            MPI_Status *status);

/* The same of what is none of ours. */
int aspx_request_get_status_real(MPI_Request request, int *flag,
                                 MPI_Status *status);

/* A look found nothing. Wakes the thread; and lets it have the CPU
 * now and then, in case it is on ours. */
void aspx_request_found_nothing(void);

#endif
