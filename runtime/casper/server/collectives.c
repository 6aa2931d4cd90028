/* SPDX-License-Identifier: BSD-3-Clause */
/* Mailboxes and their operations; what an operation does is in exchange.h. */
#include "config.h"

#include "collectives.h"

#include "exchange.h"

#include "runtime/base/log.h"
#include "runtime/base/wait_table.h"
#include "runtime/coll/call/call.h"
#include "runtime/coll/call/reducible.h"

#include <stdio.h>
#include <stdlib.h>

struct aspx_real aspx_coll_behind; /* what runtime/coll calls MPI through */

struct service {
    struct aspx_exchange_mailbox mailbox;
    struct aspx_exchange *first, *last; /* not published, in their order */
    bool is_broken;                     /* only waits for its users to let go */
    struct service *next;
};

static struct {
    const struct aspx_engine *engine;
    const struct aspx_doorbell *doorbell;
    struct aspx_exchange_job job;
    struct service *services;
    uint32_t seen;    /* posts of the doorbell */
    uint32_t running; /* operations that wait for other ghosts */
    bool has_no_room;
    struct aspx_exchange *abandoned; /* messages may still use their memory */
    /* First tags of mailboxes that ghosts of other nodes have closed, perhaps
     * before this one was asked to serve them. */
    int *closed;
    size_t nclosed;
} all;

static int tag_most(void)
{
    int found = 0, *most;

    aspx_real.MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
    return found ? *most : 0;
}

void aspx_ghost_collectives_start(const struct aspx_engine *engine,
                                  const struct aspx_doorbell *doorbell)
{
    int me = 0, ghosts = 0;

    all.engine = engine;
    all.doorbell = doorbell;
    aspx_coll_behind = aspx_real;
    if (!engine->exchanges)
        return;
    aspx_coll_reducible_start();
    aspx_real.MPI_Comm_rank(engine->ghosts_comm, &me);
    aspx_real.MPI_Comm_size(engine->ghosts_comm, &ghosts);
    all.job = (struct aspx_exchange_job){
        .comm = engine->ghosts_comm,
        .users = (uint32_t) (engine->world->size_all - ghosts),
        .ghosts = (uint32_t) ghosts,
        .me = (uint32_t) me,
        .tag_most = tag_most(),
    };
}

/* ---- broken ones ----------------------------------------------------------------- */

/* Who owns what is wrong: a rank of the communicator, or this ghost. */
static void print_owner(const struct aspx_exchange_mailbox *mailbox, char *text,
                        size_t size)
{
    for (uint32_t r = 0; r < mailbox->ranks; r++)
        if (mailbox->node_of[r] == mailbox->node &&
            mailbox->member_of[r] == mailbox->mailbox.fault_of) {
            snprintf(text, size, "rank %u of its communicator", (unsigned) r);
            return;
        }
    snprintf(text, size, "this ghost");
}

static void say_broken(const struct service *service)
{
    char owner[64];

    print_owner(&service->mailbox, owner, sizeof(owner));
    aspx_log(
        ASPX_LOG_ERROR,
        "memory of a non-blocking collective was overwritten "
        "(%s, of %s); its mailbox is closed: a call that waits for it ends "
        "the job",
        service->mailbox.mailbox.fault, owner);
}

/* So small a message is gone when MPI_Isend returns, or soon after; its memory
 * is not used again. */
static void tell_ghost(uint32_t ghost, int tag)
{
    struct aspx_lock_message *message = calloc(1, sizeof(*message));
    MPI_Request request;

    if (!message)
        return;
    message->verb = ASPX_COLL_CLOSE;
    message->window = (uint64_t) tag;
    if (aspx_real.MPI_Isend(message, sizeof(*message), MPI_BYTE,
                            (int) all.engine->ghosts[ghost], ASPX_LOCK_TAG,
                            all.engine->locks, &request) == MPI_SUCCESS)
        aspx_real.MPI_Request_free(&request);
}

