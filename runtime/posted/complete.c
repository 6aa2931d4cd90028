/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls on requests, in front of MPI's. Each takes what came for requests
 * of ours, ends those, and hands the others to MPI in a copy of the array in
 * which ours are MPI_REQUEST_NULL. While one of ours is waited for MPI is
 * polled, as it may have messages to move. */
#include "config.h"

#include "posted.h"
#include "request.h"

#include "runtime/base/await.h"
#include "runtime/base/wait_table.h"

#include "mpi_behind.h"
#include "mpi_wrap.h"

#include <stdlib.h>
#include <string.h>

enum {
    POLL_TAG = 30023, /* nobody sends with it */
    QUICK_LOOKS = 20, /* before the clock is asked: less than 1 us */
    /* A rank that waits calls MPI this often, ns, and after each sleep that
     * nobody ended: MPI may have to move its messages. */
    POLL_NS = 20000,
    FEW = 32, /* requests of an array that is copied to the stack */
};

static bool has_none(void)
{
    return atomic_load_explicit(&aspx_own_requests, memory_order_relaxed) == 0;
}

/* ---- one of ours -------------------------------------------------------------- */

static bool is_active(const struct aspx_own_request *request)
{
    return request && aspx_own_state_of(request) != ASPX_OWN_INACTIVE;
}

static bool has_ended(struct aspx_own_request *request)
{
    if (aspx_own_state_of(request) != ASPX_OWN_ACTIVE)
        return true;
    request->kind->step(request);
    return aspx_own_state_of(request) != ASPX_OWN_ACTIVE;
}

static void copy_status(const struct aspx_own_request *request,
                        MPI_Status *status)
{
    aspx_own_set_status(status, request->source, request->tag, request->bytes,
                        request->cancelled);
}

static void set_empty(MPI_Status *status)
{
    aspx_own_set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
}

/* Nobody else has it now. */
static void complete(struct aspx_own_request *request)
{
    if (request->kind->completed)
        request->kind->completed(request);
}

/* Hand it out without raising its error. */
static int hand_out(struct aspx_own_request *request, MPI_Request *handle,
                    MPI_Status *status)
{
    int rc = request->rc;

    copy_status(request, status);
    if (request->persistent) {
        atomic_store_explicit(&request->state, ASPX_OWN_INACTIVE,
                              memory_order_relaxed);
    } else {
        *handle = MPI_REQUEST_NULL;
        aspx_own_give(request);
    }
    return rc;
}

static int raise(MPI_Comm comm, int rc)
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

    complete(request);
    comm = request->comm;
    return raise(comm, hand_out(request, handle, status));
}

/* ---- waiting ------------------------------------------------------------------ */

/* On MPI_COMM_SELF MPICH would make no progress of other messages. */
static void poll_mpi(void)
{
    int flag;

    aspx_posted_polls->MPI_Iprobe(MPI_ANY_SOURCE, POLL_TAG, MPI_COMM_WORLD,
                                  &flag, MPI_STATUS_IGNORE);
}

/* Requests of MPI's that are waited for beside ours: some are moved on only by
 * a call that names them, as those of MPI_File_iwrite_all are. */
struct others {
    int count;
    MPI_Request *requests;
    MPI_Status *statuses;
    bool have_ended;
    int rc; /* of these that have ended */
};

struct wait {
    struct aspx_own_request *request;
    struct others *others; /* NULL: none */
    uint64_t polled_ns;    /* 0: not yet */
};

static void test_others(struct others *others)
{
    int flag = 0;

    others->rc = aspx_posted_behind.MPI_Testall(others->count, others->requests,
                                                &flag, others->statuses);
    others->have_ended = flag || others->rc != MPI_SUCCESS;
}

static struct aspx_event *event_of(void *arg)
{
    struct aspx_own_request *request = ((struct wait *) arg)->request;

    return aspx_own_state_of(request) == ASPX_OWN_ACTIVE
               ? request->kind->event(request)
               : NULL;
}

static bool look_at_one(void *arg)
{
    return has_ended(((struct wait *) arg)->request);
}

