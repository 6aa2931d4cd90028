/* SPDX-License-Identifier: BSD-3-Clause */
/* Mailboxes and their operations; what an operation does is in exchange.h. */
#include "config.h"

#include "collectives.h"

#include "exchange.h"

#include "runtime/coll/call.h"

#include <stdlib.h>

enum { NO_ROOM_US = 1000 }; /* until a look whether users have made some */

struct aspx_real aspx_coll_behind; /* what runtime/coll calls MPI through */

struct service {
    struct aspx_exchange_mailbox mailbox;
    struct aspx_exchange *first, *last; /* not published, in their order */
    struct service *next;
};

static struct {
    const struct aspx_engine *engine;
    const struct aspx_doorbell *doorbell;
    struct service *services;
    uint32_t seen;    /* posts of the doorbell */
    uint32_t running; /* operations that wait for other ghosts */
    bool has_no_room;
} all;

void aspx_ghost_collectives_start(const struct aspx_engine *engine,
                                  const struct aspx_doorbell *doorbell)
{
    all.engine = engine;
    all.doorbell = doorbell;
    aspx_coll_behind = aspx_real;
}

int aspx_ghost_collectives_open(uint64_t offset, uint32_t me)
{
    const struct aspx_arena *arena = &all.engine->arena;
    struct service *service = calloc(1, sizeof(*service));

    if (!service ||
        aspx_exchange_mailbox_see(&service->mailbox, arena->base + offset, me,
                                  all.engine->ghosts_comm) != 0) {
        free(service);
        return -1;
    }
    service->next = all.services;
    all.services = service;
    all.seen--; /* what was posted before */
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

static struct aspx_exchange *begin(struct service *service,
                                   const struct aspx_mailbox_entry *entry)
{
    struct aspx_exchange *x = aspx_exchange_begin(&service->mailbox, entry);

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
            const struct aspx_mailbox_entry *entry = aspx_mailbox_next(mailbox,
                                                                       p);
            struct aspx_exchange *x;

            if (!entry)
                break;
            any = 1;
            if (entry->number < mailbox->published)
                continue; /* it needed nothing of this user */
            x = find(service, entry->number);
            if (!x)
                x = begin(service, entry);
            if (!x)
                return -1;
            x->from[p] = entry;
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
    atomic_store(&mailbox->mailbox.nodes->closed, 1);
    aspx_exchange_mailbox_leave(mailbox);
    free(service);
    return true;
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
        int moved = serve(service);

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
    return all.has_no_room ? NO_ROOM_US : UINT64_MAX;
}