static void abandon(struct aspx_exchange *x)
{
    if (x->state != ASPX_EXCHANGE_RUNNING) {
        aspx_exchange_free(x);
        return;
    }
    all.running--;
    for (uint32_t i = 0; i < x->run.nrequests; i++) {
        (void) aspx_real.MPI_Cancel(&x->plan.requests[i]);
        (void) aspx_real.MPI_Request_free(&x->plan.requests[i]);
    }
    x->next = all.abandoned;
    all.abandoned = x;
}

/* Nothing of it is read or written any more but its state. */
static void break_off(struct service *service)
{
    struct aspx_mailbox *mailbox = &service->mailbox.mailbox;

    service->is_broken = true;
    while (service->first) {
        struct aspx_exchange *x = service->first;

        service->first = x->next;
        abandon(x);
    }
    atomic_store(&mailbox->nodes->state, ASPX_MAILBOX_BROKEN);
    aspx_event_notify(&mailbox->flags[mailbox->me].event);
}

/* Ghosts of other nodes may be in operations with this one. */
static void close_broken(struct service *service)
{
    const struct aspx_exchange_mailbox *mailbox = &service->mailbox;

    say_broken(service);
    break_off(service);
    for (uint32_t n = 0; n < mailbox->nodes; n++)
        if (n != mailbox->node)
            tell_ghost((uint32_t) mailbox->ghosts[n], mailbox->tag);
}

static bool was_closed(int tag)
{
    for (size_t i = 0; i < all.nclosed; i++)
        if (all.closed[i] == tag)
            return true;
    return false;
}

int aspx_ghost_collectives_close(uint64_t tag)
{
    int *more = realloc(all.closed, (all.nclosed + 1) * sizeof(*more));

    if (!more)
        return -1;
    all.closed = more;
    all.closed[all.nclosed++] = (int) tag;
    for (struct service *s = all.services; s; s = s->next)
        if (s->mailbox.tag == (int) tag && !s->is_broken)
            break_off(s);
    return 0;
}

/* ---- opened ------------------------------------------------------------------- */

static int say_unusable(const struct service *service)
{
    aspx_log(ASPX_LOG_ERROR,
             "memory of non-blocking collectives was overwritten "
             "before they began (%s)",
             service->mailbox.mailbox.fault);
    return -1;
}

int aspx_ghost_collectives_open(uint64_t offset, uint32_t me)
{
    const struct aspx_arena *arena = &all.engine->arena;
    struct service *service = calloc(1, sizeof(*service));
    uint64_t bytes = 0;
    int rc;

    if (!service)
        return -1;
    if (arena->base && offset < arena->bytes && offset % ASPX_MAILBOX_LINE == 0)
        bytes = arena->bytes - offset;
    rc = aspx_exchange_mailbox_see(&service->mailbox,
                                   bytes ? arena->base + offset : NULL, bytes,
                                   me, &all.job);
    if (rc > 0)
        rc = say_unusable(service);
    if (rc != 0) {
        free(service);
        return -1;
    }
    service->next = all.services;
    all.services = service;
    all.seen--; /* what was posted before */
    if (was_closed(service->mailbox.tag))
        break_off(service);
    return 0;
}

/* ---- what users have posted ---------------------------------------------------- */

static struct aspx_exchange *find(struct service *service, uint64_t number)
{
    for (struct aspx_exchange *x = service->first; x; x = x->next)
        if (x->number == number)
            return x;
    return NULL;
}

static struct aspx_exchange *begin(struct service *service, uint32_t member,
                                   const struct aspx_mailbox_view *view)
{
    struct aspx_exchange *x = aspx_exchange_begin(&service->mailbox, member,
                                                  view);

    if (!x)
        return NULL;
    if (service->first)
        service->last->next = x;
    else
        service->first = x;
    service->last = x;
    return x;
}

/* Operations from the window's end on wait for its begin, since they have the
 * same tags. */
