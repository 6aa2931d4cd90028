/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's callbacks for generalized requests, the loops that wait for one request
 * or for several, and the calls in front of MPI's that complete requests. */
#include "config.h"

#include "requests.h"

#include "runtime/coll/machine/machine.h"

#include "runtime/base/await.h"
#include "runtime/base/table.h"

#include "mpi_wrap.h"

#include <sched.h>
#include <stdlib.h>

enum {
    POLL_TAG = 30023, /* nobody sends with it */
    QUICK_LOOKS = 20, /* before the clock is asked: less than 1 us */
    /* A rank that waits calls MPI this often, ns, and after each sleep that
     * nobody ended: MPI may have to move its messages. */
    POLL_NS = 20000,
    /* A rank that waits lets others run first, once after each post, if more
     * than this of what it gave is not taken yet. It does not wait until it is:
     * the others may wait for a message from this rank. */
    AHEAD_BYTES = 4 << 20,
};

static struct aspx_table table = ASPX_TABLE_INITIALIZER; /* of requests */
static _Atomic uint32_t open_requests;

/* The error of the request that MPI's call has just ended in this thread. */
static __thread int ended_rc __attribute__((tls_model("initial-exec")));
static __thread MPI_Comm ended_comm __attribute__((tls_model("initial-exec")));

static struct aspx_coll_posted *find(MPI_Request request)
{
    return request == MPI_REQUEST_NULL ? NULL
                                       : aspx_table_find(&table, request);
}

/* ---- what MPI asks ------------------------------------------------------------ */

/* MPI defines of its status only the error. */
static int query(void *extra, MPI_Status *status)
{
    const struct aspx_coll_posted *posted = extra;

    aspx_coll_behind.MPI_Status_set_elements(status, MPI_BYTE, 0);
    aspx_coll_behind.MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    status->MPI_ERROR = posted->post.rc;
    if (posted->post.rc != MPI_SUCCESS) {
        ended_rc = posted->post.rc;
        ended_comm = posted->context->comm;
    }
    return MPI_SUCCESS; /* else MPI would call another handler */
}

static int let_go(void *extra)
{
    struct aspx_coll_posted *posted = extra;

    aspx_table_remove(&table, posted->request, posted);
    atomic_fetch_sub(&open_requests, 1);
    if (!posted->post.has_ended)
        return MPI_SUCCESS; /* an error of the program's: it is still moved */
    aspx_coll_context_leave(posted->context);
    free(posted);
    return MPI_SUCCESS;
}

/* MPI 4.0, 6.12: it is an error to cancel one. */
static int cancel(void *extra, int complete)
{
    (void) extra;
    (void) complete;
    return MPI_SUCCESS;
}

int aspx_coll_request_start(struct aspx_coll_posted *posted)
{
    int rc = aspx_coll_behind.MPI_Grequest_start(query, let_go, cancel, posted,
                                                 &posted->request);

    if (rc != MPI_SUCCESS)
        return rc;
    atomic_fetch_add(&open_requests, 1);
    return aspx_table_insert(&table, posted->request, posted) == 0
               ? MPI_SUCCESS
               : MPI_ERR_NO_MEM;
}

/* ---- waiting ------------------------------------------------------------------ */

/* On MPI_COMM_SELF MPICH would make no progress of other messages. */
static void poll_mpi(void)
{
    int flag;

    aspx_coll_behind.MPI_Iprobe(MPI_ANY_SOURCE, POLL_TAG, MPI_COMM_WORLD, &flag,
                                MPI_STATUS_IGNORE);
}

struct wait {
    struct aspx_coll_posted *posted;
    uint64_t polled_ns; /* 0: not yet */
};

/* Where to sleep for it: NULL when it has ended. */
static struct aspx_event *event_of(void *arg)
{
    struct aspx_coll_posted *posted = ((struct wait *) arg)->posted;
    struct aspx_posts *posts = &posted->context->posts;
    struct aspx_event *event = NULL;

    pthread_mutex_lock(&posted->context->lock);
    if (!posted->post.has_ended) {
        uint32_t p = aspx_post_misses(posts, &posted->post);

        event =
            &posts->mailbox
                 .flags[p < posts->mailbox.participants ? p : posts->mailbox.me]
                 .event;
    }
    pthread_mutex_unlock(&posted->context->lock);
    return event;
}

static bool has_ended(struct aspx_coll_posted *posted)
{
    bool ended;

    aspx_coll_posted_step(posted->context);
    pthread_mutex_lock(&posted->context->lock);
    ended = posted->post.has_ended;
    pthread_mutex_unlock(&posted->context->lock);
    return ended;
}

static bool look_at_one(void *arg)
{
    return has_ended(((struct wait *) arg)->posted);
}

