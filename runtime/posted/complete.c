/* SPDX-License-Identifier: BSD-3-Clause */
/* How a request of ours ends, and how its end is waited for. */
#include "config.h"

#include "complete.h"

#include "posted.h"

#include "runtime/base/wait_table.h"

enum {
    POLL_TAG = 30023, /* nobody sends with it */
    QUICK_LOOKS = 20, /* before the clock is asked: less than 1 us */
    /* A rank that waits calls MPI this often, ns, and after each sleep that
     * nobody ended: MPI may have to move its messages. */
    POLL_NS = 20000,
};

/* ---- one of ours -------------------------------------------------------------- */

bool aspx_own_has_ended(struct aspx_own_request *request)
{
    if (aspx_own_state_of(request) != ASPX_OWN_ACTIVE)
        return true;
    request->kind->step(request);
    return aspx_own_state_of(request) != ASPX_OWN_ACTIVE;
}

void aspx_own_copy_status(const struct aspx_own_request *request,
                          MPI_Status *status)
{
    aspx_own_set_status(status, request->source, request->tag, request->bytes,
                        request->cancelled);
}

void aspx_own_set_empty(MPI_Status *status)
{
    aspx_own_set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
}

void aspx_own_complete(struct aspx_own_request *request)
{
    if (request->kind->completed)
        request->kind->completed(request);
}

int aspx_own_hand_out(struct aspx_own_request *request, MPI_Request *handle,
                      MPI_Status *status)
{
    int rc = request->rc;

    aspx_own_copy_status(request, status);
    if (request->persistent) {
        atomic_store_explicit(&request->state, ASPX_OWN_INACTIVE,
                              memory_order_relaxed);
    } else {
        *handle = MPI_REQUEST_NULL;
        aspx_own_give(request);
    }
    return rc;
}

int aspx_own_raise(MPI_Comm comm, int rc)
{
    if (rc != MPI_SUCCESS)
        aspx_posted_behind.MPI_Comm_call_errhandler(
            comm == MPI_COMM_NULL ? MPI_COMM_SELF : comm, rc);
    return rc;
}

int aspx_own_finish(struct aspx_own_request *request, MPI_Request *handle,
                    MPI_Status *status)
{
    MPI_Comm comm;

    aspx_own_complete(request);
    comm = request->comm;
    return aspx_own_raise(comm, aspx_own_hand_out(request, handle, status));
}

/* ---- waiting ------------------------------------------------------------------ */

/* On MPI_COMM_SELF MPICH would make no progress of other messages. */
void aspx_own_poll_mpi(void)
{
    int flag;

    aspx_posted_polls->MPI_Iprobe(MPI_ANY_SOURCE, POLL_TAG, MPI_COMM_WORLD,
                                  &flag, MPI_STATUS_IGNORE);
}

static void test_others(struct aspx_own_others *others)
{
    int flag = 0;

    others->rc = aspx_posted_behind.MPI_Testall(others->count, others->requests,
                                                &flag, others->statuses);
    others->have_ended = flag || others->rc != MPI_SUCCESS;
}

static struct aspx_event *event_of(void *arg)
{
    struct aspx_own_request *request = ((struct aspx_own_wait *) arg)->request;

    return aspx_own_state_of(request) == ASPX_OWN_ACTIVE
               ? request->kind->event(request)
               : NULL;
}

static bool look_at_one(void *arg)
{
    return aspx_own_has_ended(((struct aspx_own_wait *) arg)->request);
}

static void keep_mpi_going(void *arg, const struct aspx_await_pause *pause)
{
    struct aspx_own_wait *wait = arg;

    if (pause->now_ns - wait->polled_ns <= POLL_NS)
        return;
    if (wait->others && !wait->others->have_ended)
        test_others(wait->others);
    else
        aspx_own_poll_mpi();
    wait->polled_ns = pause->now_ns;
}

void aspx_own_await_by(aspx_await_look_f *look, void *what)
{
    const struct aspx_await how = {
        .look = look,
        .event = event_of,
        .meanwhile = keep_mpi_going,
        .row = &aspx_wait_table[aspx_posted_shares_cpus ? ASPX_WAIT_NODE_SLEEP
                                                        : ASPX_WAIT_NODE_YIELD],
        .quick_looks = QUICK_LOOKS,
    };

    aspx_await(&how, what);
}

void aspx_own_await_beside(struct aspx_own_request *request,
                           struct aspx_own_others *others)
{
    struct aspx_own_wait wait = {.request = request, .others = others};

    aspx_own_await_by(look_at_one, &wait);
    if (request->kind->waited)
        request->kind->waited(request);
}

void aspx_own_await(struct aspx_own_request *request)
{
    aspx_own_await_beside(request, NULL);
}
