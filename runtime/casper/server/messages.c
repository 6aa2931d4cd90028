/* SPDX-License-Identifier: BSD-3-Clause */
/* What each post of a user becomes; and the part of the ghost's loop that looks
 * for posts. A message is in one of these places:
 *
 *   sent --> unexpected --> matched --> delivered, or transferred --> over
 *                |
 *                +--> claimed by a probe --> received */
#include "config.h"

#include "messages.h"

#include "message_transfer.h"
#include "message_wire.h"

#include "runtime/base/log.h"
#include "runtime/base/wait_table.h"
#include "runtime/mpi/real.h"

#include <stdlib.h>
#include <string.h>

/* Posts of a rank that are read in a round, near 1 ms: the other ranks wait
 * meanwhile, and all else that the ghost does. */
enum { ROUND = 1024 };

static uint32_t seen; /* posts of the doorbell */

#define ALL aspx_ghost_messages

/* ---- messages, matched -------------------------------------------------------- */

static int answer_sync(struct aspx_ghost_message *message)
{
    const struct aspx_wire wire = {.verb = ASPX_WIRE_MATCHED,
                                   .number = message->number};

    if (!(message->flags & ASPX_P2P_SYNC))
        return 0;
    return message->ghost < 0 ? aspx_ghost_send_over(message->send)
                              : aspx_wire_send(message->ghost, &wire, NULL, 0);
}

/* A small one: its data are here. */
static int deliver(struct aspx_ghost_message *message,
                   struct aspx_ghost_receive *receive, const void *data)
{
    struct aspx_p2p_news news = aspx_ghost_news_of(receive, message,
                                                   ASPX_P2P_RECEIVED);
    uint64_t bytes = message->bytes < receive->room ? message->bytes
                                                    : receive->room;
    int rc;

    if (receive->offset != ASPX_P2P_NOWHERE) {
        memcpy(ALL.engine->arena.base + receive->offset, data, bytes);
        news.flags |= ASPX_P2P_DIRECT;
        bytes = 0;
    }
    rc = aspx_ghost_tell(receive->user, &news, data, bytes);
    if (rc == 0)
        rc = answer_sync(message);
    aspx_ghost_receive_free(receive);
    aspx_ghost_message_free(message);
    return rc;
}

/* Messages from elsewhere that are among the unexpected, and whose senders wait
 * for them: they can be cancelled. */
static struct aspx_ghost_message *held;

static void hold(struct aspx_ghost_message *message)
{
    if (message->is_held || message->ghost < 0 ||
        !(message->flags & (ASPX_P2P_APART | ASPX_P2P_SYNC)))
        return;
    message->is_held = true;
    message->held_prev = NULL;
    message->held_next = held;
    if (held)
        held->held_prev = message;
    held = message;
}

static void let_go(struct aspx_ghost_message *message)
{
    if (message->send)
        message->send->message = NULL;
    if (!message->is_held)
        return;
    message->is_held = false;
    if (message->held_prev)
        message->held_prev->held_next = message->held_next;
    else
        held = message->held_next;
    if (message->held_next)
        message->held_next->held_prev = message->held_prev;
}

int aspx_ghost_cancel(int32_t ghost, uint32_t number)
{
    const struct aspx_wire wire = {.verb = ASPX_WIRE_CANCELLED,
                                   .number = number};
    struct aspx_ghost_message *message = held;

    while (message && (message->ghost != ghost || message->number != number))
        message = message->held_next;
    if (!message)
        return 0; /* it is matched */
    let_go(message);
    aspx_match_remove_message(&ALL.match, &message->match);
    aspx_ghost_message_free(message);
    return aspx_wire_send(ghost, &wire, NULL, 0);
}

static int hand_over(struct aspx_ghost_message *message,
                     struct aspx_ghost_receive *receive, const void *data)
{
    let_go(message);
    aspx_ghost_receive_unlist(receive);
    if (message->flags & ASPX_P2P_APART)
        return aspx_transfer_begin(message, receive);
    return deliver(message, receive, data);
}