static void keep_mpi_going(void *arg, const struct aspx_await_pause *pause)
{
    struct wait *wait = arg;

    if (pause->now_ns - wait->polled_ns <= POLL_NS)
        return;
    if (wait->others && !wait->others->have_ended)
        test_others(wait->others);
    else
        poll_mpi();
    wait->polled_ns = pause->now_ns;
}

/* The wait is the first member of what is looked at. */
static void await_by(aspx_await_look_f *look, void *what)
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

static void await_beside(struct aspx_own_request *request,
                         struct others *others)
{
    struct wait wait = {.request = request, .others = others};

    await_by(look_at_one, &wait);
    if (request->kind->waited)
        request->kind->waited(request);
}

void aspx_own_await(struct aspx_own_request *request)
{
    await_beside(request, NULL);
}

/* ---- one request -------------------------------------------------------------- */

static struct aspx_own_request *find(const MPI_Request *request)
{
    return has_none() || !request ? NULL : aspx_own_find(*request);
}

int aspx_posted_MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct aspx_own_request *own = find(request);

    if (!own)
        return aspx_posted_behind.MPI_Wait(request, status);
    if (!is_active(own)) {
        set_empty(status);
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
    *flag = has_ended(own);
    if (!is_active(own)) {
        set_empty(status);
        return MPI_SUCCESS;
    }
    if (*flag)
        return aspx_own_finish(own, request, status);
    poll_mpi();
    return MPI_SUCCESS;
}

int aspx_posted_MPI_Request_get_status(MPI_Request request, int *flag,
                                       MPI_Status *status)
{
    struct aspx_own_request *own = find(&request);

    if (!own)
        return aspx_posted_behind.MPI_Request_get_status(request, flag, status);
    *flag = has_ended(own);
    if (!is_active(own)) {
        set_empty(status);
    } else if (*flag) {
        copy_status(own, status);
        return raise(own->comm, own->rc);
    } else {
        poll_mpi();
    }
    return MPI_SUCCESS;
}

#if MPICH_NUMVERSION >= 40300000
int aspx_posted_MPIX_Request_is_complete(MPI_Request request)
{
    struct aspx_own_request *own = find(&request);

    return own ? has_ended(own)
               : aspx_posted_behind.MPIX_Request_is_complete(request);
}
#endif

int aspx_posted_MPI_Request_free(MPI_Request *request)
{
    struct aspx_own_request *own = find(request);

    if (!own)
        return aspx_posted_behind.MPI_Request_free(request);
    *request = MPI_REQUEST_NULL;
    (void) has_ended(own); /* as far as it can tell now */
    aspx_own_abandon(own);
    return MPI_SUCCESS;
}

int aspx_posted_MPI_Cancel(MPI_Request *request)
{
    struct aspx_own_request *own = find(request);

    if (!own)
        return aspx_posted_behind.MPI_Cancel(request);
    return own->kind->cancel && !has_ended(own) ? own->kind->cancel(own)
                                                : MPI_SUCCESS;
}

int aspx_posted_MPI_Start(MPI_Request *request)
{
    struct aspx_own_request *own = find(request);

    return own && own->kind->start &&
                   aspx_own_state_of(own) == ASPX_OWN_INACTIVE
               ? raise(own->comm, own->kind->start(own))
               : aspx_posted_behind.MPI_Start(request);
}

int aspx_posted_MPI_Startall(int count, MPI_Request requests[])
{
    int rc = MPI_SUCCESS;

    if (has_none() || count < 0 || !requests)
        return aspx_posted_behind.MPI_Startall(count, requests);
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        rc = aspx_posted_MPI_Start(&requests[i]);
    return rc;
}

/* ---- several ------------------------------------------------------------------ */

/* An array of the program's, and the same without ours. */
struct set {
    int count;
    MPI_Request *requests, *others;
    uint32_t own, open; /* ours: active; of these, not ended */
    bool has_others;
    struct aspx_own_request *left; /* the last that is open, or NULL */
    MPI_Request few[FEW];
};

/* Returns false where none is ours, or nothing can be told: the call is MPI's.
 */