static void keep_mpi_going(void *arg, const struct aspx_await_pause *pause)
{
    struct wait *wait = arg;

    if (pause->now_ns - wait->polled_ns <= POLL_NS)
        return;
    poll_mpi();
    wait->polled_ns = pause->now_ns;
}

/* The others of the node take what this rank has given when they run. */
static void let_others_catch_up(struct aspx_coll_posted *posted)
{
    struct aspx_coll_context *context = posted->context;
    bool ahead;

    pthread_mutex_lock(&context->lock);
    ahead = context->posts.mailbox.used > AHEAD_BYTES &&
            context->posts.begun != context->waited_at;
    context->waited_at = context->posts.begun;
    pthread_mutex_unlock(&context->lock);
    if (ahead)
        aspx_backoff_nap(ASPX_WAIT_COLL_AHEAD);
}

/* The wait is the first member of what is looked at. */
static void await_by(aspx_await_look_f *look, void *what)
{
    const struct aspx_await how = {
        .look = look,
        .event = event_of,
        .meanwhile = keep_mpi_going,
        .row = &aspx_wait_table[aspx_coll_shares_cpus() ? ASPX_WAIT_NODE_SLEEP
                                                        : ASPX_WAIT_NODE_YIELD],
        .quick_looks = QUICK_LOOKS,
    };

    aspx_await(&how, what);
}

static void await(struct aspx_coll_posted *posted)
{
    struct wait wait = {.posted = posted};

    await_by(look_at_one, &wait);
    let_others_catch_up(posted);
}

/* ---- the calls ---------------------------------------------------------------- */

static bool has_none(void)
{
    return atomic_load_explicit(&open_requests, memory_order_relaxed) == 0;
}

/* Take what came for all of ours. Returns one that has not ended, or NULL. */
static struct aspx_coll_posted *step_all(int count, const MPI_Request *requests)
{
    struct aspx_coll_posted *left = NULL;

    for (int i = 0; i < count; i++) {
        struct aspx_coll_posted *posted = find(requests[i]);

        if (posted && !has_ended(posted))
            left = posted;
    }
    return left;
}

static void forget_error(void)
{
    ended_rc = MPI_SUCCESS;
}

/* An error of one of ours is raised on the program's communicator.
 *   seen  what the call is to return then */
static int raise(int rc, int seen)
{
    if (rc != MPI_SUCCESS || ended_rc == MPI_SUCCESS)
        return rc;
    aspx_coll_behind.MPI_Comm_call_errhandler(
        ended_comm == MPI_COMM_NULL ? MPI_COMM_SELF : ended_comm, ended_rc);
    return seen;
}

int aspx_coll_MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct aspx_coll_posted *posted = has_none() || !request ? NULL
                                                             : find(*request);
    int rc;

    if (!posted)
        return aspx_coll_behind.MPI_Wait(request, status);
    await(posted);
    forget_error();
    rc = aspx_coll_behind.MPI_Wait(request, status);
    return raise(rc, ended_rc);
}

int aspx_coll_MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    int rc;

    if (has_none() || !request)
        return aspx_coll_behind.MPI_Test(request, flag, status);
    (void) step_all(1, request);
    forget_error();
    rc = aspx_coll_behind.MPI_Test(request, flag, status);
    return raise(rc, ended_rc);
}

/* Meanwhile MPI moves the messages among them. */
int aspx_coll_MPI_Waitall(int count, MPI_Request *requests,
                          MPI_Status *statuses)
{
    int rc;

    if (has_none() || !requests)
        return aspx_coll_behind.MPI_Waitall(count, requests, statuses);
    for (int i = 0; i < count; i++) {
        struct aspx_coll_posted *posted = find(requests[i]);

        if (posted)
            await(posted);
    }
    forget_error();
    rc = aspx_coll_behind.MPI_Waitall(count, requests, statuses);
    return raise(rc, MPI_ERR_IN_STATUS);
}

int aspx_coll_MPI_Testall(int count, MPI_Request *requests, int *flag,
                          MPI_Status *statuses)
{
    int rc;

    if (has_none() || !requests)
        return aspx_coll_behind.MPI_Testall(count, requests, flag, statuses);
    (void) step_all(count, requests);
    forget_error();
    rc = aspx_coll_behind.MPI_Testall(count, requests, flag, statuses);
    return raise(rc, MPI_ERR_IN_STATUS);
}

int aspx_coll_MPI_Testany(int count, MPI_Request *requests, int *index,
                          int *flag, MPI_Status *status)
{
    int rc;

    if (has_none() || !requests)
        return aspx_coll_behind.MPI_Testany(count, requests, index, flag,
                                            status);
    (void) step_all(count, requests);
    forget_error();
    rc = aspx_coll_behind.MPI_Testany(count, requests, index, flag, status);
    return raise(rc, ended_rc);
}