/* What waits keeps its data, which are the sender's to use again. */
static int keep_data(struct aspx_ghost_message *message, const void *data)
{
    if (message->flags & ASPX_P2P_APART || message->bytes == 0 || message->data)
        return 0;
    message->data = malloc(message->bytes);
    if (!message->data)
        return -1;
    memcpy(message->data, data, message->bytes);
    return 0;
}

static int answer_probe(struct aspx_ghost_receive *probe,
                        struct aspx_ghost_message *message)
{
    struct aspx_p2p_news news = aspx_ghost_news_of(probe, message,
                                                   ASPX_P2P_FOUND);
    struct aspx_ghost_user *user = probe->user;

    if (probe->flags & ASPX_P2P_CLAIMS) {
        let_go(message);
        news.offset = aspx_ghost_claim(user, message);
    }
    aspx_ghost_receive_free(probe);
    return aspx_ghost_tell(user, &news, NULL, 0);
}

int aspx_ghost_arrive(struct aspx_ghost_message *message, const void *data)
{
    struct aspx_match_receive *taken;

    for (;;) {
        struct aspx_ghost_receive *receive;
        bool claims;

        if (aspx_match_arrive(&ALL.match, &message->match, &taken) != 0)
            return -1;
        receive = (struct aspx_ghost_receive *) (void *) taken;
        if (!receive) {
            hold(message);
            return keep_data(message, data);
        }
        if (receive->verb != ASPX_P2P_PROBE)
            return hand_over(message, receive, data);
        claims = receive->flags & ASPX_P2P_CLAIMS;
        if (claims && keep_data(message, data) != 0)
            return -1;
        if (answer_probe(receive, message) != 0)
            return -1;
        if (claims)
            return 0;
    }
}

/* ---- posts -------------------------------------------------------------------- */

/* A user, or a store of its program, has written what no correct one does. */
static int break_off(struct aspx_ghost_user *user, const char *field)
{
    aspx_log(ASPX_LOG_ERROR,
             "memory between rank %u and the ghost that carries its messages "
             "was overwritten (%s): the rank ends the job",
             (unsigned) user->rank, field);
    user->is_broken = true;
    atomic_store(&user->mailbox.nodes->state, ASPX_MAILBOX_BROKEN);
    aspx_event_notify(&user->mailbox.flags[ASPX_P2P_GHOST].event);
    return 0;
}

static int32_t ghost_of(uint32_t user)
{
    const struct aspx_world *world = ALL.engine->world;
    uint32_t node = world->peers[world->user_to_world[user]].node;

    return node == world->node ? -1 : (int32_t) ALL.engine->first_ghost[node];
}

static bool read_place(const struct aspx_mailbox_view *view,
                       const struct aspx_p2p_post *post,
                       struct aspx_p2p_place *place)
{
    if (view->bytes != sizeof(*place))
        return false;
    memcpy(place, view->data, sizeof(*place));
    return place->offset == ASPX_P2P_NOWHERE ||
           aspx_ghost_may_touch(place->offset, post->bytes);
}

/* To a receiver whose ghost is another one. */
static int send_away(struct aspx_ghost_send *send, int32_t ghost,
                     const struct aspx_p2p_post *post, const void *data)
{
    const struct aspx_wire wire = {
        .verb = ASPX_WIRE_ENVELOPE,
        .flags = post->flags,
        .number = send ? send->number : 0,
        .comm = post->comm,
        .to = post->to,
        .source = post->source,
        .tag = post->tag,
        .bytes = post->bytes,
    };

    if (send)
        send->ghost = ghost;
    return aspx_wire_send(ghost, &wire, data,
                          post->flags & ASPX_P2P_APART ? 0 : post->bytes);
}

static int send_here(struct aspx_ghost_send *send,
                     const struct aspx_p2p_post *post, const void *data)
{
    struct aspx_ghost_message *message = calloc(1, sizeof(*message));

    if (!message)
        return -1;
    message->match.envelope = (struct aspx_match_envelope){
        post->comm, post->to, post->source, post->tag};
    message->bytes = post->bytes;
    message->flags = post->flags;
    message->ghost = -1;
    message->send = send;
    if (send)
        send->message = message;
    return aspx_ghost_arrive(message, data);
}