static bool split(struct set *set, int count, MPI_Request *requests)
{
    bool any = false;

    if (has_none() || count <= 0 || !requests)
        return false;
    for (int i = 0; i < count && !any; i++)
        any = aspx_own_find(requests[i]);
    if (!any)
        return false;
    set->count = count;
    set->requests = requests;
    set->own = 0;
    set->has_others = false;
    set->others = count <= FEW ? set->few
                               : malloc((size_t) count * sizeof(*requests));
    if (!set->others) {
        (void) raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        abort(); /* which request is whose is lost */
    }
    for (int i = 0; i < count; i++) {
        struct aspx_own_request *own = aspx_own_find(requests[i]);

        set->others[i] = own ? MPI_REQUEST_NULL : requests[i];
        set->own += is_active(own);
        set->has_others |= set->others[i] != MPI_REQUEST_NULL;
    }
    return true;
}

/* Give the program what MPI made of its requests. */
static void join(struct set *set)
{
    for (int i = 0; i < set->count; i++)
        if (!aspx_own_find(set->requests[i]))
            set->requests[i] = set->others[i];
    if (set->others != set->few)
        free(set->others);
}

/* Take what came for all of ours. */
static void look_at_all(struct set *set)
{
    set->open = 0;
    set->left = NULL;
    for (int i = 0; i < set->count; i++) {
        struct aspx_own_request *own = aspx_own_find(set->requests[i]);

        if (own && !has_ended(own)) {
            set->open++;
            set->left = own;
        }
    }
}

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/* Hand out one of those that have ended; its error is in its status. Returns
 * whether it failed. */
static bool finish_among(struct aspx_own_request *own, MPI_Request *request,
                         MPI_Status *status, MPI_Comm *comm_p)
{
    MPI_Comm comm;
    int rc;

    complete(own);
    comm = own->comm;
    rc = hand_out(own, request, status);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = rc;
    if (rc != MPI_SUCCESS)
        *comm_p = comm;
    return rc != MPI_SUCCESS;
}

/* All of ours have ended, and MPI has said rc of the others. */
static int finish_all(struct set *set, MPI_Status *statuses, int rc)
{
    MPI_Comm comm = MPI_COMM_NULL;
    bool failed = false;

    for (int i = 0; i < set->count; i++) {
        struct aspx_own_request *own = aspx_own_find(set->requests[i]);

        if (is_active(own))
            failed |= finish_among(own, &set->requests[i],
                                   status_at(statuses, i), &comm);
        else if (rc == MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE)
            statuses[i].MPI_ERROR = MPI_SUCCESS; /* in case ours has failed */
    }
    return failed && rc == MPI_SUCCESS ? raise(comm, MPI_ERR_IN_STATUS) : rc;
}

int aspx_posted_MPI_Waitall(int count, MPI_Request *requests,
                            MPI_Status *statuses)
{
    struct set set;
    struct others others;
    int rc;

    if (!split(&set, count, requests))
        return aspx_posted_behind.MPI_Waitall(count, requests, statuses);
    others = (struct others){count, set.others, statuses, false, MPI_SUCCESS};
    for (int i = 0; i < count; i++) {
        struct aspx_own_request *own = aspx_own_find(requests[i]);

        if (is_active(own))
            await_beside(own, set.has_others ? &others : NULL);
    }
    rc = others.have_ended
             ? others.rc
             : aspx_posted_behind.MPI_Waitall(count, set.others, statuses);
    rc = finish_all(&set, statuses, rc);
    join(&set);
    return rc;
}

int aspx_posted_MPI_Testall(int count, MPI_Request *requests, int *flag,
                            MPI_Status *statuses)
{
    struct set set;
    int rc = MPI_SUCCESS;

    if (!split(&set, count, requests))
        return aspx_posted_behind.MPI_Testall(count, requests, flag, statuses);
    look_at_all(&set);
    *flag = set.open == 0;
    if (*flag)
        rc = aspx_posted_behind.MPI_Testall(count, set.others, flag, statuses);
    else
        poll_mpi();
    if (*flag)
        rc = finish_all(&set, statuses, rc);
    join(&set);
    return rc;
}

/* The first of ours that has ended, or -1. */
static int find_ended(const struct set *set)
{
    for (int i = 0; i < set->count; i++) {
        struct aspx_own_request *own = aspx_own_find(set->requests[i]);

        if (own && aspx_own_state_of(own) == ASPX_OWN_ENDED)
            return i;
    }
    return -1;
}

