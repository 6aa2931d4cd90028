/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls on requests that are not Test or Wait: they reach through a slot
 * for MPI's request, in the offload thread. */
#include "config.h"

#include "request.h"

#include "callback.h"
#include "pending.h"
#include "raised.h"
#include "thread.h"

#include "mpi_hand.h"

#include <sched.h>

struct aspx_request *aspx_request_adopt(MPI_Request *request)
{
    struct aspx_request *slot = aspx_pool_find(*request);

    if (slot || *request == MPI_REQUEST_NULL)
        return slot;
    *request = aspx_request_wrap_caller_progressed(*request);
    return aspx_pool_find(*request);
}

static void refuse(void *code)
{
    *(int *) code = aspx_behind.MPI_Waitall(-1, NULL, NULL);
}

int aspx_refuse_arguments(void)
{
    int code;

    aspx_command_in_thread(refuse, &code);
    return code;
}

static void raise_code(void *code)
{
    aspx_behind.MPI_Comm_call_errhandler(MPI_COMM_WORLD, *(int *) code);
}

int aspx_raise_code(int code)
{
    aspx_command_in_thread(raise_code, &code);
    return code;
}

void aspx_request_found_nothing(void)
{
    static _Thread_local unsigned misses ASPX_TLS;

    if (!aspx_offload_is_self())
        aspx_callback_look();
    aspx_command_wake_thread();
    if (aspx_offload_is_self())
        aspx_offload_turn();
    else if (++misses % 64 == 0)
        sched_yield();
}

/* What a call on one request needs, and what it gives. */
struct request_call {
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

static int carry(struct request_call *call, void (*work)(void *call))
{
    aspx_command_in_thread(work, call);
    return call->rc;
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
    if (slot && !slot->caller_progressed && call->rc == MPI_SUCCESS)
        aspx_pending_remove(slot);
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
        return MPI_SUCCESS;          /* again: in flight it is not ours */
    }
    rc = carry(&call, do_free);
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
    return carry(&call, do_cancel);
}

static void do_peek(void *argument)
{
    struct request_call *call = argument;

    call->rc = aspx_behind.MPI_Request_get_status(*real_of(call), call->flag,
                                                  call->status);
}

int aspx_request_get_status(struct aspx_request *slot, int *flag,
                            MPI_Status *status)
{
    struct request_call call = {.slot = slot, .flag = flag, .status = status};

    return carry(&call, do_peek);
}

/* Persistent requests. */

static void run_start(struct aspx_command *head)
{
    struct aspx_request *slot = aspx_request_of(head);

    int flag = 0, rc = aspx_behind.MPI_Start(&slot->real);

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

static void do_start(void *argument)
{
    struct request_call *call = argument;

    call->rc = aspx_behind.MPI_Start(real_of(call));
}

int aspx_offload_MPI_Start(MPI_Request *request)
{
    struct aspx_request *slot = request ? aspx_pool_find(*request) : NULL;
    struct request_call call;

    if (!request)
        return aspx_refuse_arguments();
    if (slot && slot->persistent &&
        atomic_load(&slot->head.state) == ASPX_INACTIVE) {
        slot->head.run = run_start;
        slot->caller_progressed =
            false; /* it was, if a guest started it before */
        atomic_store(&slot->head.state, ASPX_BUSY);
        aspx_request_post_start(slot);
        return MPI_SUCCESS;
    }
    call = call_of(*request); /* MPI knows what is wrong with it */
    return carry(&call, do_start);
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

static void do_pready(void *argument)
{
    struct request_call *call = argument;

    call->rc = aspx_behind.MPI_Pready(call->low, *real_of(call));
}

int aspx_offload_MPI_Pready(int partition, MPI_Request request)
{
    struct request_call call = call_of(request);

    call.low = partition;
    return carry(&call, do_pready);
}

static void do_pready_range(void *argument)
{
    struct request_call *call = argument;

    call->rc = aspx_behind.MPI_Pready_range(call->low, call->high,
                                            *real_of(call));
}

int aspx_offload_MPI_Pready_range(int low, int high, MPI_Request request)
{
    struct request_call call = call_of(request);

    call.low = low;
    call.high = high;
    return carry(&call, do_pready_range);
}

static void do_pready_list(void *argument)
{
    struct request_call *call = argument;

    call->rc = aspx_behind.MPI_Pready_list(call->high, call->list,
                                           *real_of(call));
}

int aspx_offload_MPI_Pready_list(int length, int list[], MPI_Request request)
{
    struct request_call call = call_of(request);

    call.high = length;
    call.list = list;
    return carry(&call, do_pready_list);
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
    return carry(&call, do_parrived);
}

/* Generalized requests. */

static void do_complete(void *argument)
{
    struct request_call *call = argument;

    call->rc = aspx_behind.MPI_Grequest_complete(*real_of(call));
}

int aspx_offload_MPI_Grequest_complete(MPI_Request request)
{
    struct request_call call = call_of(request);

    return carry(&call, do_complete);
}

static void do_set_lang(void *argument)
{
    struct request_call *call = argument;

    aspx_behind.MPII_Grequest_set_lang_f77(*real_of(call));
}

void aspx_offload_MPII_Grequest_set_lang_f77(MPI_Request request)
{
    struct request_call call = call_of(request);

    (void) carry(&call, do_set_lang);
}