static int take_send(struct aspx_ghost_user *user,
                     const struct aspx_p2p_post *post,
                     const struct aspx_mailbox_view *view)
{
    struct aspx_p2p_place place = {0, ASPX_P2P_NOWHERE};
    struct aspx_ghost_send *send = NULL;
    int32_t ghost;

    if (post->to >= (uint32_t) ALL.engine->world->size_users)
        return break_off(user, "to");
    if (post->flags & ASPX_P2P_APART
            ? !read_place(view, post, &place)
            : view->bytes != post->bytes || post->bytes > ASPX_P2P_SMALL)
        return break_off(user, "bytes");
    ghost = ghost_of(post->to);
    if (ghost < 0 && !ALL.by_rank[post->to])
        return break_off(user, "to");
    if (post->flags & (ASPX_P2P_APART | ASPX_P2P_SYNC)) {
        send = aspx_ghost_send_new(user, post, &place);
        if (!send)
            return -1;
    }
    return ghost < 0 ? send_here(send, post, view->data)
                     : send_away(send, ghost, post, view->data);
}

static struct aspx_ghost_receive *receive_of(struct aspx_ghost_user *user,
                                             const struct aspx_p2p_post *post)
{
    struct aspx_ghost_receive *receive = calloc(1, sizeof(*receive));

    if (!receive)
        return NULL;
    receive->match.envelope = (struct aspx_match_envelope){
        post->comm, user->rank, post->source, post->tag};
    receive->user = user;
    receive->request = post->request;
    receive->verb = post->verb;
    receive->flags = post->flags;
    receive->room = post->bytes;
    receive->offset = ASPX_P2P_NOWHERE;
    return receive;
}

static void list(struct aspx_ghost_receive *receive)
{
    struct aspx_ghost_user *user = receive->user;

    receive->next = user->receives;
    if (receive->next)
        receive->next->prev = receive;
    user->receives = receive;
}

static struct aspx_ghost_message *message_at(struct aspx_match_message *match)
{
    return (struct aspx_ghost_message *) (void *) match;
}

static int take_receive(struct aspx_ghost_user *user,
                        const struct aspx_p2p_post *post,
                        const struct aspx_mailbox_view *view)
{
    struct aspx_ghost_receive *receive = receive_of(user, post);
    struct aspx_p2p_place place = {0, ASPX_P2P_NOWHERE};
    struct aspx_match_message *found;

    if (!receive)
        return -1;
    if (post->flags & ASPX_P2P_APART && !read_place(view, post, &place)) {
        free(receive);
        return break_off(user, "place");
    }
    receive->offset = place.offset;
    if (post->verb == ASPX_P2P_RECEIVE_CLAIMED) {
        struct aspx_ghost_message *claimed = aspx_ghost_claimed(user,
                                                                post->comm);

        if (claimed)
            return hand_over(claimed, receive, claimed->data);
        free(receive);
        return break_off(user, "claim");
    }
    if (aspx_match_post(&ALL.match, &receive->match, &found) != 0)
        return -1;
    if (found)
        return hand_over(message_at(found), receive, message_at(found)->data);
    list(receive);
    return 0;
}

/* It ends without a message. */
static int end_receive(struct aspx_ghost_receive *receive,
                       enum aspx_p2p_news_verb verb)
{
    const struct aspx_p2p_news news = {.verb = (uint8_t) verb,
                                       .request = receive->request};
    struct aspx_ghost_user *user = receive->user;

    aspx_ghost_receive_free(receive);
    return aspx_ghost_tell(user, &news, NULL, 0);
}

static int take_probe(struct aspx_ghost_user *user,
                      const struct aspx_p2p_post *post)
{
    struct aspx_ghost_receive *probe = receive_of(user, post);
    struct aspx_match_message *found;

    if (!probe)
        return -1;
    found = aspx_match_find(&ALL.match, &probe->match.envelope);
    if (found) {
        if (post->flags & ASPX_P2P_CLAIMS)
            aspx_match_remove_message(&ALL.match, found);
        return answer_probe(probe, message_at(found));
    }
    if (!(post->flags & ASPX_P2P_WAITS))
        return end_receive(probe, ASPX_P2P_NOT_FOUND);
    probe->match.looks = !(post->flags & ASPX_P2P_CLAIMS);
    if (aspx_match_post(&ALL.match, &probe->match, &found) != 0)
        return -1;
    list(probe);
    return 0;
}

