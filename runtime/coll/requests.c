/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "requests.h"

#include "machine.h"

#include "runtime/base/backoff.h"
#include "runtime/base/clock.h"
#include "runtime/base/table.h"

#include <sched.h>
#include <stdlib.h>

enum {
    POLL_TAG = 30023, /* nobody sends with it */
    QUICK_LOOKS = 20, /* before the clock is asked: less than 1 us */
    /* How often a rank that waits calls MPI, which may have to move its
     * messages, ns; and after a sleep that nobody ended. */
    POLL_NS = 20000,
    /* Of what one rank has given and nobody has taken: more makes a rank that
     * waits let others run first, for so long, once after each post. It never
     * waits for them to take it: they may wait for a message of this rank's. */
    AHEAD_BYTES = 4 << 20,
    AHEAD_US = 2000,
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
        ended_comm = posted->space->comm;
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
    aspx_coll_space_leave(posted->space);
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
    struct aspx_backoff backoff;
    uint64_t polled_ns;
    unsigned looks;
};

/* Where to sleep for it: NULL when it has ended. */
static struct aspx_event *event_of(struct aspx_coll_posted *posted)
{
    struct aspx_posts *posts = &posted->space->posts;
    struct aspx_event *event = NULL;

    pthread_mutex_lock(&posted->space->lock);
    if (!posted->post.has_ended) {
        uint32_t p = aspx_post_misses(posts, &posted->post);

        event =
            &posts->mailbox
                 .flags[p < posts->mailbox.participants ? p : posts->mailbox.me]
                 .event;
    }
    pthread_mutex_unlock(&posted->space->lock);
    return event;
}

static void sleep_for(struct aspx_coll_posted *posted, uint32_t us)
{
    struct aspx_event *event = event_of(posted);
    uint32_t key;

    if (!event)
        return;
    aspx_event_prepare_wait(event);
    key = aspx_event_key(event);
    aspx_coll_posted_step(posted->space);
    if (event_of(posted) == event)
        (void) aspx_event_wait(event, key, us);
    aspx_event_cancel_wait(event);
}

static void pause_for(struct aspx_coll_posted *posted, struct wait *wait)
{
    const struct aspx_wait_policy *policy =
        &aspx_wait_table[aspx_coll_shares_cpus() ? ASPX_WAIT_NODE_SLEEP
                                                 : ASPX_WAIT_NODE_YIELD];
    struct aspx_backoff_choice choice;
    uint64_t now;

    if (wait->looks++ < QUICK_LOOKS)
        return;
    now = aspx_clock_ns(CLOCK_MONOTONIC);
    choice = aspx_backoff_next(&wait->backoff, policy, false, now);
    if (now - wait->polled_ns > POLL_NS) {
        poll_mpi();
        wait->polled_ns = now;
    }
    if (choice.step == ASPX_YIELD)
        aspx_backoff_yield(&wait->backoff);
    else if (choice.step == ASPX_BLOCK)
        sleep_for(posted, choice.block_us);
}

static bool has_ended(struct aspx_coll_posted *posted)
{
    bool ended;

    aspx_coll_posted_step(posted->space);
    pthread_mutex_lock(&posted->space->lock);
    ended = posted->post.has_ended;
    pthread_mutex_unlock(&posted->space->lock);
    return ended;
}

/* The others of the node take what this rank has given when they run. */
static void let_others_catch_up(struct aspx_coll_posted *posted)
{
    struct timespec pause = {.tv_nsec = AHEAD_US * 1000L};
    struct aspx_coll_space *space = posted->space;
    bool ahead;

    pthread_mutex_lock(&space->lock);
    ahead = space->posts.mailbox.used > AHEAD_BYTES &&
            space->posts.begun != space->waited_at;
    space->waited_at = space->posts.begun;
    pthread_mutex_unlock(&space->lock);
    if (ahead)
        (void) nanosleep(&pause, NULL);
}

