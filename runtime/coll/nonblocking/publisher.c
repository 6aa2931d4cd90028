/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread looks at its context under the lock between two naps, and ends
 * when nothing is owed any more. It also notices a ghost that has broken off a
 * mailbox, which ends the job. */
#include "config.h"

#include "publisher.h"

#include "runtime/base/backoff.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/posted/look_thread.h"
#include "runtime/world/job_end.h"

enum { PATIENCE_S = 60 }; /* then the user is told once, as it may never end */

void aspx_coll_look(struct aspx_coll_context *context)
{
    uint64_t before = context->posts.mailbox.published;

    aspx_posts_look(&context->posts);
    if (context->by_ghosts && context->posts.mailbox.published != before)
        aspx_ghosts->ring();
}

/* A ghost closes a mailbox in order only when its users have let go of it. */
bool aspx_coll_is_broken(const struct aspx_coll_context *context)
{
    const struct aspx_mailbox *mailbox = &context->posts.mailbox;

    return mailbox->fault ||
           (context->by_ghosts &&
            atomic_load_explicit(&mailbox->nodes->state,
                                 memory_order_relaxed) != ASPX_MAILBOX_OPEN);
}

void aspx_coll_say_broken(const struct aspx_coll_context *context)
{
    const struct aspx_posts *posts = &context->posts;
    const struct aspx_mailbox *mailbox = &posts->mailbox;
    uint32_t rank = 0;

    while (mailbox->fault && rank + 1 < posts->ranks &&
           (posts->node_of[rank] != posts->node ||
            posts->member_of[rank] != mailbox->fault_of))
        rank++;
    if (mailbox->fault)
        aspx_log(ASPX_LOG_ERROR,
                 "memory of a non-blocking collective was overwritten "
                 "(%s of rank %u of its communicator): the job ends; run with "
                 "coll=off to find the store",
                 mailbox->fault, (unsigned) rank);
    else
        aspx_log(ASPX_LOG_ERROR,
                 "a ghost has closed the mailbox of a "
                 "communicator's non-blocking collectives, and says why: "
                 "the job ends");
    aspx_backoff_nap(ASPX_WAIT_PASS_ON);
}

static void say(void)
{
    aspx_log(ASPX_LOG_WARNING,
             "for %d s other ranks have not taken what this one has "
             "posted for non-blocking collectives, and there is no room or "
             "memory for more: they have not come so far, or memory is short; "
             "should "
             "the program not go on, run it with coll=off",
             PATIENCE_S);
}

/* Is the thread needed? The lock is held. A communicator that was freed, with
 * nothing left to be taken, passes all when it is let go of. */
static bool has_work(const struct aspx_coll_context *context)
{
    const struct aspx_posts *posts = &context->posts;

    return aspx_posts_are_pending(posts) ||
           (aspx_posts_may_fill(posts) &&
            (posts->first || context->comm != MPI_COMM_NULL));
}

enum work { NOTHING, WATCHES, PUBLISHES, IS_BROKEN };

static enum work look(struct aspx_coll_context *context)
{
    enum work work = NOTHING;

    pthread_mutex_lock(&context->lock);
    aspx_coll_look(context);
    if (aspx_mailbox_is_short(&context->posts.mailbox))
        aspx_posts_hold(&context->posts);
    if (has_work(context))
        work = aspx_posts_are_pending(&context->posts) ? PUBLISHES : WATCHES;
    if (work != NOTHING && aspx_coll_is_broken(context))
        work = IS_BROKEN;
    context->has_publisher = work != NOTHING;
    pthread_mutex_unlock(&context->lock);
    return work;
}

static bool step(void *arg)
{
    struct aspx_coll_context *context = arg;
    uint64_t now = aspx_clock_ns(CLOCK_MONOTONIC);
    enum work work = look(context);

    if (work == NOTHING) {
        aspx_coll_context_leave(context);
        return false;
    }
    /* The program's thread may be in a call of MPI that never ends now. */
    if (work == IS_BROKEN) {
        aspx_coll_say_broken(context);
        aspx_job_end(true);
    }
    if (work == WATCHES || context->pending_since == 0)
        context->pending_since = now;
    if (now - context->pending_since > PATIENCE_S * UINT64_C(1000000000) &&
        !context->has_said) {
        say();
        context->has_said = true;
    }
    return true;
}

void aspx_coll_publish_later(struct aspx_coll_context *context)
{
    bool is_needed;

    pthread_mutex_lock(&context->lock);
    is_needed = has_work(context) && !context->has_publisher;
    if (is_needed) {
        context->holders++;
        context->has_publisher = true;
        context->pending_since = 0;
        context->has_said = false;
    }
    pthread_mutex_unlock(&context->lock);
    if (!is_needed || aspx_look_thread_start(step, context))
        return;
    /* No thread: the next call that looks does it. */
    pthread_mutex_lock(&context->lock);
    context->has_publisher = false;
    pthread_mutex_unlock(&context->lock);
    aspx_coll_context_leave(context);
}