/* ---- cancelled ---------------------------------------------------------------- */

static int cancel_receive(struct aspx_ghost_receive *receive)
{
    aspx_match_remove_receive(&ALL.match, &receive->match);
    return end_receive(receive, ASPX_P2P_CANCELLED);
}

static int cancel_send(struct aspx_ghost_send *send)
{
    const struct aspx_wire wire = {.verb = ASPX_WIRE_CANCEL,
                                   .number = send->number};
    struct aspx_ghost_message *message = send->message;

    if (send->ghost >= 0)
        return aspx_wire_send(send->ghost, &wire, NULL, 0);
    if (!message)
        return 0; /* it is matched, and ends as it would */
    aspx_match_remove_message(&ALL.match, &message->match);
    aspx_ghost_message_free(message);
    return aspx_ghost_send_cancelled(send);
}

/* They are few, or it is an error of the program's to cancel so often. */
static int take_cancel(struct aspx_ghost_user *user, uint32_t request)
{
    for (struct aspx_ghost_receive *r = user->receives; r; r = r->next)
        if (r->request == request)
            return cancel_receive(r);
    for (struct aspx_ghost_send *s = user->sends; s; s = s->next)
        if (s->request == request)
            return cancel_send(s);
    return 0; /* it has ended meanwhile */
}

/* ---- users -------------------------------------------------------------------- */

/* Can this process read the other's memory? It has said what stands where. */
static int take_hello(struct aspx_ghost_user *user,
                      const struct aspx_p2p_post *post,
                      const struct aspx_mailbox_view *view)
{
    struct aspx_ghost_send send = {.user = user};
    struct aspx_p2p_news news = {.verb = ASPX_P2P_HEARD,
                                 .request = post->request};
    struct aspx_p2p_place place;
    uint64_t secret = 0;

    if (view->bytes != sizeof(place))
        return break_off(user, "hello");
    memcpy(&place, view->data, sizeof(place));
    send.place = (struct aspx_p2p_place){place.address, ASPX_P2P_NOWHERE};
    news.bytes = aspx_ghost_read(&send, 0, &secret, sizeof(secret)) &&
                 secret == place.offset;
    return aspx_ghost_tell(user, &news, NULL, 0);
}

static int take(struct aspx_ghost_user *user,
                const struct aspx_mailbox_view *view)
{
    struct aspx_p2p_post post;

    memcpy(&post, &view->label, sizeof(post));
    switch ((enum aspx_p2p_verb) post.verb) {
    case ASPX_P2P_HELLO:
        return take_hello(user, &post, view);
    case ASPX_P2P_SEND:
        return take_send(user, &post, view);
    case ASPX_P2P_RECEIVE:
    case ASPX_P2P_RECEIVE_CLAIMED:
        return take_receive(user, &post, view);
    case ASPX_P2P_PROBE:
        return take_probe(user, &post);
    case ASPX_P2P_CANCEL:
        return take_cancel(user, post.request);
    }
    return break_off(user, "verb");
}

/* Returns whether there was something, or -1. */
static int serve(struct aspx_ghost_user *user)
{
    struct aspx_mailbox_view view;
    int any = aspx_ghost_tell_kept(user), read = 0;

    while (!user->is_broken && !aspx_wire_is_full() && read < ROUND &&
           aspx_mailbox_next(&user->mailbox, ASPX_P2P_RANK, &view)) {
        if (take(user, &view) != 0)
            return -1;
        read++;
        any = 1;
    }
    if (read == ROUND)
        seen--; /* there may be more */
    if (any)
        aspx_mailbox_pass(&user->mailbox, UINT64_MAX);
    if (user->mailbox.fault && !user->is_broken)
        (void) break_off(user, user->mailbox.fault);
    return any;
}

