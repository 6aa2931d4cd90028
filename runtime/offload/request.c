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

struct aspx_slot *aspx_request_adopt(MPI_Request *request)
{
    struct aspx_slot *slot = aspx_slot_find(*request);

    if (slot || *request == MPI_REQUEST_NULL)
        return slot;
    *request = aspx_slot_lazy(*request);
    return aspx_slot_find(*request);
}

static void refuse(void *code)
{
    *(int *) code = aspx_behind.MPI_Waitall(-1, NULL, NULL);
}

int aspx_request_refuse(void)
{
    int code;

    aspx_command_in_thread(refuse, &code);
    return code;
}

static void raise_code(void *code)
{
    aspx_behind.MPI_Comm_call_errhandler(MPI_COMM_WORLD, *(int *) code);
}

int aspx_request_raise(int code)
{
    aspx_command_in_thread(raise_code, &code);
    return code;
}

void aspx_request_miss(void)
{
    static _Thread_local unsigned misses ASPX_TLS;

    if (!aspx_offload_is_self())
        aspx_callback_look();
    aspx_command_nudge();
    if (aspx_offload_is_self())
        aspx_offload_turn();
    else if (++misses % 64 == 0)
        sched_yield();
}

/* What a call on one request needs, and what it gives. */
struct touch {
    struct aspx_slot *slot;
    MPI_Request real; /* where there is no slot */
    int rc;
    int *flag;
    MPI_Status *status;
    int low, high;
    int *list;
};

static struct touch touch_of(MPI_Request request)
{
    struct aspx_slot *slot = aspx_slot_find(request);

    return (struct touch){.slot = slot, .real = slot ? 0 : request};
}

static MPI_Request *real_of(struct touch *touch)
{
    return touch->slot ? &touch->slot->real : &touch->real;
}

static int carry(struct touch *touch, void (*work)(void *touch))
{
    aspx_command_in_thread(work, touch);
    return touch->rc;
}

/* MPI_Request_free, MPI_Cancel: MPI may have seen the end already. */
static void do_free(void *argument)
{
    struct touch *touch = argument;
    struct aspx_slot *slot = touch->slot;

    touch->rc = MPI_SUCCESS;
    if (slot && !slot->persistent && aspx_command_is_done(&slot->head))
        return;
    if (*real_of(touch) == MPI_REQUEST_NULL && slot)
        return; /* failed when it was posted */
    touch->rc = aspx_behind.MPI_Request_free(real_of(touch));
    if (slot && !slot->lazy && touch->rc == MPI_SUCCESS)
        aspx_pending_remove(slot);
}

int aspx_offload_MPI_Request_free(MPI_Request *request)
{
    struct touch touch;
    int rc;

    if (!request)
        return aspx_request_refuse();
    touch = touch_of(*request);
    if (aspx_in_direct_call && touch.slot && !touch.slot->lazy) {
        *request = MPI_REQUEST_NULL; /* it ends, and its slot is not used */
        return MPI_SUCCESS;          /* again: in flight it is not ours */
    }
    rc = carry(&touch, do_free);
    if (rc == MPI_SUCCESS) {
        *request = MPI_REQUEST_NULL;
        if (touch.slot) {
            aspx_raised_drop(aspx_raised_take(&touch.slot->head));
            touch.slot->expected = false; /* what is under way remains so */
            aspx_slot_give(touch.slot);
        }
    }
    return rc;
}

static void do_cancel(void *argument)
{
    struct touch *touch = argument;

    touch->rc = MPI_SUCCESS;
    if (!touch->slot || !aspx_command_is_done(&touch->slot->head))
        touch->rc = aspx_behind.MPI_Cancel(real_of(touch));
}

int aspx_offload_MPI_Cancel(MPI_Request *request)
{
    struct touch touch;

    if (!request)
        return aspx_request_refuse();
    touch = touch_of(*request);
    return carry(&touch, do_cancel);
}

static void do_peek(void *argument)
{
    struct touch *touch = argument;

    touch->rc = aspx_behind.MPI_Request_get_status(*real_of(touch), touch->flag,
                                                   touch->status);
}

int aspx_request_peek(struct aspx_slot *slot, int *flag, MPI_Status *status)
{
    struct touch touch = {.slot = slot, .flag = flag, .status = status};

    return carry(&touch, do_peek);
}

/* Persistent requests. */