int aspx_posted_MPI_Testany(int count, MPI_Request *requests, int *index,
                            int *flag, MPI_Status *status)
{
    struct set set;
    int rc = MPI_SUCCESS, i;

    if (!split(&set, count, requests))
        return aspx_posted_behind.MPI_Testany(count, requests, index, flag,
                                              status);
    look_at_all(&set);
    i = find_ended(&set);
    if (i >= 0) {
        *index = i;
        *flag = 1;
        rc = aspx_own_finish(aspx_own_find(requests[i]), &requests[i], status);
    } else {
        rc = aspx_posted_behind.MPI_Testany(count, set.others, index, flag,
                                            status);
        if (*index == MPI_UNDEFINED && set.open > 0)
            *flag = 0;
        if (!set.has_others)
            poll_mpi();
    }
    join(&set);
    return rc;
}

static int some_of_ours(struct set *set, int *ended, int *indexes,
                        MPI_Status *statuses, int rc)
{
    MPI_Comm comm = MPI_COMM_NULL;
    bool failed = false;
    int n = *ended == MPI_UNDEFINED ? 0 : *ended;

    for (int i = 0; i < set->count; i++) {
        struct aspx_own_request *own = aspx_own_find(set->requests[i]);

        if (!own || aspx_own_state_of(own) != ASPX_OWN_ENDED)
            continue;
        failed |= finish_among(own, &set->requests[i], status_at(statuses, n),
                               &comm);
        indexes[n++] = i;
    }
    if (failed && rc == MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE)
        for (int i = 0; *ended != MPI_UNDEFINED && i < *ended; i++)
            statuses[i].MPI_ERROR = MPI_SUCCESS; /* MPI's: none has failed */
    if (n > 0 || set->own > 0)
        *ended = n;
    return failed && rc == MPI_SUCCESS ? raise(comm, MPI_ERR_IN_STATUS) : rc;
}

int aspx_posted_MPI_Testsome(int count, MPI_Request *requests, int *ended,
                             int *indexes, MPI_Status *statuses)
{
    struct set set;
    int rc;

    if (!split(&set, count, requests))
        return aspx_posted_behind.MPI_Testsome(count, requests, ended, indexes,
                                               statuses);
    look_at_all(&set);
    rc = aspx_posted_behind.MPI_Testsome(count, set.others, ended, indexes,
                                         statuses);
    if (!set.has_others && set.open == set.own)
        poll_mpi();
    rc = some_of_ours(&set, ended, indexes, statuses, rc);
    join(&set);
    return rc;
}

/* For any of several requests. */
struct several {
    struct wait wait;
    int count;
    MPI_Request *requests;
    int *number, *indexes; /* number: index or how many */
    MPI_Status *statuses;
    bool (*test)(struct several *several);
    int rc;
};

static bool test_any(struct several *several)
{
    int flag = 0;

    several->rc = aspx_posted_MPI_Testany(several->count, several->requests,
                                          several->number, &flag,
                                          several->statuses);
    return several->rc != MPI_SUCCESS || flag;
}

static bool test_some(struct several *several)
{
    several->rc = aspx_posted_MPI_Testsome(several->count, several->requests,
                                           several->number, several->indexes,
                                           several->statuses);
    return several->rc != MPI_SUCCESS || *several->number != 0;
}

static bool look_at_several(void *arg)
{
    struct several *several = arg;

    return several->test(several);
}

/* MPI's own call would never see ours end, so test. Returns whether any of them
 * is ours, and active. */
static bool await_several(struct several *several)
{
    for (int i = 0; !has_none() && several->requests && i < several->count;
         i++) {
        struct aspx_own_request *own = aspx_own_find(several->requests[i]);

        if (is_active(own))
            several->wait.request = own;
    }
    if (!several->wait.request)
        return false;
    await_by(look_at_several, several);
    return true;
}