static int look(struct service *service)
{
    struct aspx_mailbox *mailbox = &service->mailbox.mailbox;
    uint64_t end = mailbox->published + ASPX_MAILBOX_WINDOW;
    int any = 0;

    for (uint32_t p = 0; p < mailbox->me; p++)
        while (mailbox->seen[p] < end) {
            struct aspx_mailbox_view view;
            struct aspx_exchange *x;

            if (!aspx_mailbox_next(mailbox, p, &view))
                break;
            any = 1;
            if (view.number < mailbox->published)
                continue; /* it needed nothing of this user */
            x = find(service, view.number);
            if (!x)
                x = begin(service, p, &view);
            if (!x)
                return -1;
            x->from[p] = view;
        }
    return any;
}

/* ---- on ------------------------------------------------------------------------ */

static int move(struct service *service, struct aspx_exchange *x)
{
    enum aspx_exchange_state before = x->state;

    if (aspx_exchange_step(&service->mailbox, x) != 0)
        return -1;
    if (x->state == before)
        return 0;
    all.running += x->state == ASPX_EXCHANGE_RUNNING;
    all.running -= before == ASPX_EXCHANGE_RUNNING;
    return 1;
}

/* In the order in which they were posted: their entries have no other number.
 */
static int publish(struct service *service)
{
    int any = 0;

    while (service->first && service->first->state == ASPX_EXCHANGE_DONE) {
        struct aspx_exchange *x = service->first;

        if (!aspx_exchange_publish(&service->mailbox, x)) {
            all.has_no_room = true;
            return any;
        }
        service->first = x->next;
        aspx_exchange_free(x);
        any = 1;
    }
    return any;
}

static int serve(struct service *service)
{
    int any = 0, more;

    do {
        more = look(service);
        for (struct aspx_exchange *x = service->first; x && more >= 0;
             x = x->next) {
            int moved = move(service, x);

            more = moved < 0 ? -1 : more | moved;
        }
        if (more < 0)
            return -1;
        more |= publish(service);
        any |= more;
    } while (more);
    aspx_mailbox_pass(&service->mailbox.mailbox,
                      service->mailbox.mailbox.published);
    return any;
}

/* Asked before a look for what they posted: one that posts what it gets nothing
 * of, as a reduction to another rank, may let go right after it. */
static bool all_have_left(const struct service *service)
{
    const struct aspx_mailbox *mailbox = &service->mailbox.mailbox;

    return atomic_load(&mailbox->nodes->left) >= mailbox->me;
}

/* All users of the node have let go, and nothing of it is under way. */
static bool close_idle(struct service *service)
{
    struct aspx_exchange_mailbox *mailbox = &service->mailbox;

    if (service->first)
        return false;
    atomic_store(&mailbox->mailbox.nodes->state, ASPX_MAILBOX_CLOSED);
    aspx_exchange_mailbox_leave(mailbox);
    free(service);
    return true;
}

/* Returns whether there was something to do, or -1: no memory, or no schedule.
 */
static int serve_or_close(struct service *service)
{
    int moved = service->is_broken ? 0 : serve(service);

    if (!service->mailbox.mailbox.fault || service->is_broken)
        return moved;
    close_broken(service);
    return 1;
}

int aspx_ghost_collectives_step(void)
{
    uint32_t posts;
    int any = 0;

    if (!all.services)
        return 0;
    posts = atomic_load_explicit(&all.doorbell->posts, memory_order_acquire);
    if (posts == all.seen && all.running == 0 && !all.has_no_room)
        return 0;
    all.seen = posts;
    all.has_no_room = false;
    for (struct service **at = &all.services; *at;) {
        struct service *service = *at, *next = service->next;
        bool have_left = all_have_left(service);
        int moved = serve_or_close(service);

        if (moved < 0)
            return -1;
        any |= moved;
        if (have_left && close_idle(service))
            *at = next;
        else
            at = &service->next;
    }
    return any;
}

bool aspx_ghost_collectives_are_busy(void)
{
    return all.running > 0;
}

uint64_t aspx_ghost_collectives_due_us(void)
{
    return all.has_no_room ? aspx_wait_table[ASPX_WAIT_GHOST_NO_ROOM].max_us
                           : UINT64_MAX;
}