static void run_start(struct aspx_command *head)
{
    struct aspx_slot *slot = aspx_slot_of(head);

    int flag = 0, rc = aspx_behind.MPI_Start(&slot->real);

    slot->status.MPI_ERROR = ASPX_ERROR_UNTOUCHED;
    /* To or from MPI_PROC_NULL it ends at once, and MPI_Testsome takes it for
     * one that was not started. */
    if (rc == MPI_SUCCESS)
        rc = aspx_behind.MPI_Test(&slot->real, &flag, &slot->status);
    if (flag)
        aspx_slot_ended(slot, rc);
    else
        aspx_slot_issued(slot, rc);
}

static void do_start(void *argument)
{
    struct touch *touch = argument;

    touch->rc = aspx_behind.MPI_Start(real_of(touch));
}

int aspx_offload_MPI_Start(MPI_Request *request)
{
    struct aspx_slot *slot = request ? aspx_slot_find(*request) : NULL;
    struct touch touch;

    if (!request)
        return aspx_request_refuse();
    if (slot && slot->persistent &&
        atomic_load(&slot->head.state) == ASPX_INACTIVE) {
        slot->head.run = run_start;
        slot->lazy = false; /* it was, if a guest started it before */
        atomic_store(&slot->head.state, ASPX_BUSY);
        aspx_slot_post_start(slot);
        return MPI_SUCCESS;
    }
    touch = touch_of(*request); /* MPI knows what is wrong with it */
    return carry(&touch, do_start);
}

int aspx_offload_MPI_Startall(int count, MPI_Request requests[])
{
    int rc = MPI_SUCCESS;

    if (count < 0 || (count > 0 && !requests))
        return aspx_request_refuse();
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        rc = aspx_offload_MPI_Start(&requests[i]);
    return rc;
}

/* Partitioned communication. */

static void do_pready(void *argument)
{
    struct touch *touch = argument;

    touch->rc = aspx_behind.MPI_Pready(touch->low, *real_of(touch));
}

int aspx_offload_MPI_Pready(int partition, MPI_Request request)
{
    struct touch touch = touch_of(request);

    touch.low = partition;
    return carry(&touch, do_pready);
}

static void do_pready_range(void *argument)
{
    struct touch *touch = argument;

    touch->rc = aspx_behind.MPI_Pready_range(touch->low, touch->high,
                                             *real_of(touch));
}

int aspx_offload_MPI_Pready_range(int low, int high, MPI_Request request)
{
    struct touch touch = touch_of(request);

    touch.low = low;
    touch.high = high;
    return carry(&touch, do_pready_range);
}

static void do_pready_list(void *argument)
{
    struct touch *touch = argument;

    touch->rc = aspx_behind.MPI_Pready_list(touch->high, touch->list,
                                            *real_of(touch));
}

int aspx_offload_MPI_Pready_list(int length, int list[], MPI_Request request)
{
    struct touch touch = touch_of(request);

    touch.high = length;
    touch.list = list;
    return carry(&touch, do_pready_list);
}

static void do_parrived(void *argument)
{
    struct touch *touch = argument;

    /* it may have ended since */
    if (touch->slot && aspx_command_is_done(&touch->slot->head)) {
        *touch->flag = 1;
        touch->rc = MPI_SUCCESS;
        return;
    }
    touch->rc = aspx_behind.MPI_Parrived(*real_of(touch), touch->low,
                                         touch->flag);
}

/* All partitions of what has ended have arrived; MPI's own request is inactive
 * by then. */
int aspx_offload_MPI_Parrived(MPI_Request request, int partition, int *flag)
{
    struct touch touch = touch_of(request);

    if (!flag)
        return aspx_request_refuse();
    touch.low = partition;
    touch.flag = flag;
    return carry(&touch, do_parrived);
}

/* Generalized requests. */

static void do_complete(void *argument)
{
    struct touch *touch = argument;

    touch->rc = aspx_behind.MPI_Grequest_complete(*real_of(touch));
}

int aspx_offload_MPI_Grequest_complete(MPI_Request request)
{
    struct touch touch = touch_of(request);

    return carry(&touch, do_complete);
}

static void do_set_lang(void *argument)
{
    struct touch *touch = argument;

    aspx_behind.MPII_Grequest_set_lang_f77(*real_of(touch));
}

void aspx_offload_MPII_Grequest_set_lang_f77(MPI_Request request)
{
    struct touch touch = touch_of(request);

    (void) carry(&touch, do_set_lang);
}