int aspx_posted_MPI_Waitany(int count, MPI_Request *requests, int *index,
                            MPI_Status *status)
{
    struct several several = {.count = count,
                              .requests = requests,
                              .number = index,
                              .statuses = status,
                              .test = test_any};
    struct set set;
    int rc;

    if (await_several(&several))
        return several.rc;
    if (!split(&set, count, requests))
        return aspx_posted_behind.MPI_Waitany(count, requests, index, status);
    rc = aspx_posted_behind.MPI_Waitany(count, set.others, index, status);
    join(&set);
    return rc;
}

int aspx_posted_MPI_Waitsome(int count, MPI_Request *requests, int *ended,
                             int *indexes, MPI_Status *statuses)
{
    struct several several = {.count = count,
                              .requests = requests,
                              .number = ended,
                              .indexes = indexes,
                              .statuses = statuses,
                              .test = test_some};
    struct set set;
    int rc;

    if (await_several(&several))
        return several.rc;
    if (!split(&set, count, requests))
        return aspx_posted_behind.MPI_Waitsome(count, requests, ended, indexes,
                                               statuses);
    rc = aspx_posted_behind.MPI_Waitsome(count, set.others, ended, indexes,
                                         statuses);
    join(&set);
    return rc;
}

/* ---- MPI 4.1 ------------------------------------------------------------------ */

#if MPI_VERSION * 100 + MPI_SUBVERSION >= 401
/* MPICH 4.2 takes requests that are not const, as the standard does not; they
 * stay as they are. */
static MPI_Request *not_const(const MPI_Request *requests)
{
    return (MPI_Request *) (uintptr_t) requests;
}

static void drop(struct set *set)
{
    if (set->others != set->few)
        free(set->others);
}

int aspx_posted_MPI_Request_get_status_all(int count,
                                           const MPI_Request requests[],
                                           int *flag, MPI_Status *statuses)
{
    struct set set;
    int rc = MPI_SUCCESS;

    if (!split(&set, count, not_const(requests)))
        return aspx_posted_behind.MPI_Request_get_status_all(
            count, not_const(requests), flag, statuses);
    look_at_all(&set);
    *flag = set.open == 0;
    if (*flag)
        rc = aspx_posted_behind.MPI_Request_get_status_all(count, set.others,
                                                           flag, statuses);
    for (int i = 0; *flag && i < count; i++) {
        struct aspx_own_request *own = aspx_own_find(requests[i]);

        if (is_active(own))
            copy_status(own, status_at(statuses, i));
    }
    drop(&set);
    return rc;
}

int aspx_posted_MPI_Request_get_status_any(int count,
                                           const MPI_Request requests[],
                                           int *index, int *flag,
                                           MPI_Status *status)
{
    struct set set;
    int rc = MPI_SUCCESS, i;

    if (!split(&set, count, not_const(requests)))
        return aspx_posted_behind.MPI_Request_get_status_any(
            count, not_const(requests), index, flag, status);
    look_at_all(&set);
    i = find_ended(&set);
    if (i >= 0) {
        *index = i;
        *flag = 1;
        copy_status(aspx_own_find(requests[i]), status);
    } else {
        rc = aspx_posted_behind.MPI_Request_get_status_any(count, set.others,
                                                           index, flag, status);
        *flag &= *index != MPI_UNDEFINED || set.open == 0;
    }
    drop(&set);
    return rc;
}

int aspx_posted_MPI_Request_get_status_some(int count,
                                            const MPI_Request requests[],
                                            int *ended, int *indexes,
                                            MPI_Status *statuses)
{
    struct set set;
    int rc, n;

    if (!split(&set, count, not_const(requests)))
        return aspx_posted_behind.MPI_Request_get_status_some(
            count, not_const(requests), ended, indexes, statuses);
    look_at_all(&set);
    rc = aspx_posted_behind.MPI_Request_get_status_some(
        count, set.others, ended, indexes, statuses);
    n = *ended == MPI_UNDEFINED ? 0 : *ended;
    for (int i = 0; i < count; i++) {
        struct aspx_own_request *own = aspx_own_find(requests[i]);

        if (!own || aspx_own_state_of(own) != ASPX_OWN_ENDED)
            continue;
        copy_status(own, status_at(statuses, n));
        indexes[n++] = i;
    }
    if (n > 0 || set.own > 0)
        *ended = n;
    drop(&set);
    return rc;
}
#endif
