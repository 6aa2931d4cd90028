/* SPDX-License-Identifier: BSD-3-Clause */
/* How the calls in front (posted/complete.h) take what came for a collective
 * that was posted, and where they sleep for it. */
#include "config.h"

#include "requests.h"

#include "runtime/base/wait_table.h"
#include "runtime/base/backoff.h"

#include <stdlib.h>
#include <string.h>

/* A rank that waits lets others run first, once after each post, if more
 * than this of what it gave is not taken yet. It does not wait until it is:
 * the others may wait for a message from this rank. */
enum { AHEAD_BYTES = 4 << 20 };

static struct aspx_coll_posted *posted_of(struct aspx_own_request *request)
{
    struct aspx_coll_posted *posted;

    memcpy(&posted, request->room, sizeof(posted));
    return posted;
}

static void step(struct aspx_own_request *request)
{
    aspx_coll_posted_step(posted_of(request)->context);
}

/* That of the participant whose entry is missing. */
static struct aspx_event *event(struct aspx_own_request *request)
{
    struct aspx_coll_posted *posted = posted_of(request);
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

/* The others of the node take what this rank has given when they run. */
static void let_others_catch_up(struct aspx_own_request *request)
{
    struct aspx_coll_context *context = posted_of(request)->context;
    bool ahead;

    pthread_mutex_lock(&context->lock);
    ahead = aspx_mailbox_uses_more(&context->posts.mailbox, AHEAD_BYTES) &&
            context->posts.begun != context->waited_at;
    context->waited_at = context->posts.begun;
    pthread_mutex_unlock(&context->lock);
    if (ahead)
        aspx_backoff_nap(ASPX_WAIT_COLL_AHEAD);
}

static void released(struct aspx_own_request *request)
{
    struct aspx_coll_posted *posted = posted_of(request);

    aspx_coll_context_leave(posted->context);
    free(posted);
}

static const struct aspx_own_kind kind = {
    .step = step,
    .event = event,
    .waited = let_others_catch_up,
    .released = released,
};

struct aspx_own_request *aspx_coll_request_make(struct aspx_coll_posted *posted)
{
    struct aspx_own_request *request = aspx_own_take(&kind);

    if (!request)
        return NULL;
    memcpy(request->room, &posted, sizeof(posted));
    aspx_own_begin(request);
    return request;
}

/* MPI defines of its status only the error. To free one that is active is an
 * error of the program's (MPI 4.0, 6.12); it is moved on and stays. */
void aspx_coll_request_end(struct aspx_coll_posted *posted)
{
    struct aspx_own_request *request = posted->request;

    request->source = request->tag = MPI_UNDEFINED;
    request->rc = posted->post.rc;
    request->comm = posted->context->comm;
    if (aspx_own_state_of(request) == ASPX_OWN_ACTIVE)
        aspx_own_end(request);
}