static bool is_shape(const struct aspx_mailbox_shape *shape, uint64_t bytes)
{
    return shape->participants == 2 && shape->ranks == 0 && shape->nodes == 0 &&
           shape->apart && shape->region > 0 &&
           shape->region % ASPX_MAILBOX_UNIT == 0 &&
           shape->region <= bytes / 2 && aspx_mailbox_bytes(shape) <= bytes;
}

/* NULL: no memory, or it is none. */
static struct aspx_ghost_user *see(uint64_t offset, uint32_t rank)
{
    const struct aspx_arena *arena = &ALL.engine->arena;
    struct aspx_ghost_user *user = calloc(1, sizeof(*user));
    struct aspx_mailbox_shape shape;
    bool seen_it = false;

    if (!user)
        return NULL;
    if (arena->base && offset % ASPX_MAILBOX_LINE == 0 &&
        aspx_ghost_may_touch(offset, ASPX_MAILBOX_LINE)) {
        aspx_mailbox_find(arena->base + offset, &shape);
        seen_it = is_shape(&shape, arena->bytes - offset) &&
                  aspx_mailbox_see(&user->mailbox, arena->base + offset,
                                   ASPX_P2P_GHOST, &shape) == 0;
    }
    if (seen_it)
        return user;
    aspx_log(ASPX_LOG_ERROR,
             "there is no memory for the messages of rank %u, or it was "
             "overwritten",
             (unsigned) rank);
    free(user);
    return NULL;
}

int aspx_ghost_messages_open(uint64_t offset, uint32_t rank)
{
    const struct aspx_world *world = ALL.engine->world;
    struct aspx_ghost_user *user;

    if (rank >= (uint32_t) world->size_users || ghost_of(rank) >= 0 ||
        ALL.by_rank[rank])
        return -1;
    user = see(offset, rank);
    if (!user)
        return -1;
    user->rank = rank;
    user->pid = ALL.engine->pids[world->user_to_world[rank]];
    user->end = &user->first;
    user->next = ALL.users;
    ALL.users = user;
    ALL.by_rank[rank] = user;
    seen--; /* what was posted before */
    return 0;
}

/* ---- the loop's part ---------------------------------------------------------- */

int aspx_ghost_messages_start(const struct aspx_engine *engine,
                              const struct aspx_doorbell *doorbell)
{
    ALL.engine = engine;
    ALL.doorbell = doorbell;
    if (!asp_layout_carries(engine->world->layout))
        return 0;
    ALL.by_rank = calloc((size_t) engine->world->size_users,
                         sizeof(struct aspx_ghost_user *));
    return ALL.by_rank && aspx_match_start(&ALL.match) == 0 ? aspx_wire_start()
                                                            : -1;
}

void aspx_ghost_messages_stop(void)
{
    if (ALL.by_rank)
        aspx_wire_stop();
}

int aspx_ghost_messages_step(void)
{
    uint32_t posts;
    int any, moved;

    if (!ALL.by_rank)
        return 0;
    any = aspx_wire_step();
    if (any < 0)
        return -1;
    posts = atomic_load_explicit(&ALL.doorbell->posts, memory_order_acquire);
    if (posts != seen || ALL.has_no_room) {
        bool full = aspx_wire_is_full();

        seen = posts;
        ALL.has_no_room = false;
        for (struct aspx_ghost_user *user = ALL.users; user;
             user = user->next) {
            int served = serve(user);

            if (served < 0)
                return -1;
            any |= served;
        }
        if (full || aspx_wire_is_full())
            seen--; /* there may be more */
    }
    moved = aspx_transfer_step();
    return moved < 0 ? -1 : any | moved;
}

bool aspx_ghost_messages_are_busy(void)
{
    return ALL.by_rank && (aspx_transfer_is_busy() || aspx_wire_is_busy());
}

uint64_t aspx_ghost_messages_due_us(void)
{
    return ALL.has_no_room ? aspx_wait_table[ASPX_WAIT_GHOST_NO_ROOM].max_us
                           : UINT64_MAX;
}
