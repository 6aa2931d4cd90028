/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls on requests that are not Test or Wait: they reach through a slot
 * for MPI's request, in the offload thread. */
#include "config.h"

#include "request.h"

#include "callback.h"
#include "pending.h"
#include "raised.h"
#include "thread.h"

#include "mpi_wrap.h"

#include <sched.h>

struct aspx_request *aspx_request_adopt(MPI_Request *request)
{
    struct aspx_request *slot = aspx_pool_find(*request);

    if (slot || *request == MPI_REQUEST_NULL)
        return slot;
    *request = aspx_request_wrap_caller_progressed(*request);
    return aspx_pool_find(*request);
}

void aspx_request_found_nothing(void)
{
    static _Thread_local unsigned misses ASPX_TLS;

    if (!aspx_offload_is_self())
        aspx_callback_serve_if_asked();
    aspx_command_wake_thread();
    if (aspx_offload_is_self())
        aspx_offload_turn();
    else if (++misses % 64 == 0)
        sched_yield();
}

enum request_op {
    ON_START,
    ON_GET_STATUS,
    ON_PREADY,
    ON_PREADY_RANGE,
    ON_PREADY_LIST,
    ON_COMPLETE,
    ON_SET_LANG,
};

/* What a call on one request needs, and what it gives. */
struct request_call {
    enum request_op op;
    struct aspx_request *slot;
    MPI_Request real; /* where there is no slot */
    int rc;
    int *flag;
    MPI_Status *status;
    int low, high;
    int *list;
};

static struct request_call call_of(MPI_Request request)
{
    struct aspx_request *slot = aspx_pool_find(request);

    return (struct request_call){.slot = slot, .real = slot ? 0 : request};
}

static MPI_Request *real_of(struct request_call *call)
{
    return call->slot ? &call->slot->real : &call->real;
}

static int call_in_thread(struct request_call *call, void (*work)(void *call))
{
    aspx_command_in_thread(work, call);
    return call->rc;
}

/* What needs MPI's own request, and nothing else of the slot. */
static void call_mpi(void *argument)
{
    struct request_call *call = argument;
    MPI_Request real = *real_of(call);

    switch (call->op) {
    case ON_START:
        call->rc = aspx_behind.MPI_Start(real_of(call));
        break;
    case ON_GET_STATUS:
        call->rc = aspx_behind.MPI_Request_get_status(real, call->flag,
                                                      call->status);
        break;
    case ON_PREADY:
        call->rc = aspx_behind.MPI_Pready(call->low, real);
        break;
    case ON_PREADY_RANGE:
        call->rc = aspx_behind.MPI_Pready_range(call->low, call->high, real);
        break;
    case ON_PREADY_LIST:
        call->rc = aspx_behind.MPI_Pready_list(call->high, call->list, real);
        break;
    case ON_COMPLETE:
        call->rc = aspx_behind.MPI_Grequest_complete(real);
        break;
    case ON_SET_LANG:
        aspx_behind.MPII_Grequest_set_lang_f77(real);
        break;
    }
}

static int call_on(MPI_Request request, struct request_call call)
{
    call.slot = aspx_pool_find(request);
    call.real = call.slot ? 0 : request;
    return call_in_thread(&call, call_mpi);
}

/* MPI_Request_free, MPI_Cancel: MPI may have seen the end already. */
static void do_free(void *argument)
{
    struct request_call *call = argument;
    struct aspx_request *slot = call->slot;

    call->rc = MPI_SUCCESS;
    if (slot && !slot->persistent && aspx_command_is_done(&slot->head))
        return;
    if (*real_of(call) == MPI_REQUEST_NULL && slot)
        return; /* failed when it was posted */
    call->rc = aspx_behind.MPI_Request_free(real_of(call));
    if (slot && !slot->caller_progressed && call->rc == MPI_SUCCESS) {
        aspx_pending_remove(slot);
        aspx_offload_expect_unseen();
    }
}

int aspx_offload_MPI_Request_free(MPI_Request *request)
{
    struct request_call call;
    int rc;

    if (!request)
        return aspx_refuse_arguments();
    call = call_of(*request);
    if (aspx_in_direct_call && call.slot && !call.slot->caller_progressed) {
        *request = MPI_REQUEST_NULL; /* it ends, and its slot is not used */
        return MPI_SUCCESS;          /* again: pending it is not ours */
    }
    rc = call_in_thread(&call, do_free);
    if (rc == MPI_SUCCESS) {
        *request = MPI_REQUEST_NULL;
        if (call.slot) {
            aspx_raised_drop(aspx_raised_take(&call.slot->head));
            call.slot->expected = false; /* what is under way remains so */
            aspx_pool_give(call.slot);
        }
    }
    return rc;
}