int aspx_coll_MPI_Testsome(int count, MPI_Request *requests, int *ended,
                           int *indexes, MPI_Status *statuses)
{
    int rc;

    if (has_none() || !requests)
        return aspx_coll_behind.MPI_Testsome(count, requests, ended, indexes,
                                             statuses);
    (void) step_all(count, requests);
    forget_error();
    rc = aspx_coll_behind.MPI_Testsome(count, requests, ended, indexes,
                                       statuses);
    return raise(rc, MPI_ERR_IN_STATUS);
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
    bool ended; /* or it is an error */
};

static bool test_any(struct several *several)
{
    int flag = 0;

    several->rc = aspx_coll_MPI_Testany(several->count, several->requests,
                                        several->number, &flag,
                                        several->statuses);
    return several->rc != MPI_SUCCESS || flag;
}

static bool test_some(struct several *several)
{
    several->rc = aspx_coll_MPI_Testsome(several->count, several->requests,
                                         several->number, several->indexes,
                                         several->statuses);
    return several->rc != MPI_SUCCESS || *several->number != 0;
}

static bool look_at_several(void *arg)
{
    struct several *several = arg;

    several->wait.posted = has_none()
                               ? NULL
                               : step_all(several->count, several->requests);
    if (!several->wait.posted)
        return true;
    several->ended = several->test(several);
    return several->ended;
}

/* MPI's own call would never see ours end, so as long as one is open, test.
 * Returns whether that was all. */
static bool await_several(struct several *several)
{
    if (several->requests)
        await_by(look_at_several, several);
    return several->ended;
}

int aspx_coll_MPI_Waitany(int count, MPI_Request *requests, int *index,
                          MPI_Status *status)
{
    struct several several = {.count = count,
                              .requests = requests,
                              .number = index,
                              .statuses = status,
                              .test = test_any};
    int rc;

    if (await_several(&several))
        return several.rc;
    forget_error();
    rc = aspx_coll_behind.MPI_Waitany(count, requests, index, status);
    return raise(rc, ended_rc);
}

int aspx_coll_MPI_Waitsome(int count, MPI_Request *requests, int *ended,
                           int *indexes, MPI_Status *statuses)
{
    struct several several = {.count = count,
                              .requests = requests,
                              .number = ended,
                              .indexes = indexes,
                              .statuses = statuses,
                              .test = test_some};
    int rc;

    if (await_several(&several))
        return several.rc;
    forget_error();
    rc = aspx_coll_behind.MPI_Waitsome(count, requests, ended, indexes,
                                       statuses);
    return raise(rc, MPI_ERR_IN_STATUS);
}

int aspx_coll_MPI_Request_get_status(MPI_Request request, int *flag,
                                     MPI_Status *status)
{
    if (!has_none())
        (void) step_all(1, &request);
    return aspx_coll_behind.MPI_Request_get_status(request, flag, status);
}

/* Only this steps a collective of ours where a program asks nothing else. */
#if MPICH_NUMVERSION >= 40300000
int aspx_coll_MPIX_Request_is_complete(MPI_Request request)
{
    if (!has_none())
        (void) step_all(1, &request);
    return aspx_coll_behind.MPIX_Request_is_complete(request);
}
#endif

/* MPI 4.1. */
#if MPI_VERSION * 100 + MPI_SUBVERSION >= 401
/* MPICH 4.2 takes requests that are not const, as the standard does not. */
static MPI_Request *not_const(const MPI_Request *requests)
{
    return (MPI_Request *) (uintptr_t) requests;
}

int aspx_coll_MPI_Request_get_status_all(int count,
                                         const MPI_Request requests[],
                                         int *flag, MPI_Status *statuses)
{
    if (!has_none() && requests)
        (void) step_all(count, requests);
    return aspx_coll_behind.MPI_Request_get_status_all(
        count, not_const(requests), flag, statuses);
}

int aspx_coll_MPI_Request_get_status_any(int count,
                                         const MPI_Request requests[],
                                         int *index, int *flag,
                                         MPI_Status *status)
{
    if (!has_none() && requests)
        (void) step_all(count, requests);
    return aspx_coll_behind.MPI_Request_get_status_any(
        count, not_const(requests), index, flag, status);
}

int aspx_coll_MPI_Request_get_status_some(int count,
                                          const MPI_Request requests[],
                                          int *ended, int *indexes,
                                          MPI_Status *statuses)
{
    if (!has_none() && requests)
        (void) step_all(count, requests);
    return aspx_coll_behind.MPI_Request_get_status_some(
        count, not_const(requests), ended, indexes, statuses);
}
#endif