static void await(struct aspx_coll_posted *posted)
{
    struct wait wait = {.polled_ns = 0};

    while (!has_ended(posted))
        pause_for(posted, &wait);
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

static int coll_Wait(MPI_Request *request, MPI_Status *status)
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

static int coll_Test(MPI_Request *request, int *flag, MPI_Status *status)
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
static int coll_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
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

static int coll_Testall(int count, MPI_Request *requests, int *flag,
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

static int coll_Testany(int count, MPI_Request *requests, int *index, int *flag,
                        MPI_Status *status)
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

static int coll_Testsome(int count, MPI_Request *requests, int *ended,
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

/* MPI's own call would never see ours end, so as long as one is open, test. */
static int coll_Waitany(int count, MPI_Request *requests, int *index,
                        MPI_Status *status)
{
    struct wait wait = {.polled_ns = 0};
    struct aspx_coll_posted *left;
    int rc;

    while (!has_none() && requests &&
           (left = step_all(count, requests)) != NULL) {
        int flag = 0;

        rc = coll_Testany(count, requests, index, &flag, status);
        if (rc != MPI_SUCCESS || flag)
            return rc;
        pause_for(left, &wait);
    }
    forget_error();
    rc = aspx_coll_behind.MPI_Waitany(count, requests, index, status);
    return raise(rc, ended_rc);
}

static int coll_Waitsome(int count, MPI_Request *requests, int *ended,
                         int *indexes, MPI_Status *statuses)
{
    struct wait wait = {.polled_ns = 0};
    struct aspx_coll_posted *left;
    int rc;

    while (!has_none() && requests &&
           (left = step_all(count, requests)) != NULL) {
        rc = coll_Testsome(count, requests, ended, indexes, statuses);
        if (rc != MPI_SUCCESS || *ended != 0)
            return rc;
        pause_for(left, &wait);
    }
    forget_error();
    rc = aspx_coll_behind.MPI_Waitsome(count, requests, ended, indexes,
                                       statuses);
    return raise(rc, MPI_ERR_IN_STATUS);
}

static int coll_Request_get_status(MPI_Request request, int *flag,
                                   MPI_Status *status)
{
    if (!has_none())
        (void) step_all(1, &request);
    return aspx_coll_behind.MPI_Request_get_status(request, flag, status);
}

/* Only this steps a collective of ours where a program asks nothing else. */
#if MPICH_NUMVERSION >= 40300000
static int coll_Request_is_complete(MPI_Request request)
{
    if (!has_none())
        (void) step_all(1, &request);
    return aspx_coll_behind.MPIX_Request_is_complete(request);
}
#endif

/* MPI 4.1. */
#if MPI_VERSION * 100 + MPI_SUBVERSION >= 401
static int coll_Request_get_status_all(int count, MPI_Request requests[],
                                       int *flag, MPI_Status *statuses)
{
    if (!has_none() && requests)
        (void) step_all(count, requests);
    return aspx_coll_behind.MPI_Request_get_status_all(count, requests, flag,
                                                       statuses);
}

static int coll_Request_get_status_any(int count, MPI_Request requests[],
                                       int *index, int *flag,
                                       MPI_Status *status)
{
    if (!has_none() && requests)
        (void) step_all(count, requests);
    return aspx_coll_behind.MPI_Request_get_status_any(count, requests, index,
                                                       flag, status);
}

static int coll_Request_get_status_some(int count, MPI_Request requests[],
                                        int *ended, int *indexes,
                                        MPI_Status *statuses)
{
    if (!has_none() && requests)
        (void) step_all(count, requests);
    return aspx_coll_behind.MPI_Request_get_status_some(count, requests, ended,
                                                        indexes, statuses);
}
#endif

/* MPICH 4.2 takes requests that are not const, as the standard does not. */
#define OURS(front, NAME)                                                      \
    ((front)->MPI_##NAME = (__typeof__((front)->MPI_##NAME)) coll_##NAME)

void aspx_coll_requests_in_front(struct aspx_real *front)
{
    OURS(front, Wait);
    OURS(front, Test);
    OURS(front, Waitall);
    OURS(front, Testall);
    OURS(front, Waitany);
    OURS(front, Testany);
    OURS(front, Waitsome);
    OURS(front, Testsome);
    OURS(front, Request_get_status);
#if MPICH_NUMVERSION >= 40300000
    front->MPIX_Request_is_complete = coll_Request_is_complete;
#endif
#if MPI_VERSION * 100 + MPI_SUBVERSION >= 401
    OURS(front, Request_get_status_all);
    OURS(front, Request_get_status_any);
    OURS(front, Request_get_status_some);
#endif
}