static void do_cancel(void *argument)
{
    struct request_call *call = argument;

    call->rc = MPI_SUCCESS;
    if (!call->slot || !aspx_command_is_done(&call->slot->head))
        call->rc = aspx_behind.MPI_Cancel(real_of(call));
}

int aspx_offload_MPI_Cancel(MPI_Request *request)
{
    struct request_call call;

    if (!request)
        return aspx_refuse_arguments();
    call = call_of(*request);
    return call_in_thread(&call, do_cancel);
}

int aspx_request_get_status_real(MPI_Request request, int *flag,
                                 MPI_Status *status)
{
    return call_on(request, (struct request_call){.op = ON_GET_STATUS,
                                                  .flag = flag,
                                                  .status = status});
}

int aspx_request_get_status(struct aspx_request *slot, int *flag,
                            MPI_Status *status)
{
    return aspx_request_get_status_real(slot->handle, flag, status);
}

/* Persistent requests. */

static void run_start(struct aspx_command *head)
{
    struct aspx_request *slot = aspx_request_of(head);

    int flag = 0;
    int rc = aspx_raised_code(head, aspx_behind.MPI_Start(&slot->real));

    slot->status.MPI_ERROR = ASPX_ERROR_UNTOUCHED;
    /* To or from MPI_PROC_NULL it ends at once, and MPI_Testsome takes it for
     * one that was not started. */
    if (rc == MPI_SUCCESS)
        rc = aspx_behind.MPI_Test(&slot->real, &flag, &slot->status);
    if (flag)
        aspx_request_ended(slot, rc);
    else
        aspx_request_posted(slot, rc);
}

int aspx_offload_MPI_Start(MPI_Request *request)
{
    struct aspx_request *slot = request ? aspx_pool_find(*request) : NULL;

    if (!request)
        return aspx_refuse_arguments();
    if (slot && slot->persistent &&
        atomic_load(&slot->head.state) == ASPX_INACTIVE) {
        slot->head.run = run_start;
        slot->caller_progressed =
            false; /* it was, if a direct call started it before */
        atomic_store(&slot->head.state, ASPX_BUSY);
        aspx_request_post_start(slot);
        return MPI_SUCCESS;
    }
    /* MPI knows what is wrong with it */
    return call_on(*request, (struct request_call){.op = ON_START});
}

int aspx_offload_MPI_Startall(int count, MPI_Request requests[])
{
    int rc = MPI_SUCCESS;

    if (count < 0 || (count > 0 && !requests))
        return aspx_refuse_arguments();
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        rc = aspx_offload_MPI_Start(&requests[i]);
    return rc;
}

/* Partitioned communication. */

int aspx_offload_MPI_Pready(int partition, MPI_Request request)
{
    return call_on(request,
                   (struct request_call){.op = ON_PREADY, .low = partition});
}

int aspx_offload_MPI_Pready_range(int low, int high, MPI_Request request)
{
    return call_on(
        request,
        (struct request_call){.op = ON_PREADY_RANGE, .low = low, .high = high});
}

int aspx_offload_MPI_Pready_list(int length, const int list[],
                                 MPI_Request request)
{
    return call_on(request, (struct request_call){.op = ON_PREADY_LIST,
                                                  .high = length,
                                                  /* MPICH 4.0 lacks const */
                                                  .list = (int *) list});
}

static void do_parrived(void *argument)
{
    struct request_call *call = argument;

    /* it may have ended since */
    if (call->slot && aspx_command_is_done(&call->slot->head)) {
        *call->flag = 1;
        call->rc = MPI_SUCCESS;
        return;
    }
    call->rc = aspx_behind.MPI_Parrived(*real_of(call), call->low, call->flag);
}

/* All partitions of what has ended have arrived; MPI's own request is inactive
 * by then. */
int aspx_offload_MPI_Parrived(MPI_Request request, int partition, int *flag)
{
    struct request_call call = call_of(request);

    if (!flag)
        return aspx_refuse_arguments();
    call.low = partition;
    call.flag = flag;
    return call_in_thread(&call, do_parrived);
}

/* Generalized requests. */

int aspx_offload_MPI_Grequest_complete(MPI_Request request)
{
    return call_on(request, (struct request_call){.op = ON_COMPLETE});
}

void aspx_offload_MPII_Grequest_set_lang_f77(MPI_Request request)
{
    (void) call_on(request, (struct request_call){.op = ON_SET_LANG});
}
