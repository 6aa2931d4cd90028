/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "publisher.h"

#include "runtime/base/clock.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

enum {
    PAUSE_US = 1000, /* between looks whether others have taken something */
    PATIENCE_S = 60, /* then the user is told once, as it may never end */
};

void aspx_coll_look(struct aspx_coll_space *space)
{
    uint64_t before = space->posts.mailbox.published;

    aspx_posts_look(&space->posts);
    if (space->by_ghosts && space->posts.mailbox.published != before)
        aspx_coll_ghosts->ring();
}

static void say(void)
{
    fprintf(
        stderr,
        "aspen: for %d s other ranks have not taken what this one has "
        "posted for non-blocking collectives, and there is no room or "
        "memory for more; should the program not go on, run it with coll=off\n",
        PATIENCE_S);
}

/* Returns whether something is still pending. */
static bool look(struct aspx_coll_space *space)
{
    bool pending;

    pthread_mutex_lock(&space->lock);
    aspx_coll_look(space);
    pending = aspx_posts_are_pending(&space->posts);
    space->is_published_later = pending;
    pthread_mutex_unlock(&space->lock);
    return pending;
}

static void *publish_all(void *arg)
{
    const struct timespec pause = {.tv_nsec = PAUSE_US * 1000};
    uint64_t begun = aspx_clock_ns(CLOCK_MONOTONIC);
    struct aspx_coll_space *space = arg;
    bool said = false;

    while (look(space)) {
        nanosleep(&pause, NULL);
        if (!said && aspx_clock_ns(CLOCK_MONOTONIC) - begun >
                         PATIENCE_S * UINT64_C(1000000000)) {
            say();
            said = true;
        }
    }
    aspx_coll_space_leave(space);
    return NULL;
}

/* Signals are the program's threads'. */
static bool start(struct aspx_coll_space *space)
{
    sigset_t all, before;
    pthread_t thread;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&thread, NULL, publish_all, space);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        pthread_detach(thread);
    return rc == 0;
}

void aspx_coll_publish_later(struct aspx_coll_space *space)
{
    bool is_needed;

    pthread_mutex_lock(&space->lock);
    is_needed = aspx_posts_are_pending(&space->posts) &&
                !space->is_published_later;
    if (is_needed) {
        space->holders++;
        space->is_published_later = true;
    }
    pthread_mutex_unlock(&space->lock);
    if (!is_needed || start(space))
        return;
    /* No thread: the next call that looks does it. */
    pthread_mutex_lock(&space->lock);
    space->is_published_later = false;
    pthread_mutex_unlock(&space->lock);
    aspx_coll_space_leave(space);
}
