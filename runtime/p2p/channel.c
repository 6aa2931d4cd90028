/* SPDX-License-Identifier: BSD-3-Clause */
/* The rank's end of its mailbox with the ghost: posts go out in the order of
 * the program, news end requests, under one lock. */
#include "config.h"

#include "channel.h"

#include "buffer.h"
#include "comm.h"

#include "runtime/base/backoff.h"
#include "runtime/base/log.h"
#include "runtime/posted/ghosts.h"
#include "runtime/posted/look_thread.h"
#include "runtime/world/job_end.h"
#include "runtime/world/world.h"

#include "mpi_behind.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Address space of what the rank posts, and of what lands for it. Memory is
 * taken when it is used. */
#define REGION_MOST  (UINT64_C(256) << 20)
#define REGION_LEAST (UINT64_C(16) << 20)

struct aspx_p2p_counts aspx_p2p_counts;
_Atomic uint64_t aspx_p2p_buffered;

static struct {
    pthread_mutex_t lock;
    struct aspx_mailbox mailbox;
    bool is_open, readable; /* readable: by the ghost, all that the rank has */
    struct aspx_own_request *first, **end; /* that had no room */
    /* Room that what lands for receives that were posted may take. */
    uint64_t expected;
    bool has_thread;
} channel = {.lock = PTHREAD_MUTEX_INITIALIZER, .end = &channel.first};

static const struct aspx_own_kind kind;

/* ---- the end of a message ----------------------------------------------------- */

/* initial-exec: the library needs nothing but libc. */
static _Thread_local bool is_helper __attribute__((tls_model("initial-exec")));

static void count_most(_Atomic uint64_t *most, uint64_t value)
{
    if (value > atomic_load_explicit(most, memory_order_relaxed))
        atomic_store_explicit(most, value, memory_order_relaxed);
}

static void add(_Atomic uint64_t *count, uint64_t value)
{
    atomic_fetch_add_explicit(count, value, memory_order_relaxed);
}

static void unstage(struct aspx_p2p_message *message)
{
    if (message->is_staged)
        aspx_ghosts->give(message->staged, message->post.bytes);
    message->is_staged = false;
}

static void end(struct aspx_own_request *request)
{
    struct aspx_p2p_message *message = aspx_p2p_message_of(request);
    struct aspx_own_request *whole = message->whole;

    unstage(message);
    if (message->buffered)
        atomic_fetch_sub(&aspx_p2p_buffered,
                         message->post.bytes + MPI_BSEND_OVERHEAD);
    if (whole) {
        if (request->rc != MPI_SUCCESS)
            whole->rc = request->rc;
        message->whole = NULL;
        aspx_own_give(request);
        request = whole;
        message = aspx_p2p_message_of(whole);
    }
    if (--message->open == 0)
        aspx_own_end(request);
}

/* ---- posts -------------------------------------------------------------------- */

static bool is_apart(const struct aspx_p2p_post *post)
{
    return post->flags & ASPX_P2P_APART;
}

/* Bytes behind the label. */
static uint64_t data_of(const struct aspx_p2p_post *post)
{
    if (post->verb == ASPX_P2P_HELLO || is_apart(post))
        return sizeof(struct aspx_p2p_place);
    return post->verb == ASPX_P2P_SEND ? post->bytes : 0;
}

static void publish(const struct aspx_p2p_post *post, const void *data,
                    struct aspx_mailbox_entry *entry)
{
    uint64_t bytes = data_of(post);

    memcpy(&entry->label, post, sizeof(*post));
    if (bytes)
        memcpy(entry->data, data, bytes);
    aspx_mailbox_publish(&channel.mailbox, entry, bytes);
    if (post->verb != ASPX_P2P_SEND)
        return;
    add(&aspx_p2p_counts.sent, 1);
    add(&aspx_p2p_counts.bytes_sent, post->bytes);
}

/* Where the ghost reads them: in the arena, in this process, or, where it may
 * not read that, in a copy. Returns false when there is no room for one. */
static bool place_data(struct aspx_p2p_message *message,
                       struct aspx_p2p_place *place)
{
    uint64_t bytes = message->post.bytes;
    void *copy;

    place->address = (uint64_t) (uintptr_t) message->data;
    place->offset = ASPX_P2P_NOWHERE;
    if (aspx_ghosts->maps(message->data, bytes, &place->offset) ||
        channel.readable)
        return true;
    copy = aspx_ghosts->take(bytes, &message->staged);
    if (!copy)
        return false;
    memcpy(copy, message->data, bytes);
    message->is_staged = true;
    place->offset = message->staged;
    add(&aspx_p2p_counts.bytes_copied, bytes);
    return true;
}

/* A receive into memory that the ghost maps is written by it. */
static bool places(struct aspx_p2p_message *message,
                   struct aspx_p2p_place *place)
{
    struct aspx_p2p_post *post = &message->post;

    post->flags &= (uint8_t) ~ASPX_P2P_APART;
    if (post->verb == ASPX_P2P_SEND && post->bytes > ASPX_P2P_SMALL) {
        post->flags |= ASPX_P2P_APART;
        return place_data(message, place);
    }
    if ((post->verb == ASPX_P2P_RECEIVE ||
         post->verb == ASPX_P2P_RECEIVE_CLAIMED) &&
        message->data && !message->owned &&
        aspx_ghosts->maps(message->data, post->bytes, &place->offset))
        post->flags |= ASPX_P2P_APART;
    return true;
}

/* Returns false when there is no room. */
static bool try_to_post(struct aspx_own_request *request)
{
    struct aspx_p2p_message *message = aspx_p2p_message_of(request);
    struct aspx_p2p_place place;
    struct aspx_mailbox_entry *entry;
    bool apart;

    if (!places(message, &place))
        return false;
    apart = is_apart(&message->post);
    entry = aspx_mailbox_take(&channel.mailbox, data_of(&message->post));
    if (!entry) {
        unstage(message);
        return false;
    }
    publish(&message->post, apart ? (void *) &place : message->data, entry);
    if (message->post.verb == ASPX_P2P_SEND && !apart &&
        !(message->post.flags & ASPX_P2P_SYNC))
        end(request);
    return true;
}

/* Returns whether something was posted. */
static bool post_pending(void)
{
    bool any = false;

    while (channel.first) {
        /* One that ends when it is posted may be another's at once. */
        struct aspx_own_request *next = channel.first->next;

        if (!try_to_post(channel.first))
            break;
        channel.first = next;
        any = true;
    }
    if (!channel.first)
        channel.end = &channel.first;
    return any;
}

/* ---- news --------------------------------------------------------------------- */

static _Noreturn void give_up(const char *fault)
{
    aspx_log(ASPX_LOG_ERROR,
             "memory between this rank and the ghost that carries its messages "
             "was overwritten (%s): the job ends; run with p2p=off to find the "
             "store",
             fault);
    aspx_backoff_nap(ASPX_WAIT_PASS_ON);
    aspx_job_end(true);
    abort();
}

static uint64_t landing_of(const struct aspx_p2p_message *message)
{
    return aspx_mailbox_footprint(message->post.bytes);
}

static void receive(struct aspx_own_request *request,
                    const struct aspx_p2p_news *news)
{
    struct aspx_p2p_message *message = aspx_p2p_message_of(request);
    uint64_t room = message->post.bytes;
    uint64_t got = news->bytes < room ? news->bytes : room;

    request->source = news->source;
    request->tag = news->tag;
    request->bytes = got;
    if (news->flags & ASPX_P2P_FAILED)
        request->rc = MPI_ERR_OTHER;
    else if (news->bytes > room)
        request->rc = MPI_ERR_TRUNCATE;
    channel.expected -= landing_of(message);
    add(&aspx_p2p_counts.received, 1);
    add(&aspx_p2p_counts.bytes_received, got);
    if (news->flags & ASPX_P2P_DIRECT)
        add(&aspx_p2p_counts.bytes_direct, got);
    count_most(&aspx_p2p_counts.posted_most, news->posted);
    count_most(&aspx_p2p_counts.unexpected_most, news->unexpected);
    end(request);
}

static void find(struct aspx_own_request *request,
                 const struct aspx_p2p_news *news)
{
    struct aspx_p2p_message *message = aspx_p2p_message_of(request);

    message->found = news->verb == ASPX_P2P_FOUND;
    message->post.comm = news->offset;
    request->source = news->source;
    request->tag = news->tag;
    request->bytes = news->bytes;
    end(request);
}

static void cancel_ended(struct aspx_own_request *request)
{
    if (aspx_p2p_message_of(request)->post.verb != ASPX_P2P_SEND)
        channel.expected -= landing_of(aspx_p2p_message_of(request));
    request->cancelled = true;
    end(request);
}

static void hear(const struct aspx_mailbox_view *view)
{
    struct aspx_own_request *request;
    struct aspx_p2p_news news;

    memcpy(&news, &view->label, sizeof(news));
    request = aspx_own_at(news.request);
    if (!request || request->kind != &kind || !aspx_own_is_under_way(request))
        give_up("request");
    if (view->bytes)
        aspx_p2p_land(aspx_p2p_message_of(request), news.offset, view->data,
                      view->bytes);
    switch ((enum aspx_p2p_news_verb) news.verb) {
    case ASPX_P2P_HEARD:
        channel.readable = news.bytes;
        end(request);
        break;
    case ASPX_P2P_SENT:
        if (news.flags & ASPX_P2P_FAILED)
            request->rc = MPI_ERR_OTHER;
        end(request);
        break;
    case ASPX_P2P_LANDED:
        break;
    case ASPX_P2P_RECEIVED:
        receive(request, &news);
        break;
    case ASPX_P2P_FOUND:
    case ASPX_P2P_NOT_FOUND:
        find(request, &news);
        break;
    case ASPX_P2P_CANCELLED:
        if (aspx_p2p_message_of(request)->post.verb == ASPX_P2P_SEND)
            add(&aspx_p2p_counts.cancelled, 1);
        cancel_ended(request);
        break;
    }
}

/* The lock is held. */
static void look(void)
{
    struct aspx_mailbox *mailbox = &channel.mailbox;
    struct aspx_mailbox_view view;

    if (channel.first && post_pending())
        aspx_ghosts->ring();
    while (aspx_mailbox_next(mailbox, ASPX_P2P_GHOST, &view))
        hear(&view);
    aspx_mailbox_pass(mailbox, UINT64_MAX);
    if (mailbox->fault)
        give_up(mailbox->fault);
    if (atomic_load_explicit(&mailbox->nodes->state, memory_order_relaxed) !=
        ASPX_MAILBOX_OPEN)
        give_up("the ghost says of what");
}

void aspx_p2p_look(void)
{
    pthread_mutex_lock(&channel.lock);
    if (channel.is_open)
        look();
    pthread_mutex_unlock(&channel.lock);
}

/* ---- a thread, where others may wait for this rank --------------------------- */

/* While a rank is in a call of MPI, or computes, what it has posted that had no
 * room is to be posted, and what fills the room for others' data copied. */
static bool needs_thread(void)
{
    return channel.first || channel.expected > channel.mailbox.region / 2;
}

static bool help(void *arg)
{
    bool on;

    (void) arg;
    is_helper = true;
    pthread_mutex_lock(&channel.lock);
    if (channel.is_open &&
        (channel.first || aspx_mailbox_is_short(&channel.mailbox)))
        look();
    on = channel.is_open && needs_thread();
    channel.has_thread = on;
    pthread_mutex_unlock(&channel.lock);
    return on;
}

static void find_help(void)
{
    if (!needs_thread() || channel.has_thread)
        return;
    channel.has_thread = true;
    if (!aspx_look_thread_start(help, NULL))
        channel.has_thread = false; /* the next call that looks does it */
}

/* ---- posted ------------------------------------------------------------------- */

static void post(struct aspx_own_request *request)
{
    struct aspx_p2p_message *message = aspx_p2p_message_of(request);

    message->post.request = aspx_own_number(request);
    pthread_mutex_lock(&channel.lock);
    if (message->post.verb == ASPX_P2P_RECEIVE ||
        message->post.verb == ASPX_P2P_RECEIVE_CLAIMED)
        channel.expected += landing_of(message);
    if (channel.first || !try_to_post(request)) {
        request->next = NULL;
        *channel.end = request;
        channel.end = &request->next;
    }
    find_help();
    pthread_mutex_unlock(&channel.lock);
    aspx_ghosts->ring();
}

bool aspx_p2p_post_small(struct aspx_p2p_post *post, const void *data)
{
    struct aspx_mailbox_entry *entry = NULL;

    pthread_mutex_lock(&channel.lock);
    if (!channel.first)
        entry = aspx_mailbox_take(&channel.mailbox, data_of(post));
    if (entry)
        publish(post, data, entry);
    pthread_mutex_unlock(&channel.lock);
    if (entry)
        aspx_ghosts->ring();
    return entry;
}

struct aspx_own_request *aspx_p2p_request(MPI_Comm comm,
                                          const struct aspx_p2p_post *post,
                                          const struct aspx_p2p_buffer *buffer)
{
    struct aspx_own_request *request = aspx_own_take(&kind);

    if (!request)
        return NULL;
    *aspx_p2p_message_of(request) = (struct aspx_p2p_message){
        .post = *post, .buffer = *buffer};
    request->comm = comm;
    return request;
}

struct aspx_own_request *aspx_p2p_request_ended(void)
{
    struct aspx_own_request *request = aspx_own_take(&kind);

    if (!request)
        return NULL;
    *aspx_p2p_message_of(request) = (struct aspx_p2p_message){
        .post.verb = ASPX_P2P_SEND};
    aspx_own_begin(request);
    aspx_own_end(request);
    return request;
}

static int copy(struct aspx_p2p_message *message)
{
    if (message->owned || message->post.bytes == 0)
        return MPI_SUCCESS;
    message->owned = malloc((size_t) message->post.bytes);
    if (!message->owned)
        return MPI_ERR_NO_MEM;
    memcpy(message->owned, message->data, message->post.bytes);
    message->data = message->owned;
    return MPI_SUCCESS;
}

int aspx_p2p_begin(struct aspx_own_request *request)
{
    struct aspx_p2p_message *message = aspx_p2p_message_of(request);
    int rc = MPI_SUCCESS;

    if (message->starts_buffered)
        return aspx_p2p_start_buffered(request);

    aspx_p2p_drop(message);
    if (message->post.verb == ASPX_P2P_SEND)
        rc = aspx_p2p_give(message);
    else if (message->post.verb != ASPX_P2P_PROBE)
        rc = aspx_p2p_expect(message);
    if (rc == MPI_SUCCESS && message->copies)
        rc = copy(message);
    if (rc != MPI_SUCCESS)
        return rc;
    if (message->open == 0)
        message->open = 1;
    aspx_own_begin(request);
    post(request);
    return MPI_SUCCESS;
}

/* ---- as a kind of request ----------------------------------------------------- */

static void step(struct aspx_own_request *request)
{
    (void) request;
    aspx_p2p_look();
}

static struct aspx_event *event(struct aspx_own_request *request)
{
    (void) request;
    return &channel.mailbox.flags[ASPX_P2P_GHOST].event;
}

/* Of a request that is active the ghost has to hear: room is waited for, which
 * there is as soon as it has read the posts before. NULL: it has ended. */
static struct aspx_mailbox_entry *take_to_cancel(
    const struct aspx_own_request *request)
{
    struct aspx_mailbox_entry *entry = NULL;

    while (aspx_own_state_of(request) == ASPX_OWN_ACTIVE &&
           !(entry = aspx_mailbox_take(&channel.mailbox, 0))) {
        pthread_mutex_unlock(&channel.lock);
        aspx_backoff_nap(ASPX_WAIT_LOOK_THREAD);
        pthread_mutex_lock(&channel.lock);
        look();
    }
    return entry;
}

static int cancel(struct aspx_own_request *request)
{
    const struct aspx_p2p_post post = {.verb = ASPX_P2P_CANCEL,
                                       .request = aspx_own_number(request)};
    struct aspx_own_request **at;
    struct aspx_mailbox_entry *entry;

    pthread_mutex_lock(&channel.lock);
    for (at = &channel.first; *at && *at != request;)
        at = &(*at)->next;
    if (*at) { /* it was never posted */
        *at = request->next;
        if (!*at)
            channel.end = at;
        cancel_ended(request);
    } else if ((entry = take_to_cancel(request)) != NULL) {
        publish(&post, NULL, entry);
    }
    pthread_mutex_unlock(&channel.lock);
    aspx_ghosts->ring();
    return MPI_SUCCESS;
}

static void complete(struct aspx_own_request *request)
{
    struct aspx_p2p_message *message = aspx_p2p_message_of(request);
    int rc = aspx_p2p_unpack(message, request->bytes);
    const struct aspx_p2p_comm *known;

    if (request->rc == MPI_SUCCESS)
        request->rc = rc;
    if (request->rc == MPI_SUCCESS ||
        message->post.verb == ASPX_P2P_RECEIVE_CLAIMED)
        return;
    /* Its communicator may be freed, and the handle another's. */
    known = aspx_p2p_comm_of(request->comm);
    if (!known || known->number != message->post.comm)
        request->comm = MPI_COMM_NULL;
}

static void release(struct aspx_own_request *request)
{
    struct aspx_p2p_message *message = aspx_p2p_message_of(request);

    aspx_p2p_drop(message);
    if (message->keeps_type && !is_helper) /* which calls no MPI */
        aspx_p2p_behind.MPI_Type_free(&message->buffer.type);
}

static const struct aspx_own_kind kind = {
    .step = step,
    .event = event,
    .start = aspx_p2p_begin,
    .cancel = cancel,
    .completed = complete,
    .released = release,
};

/* ---- opened ------------------------------------------------------------------- */

/* The ghost shall be let read the memory of this process, where the system asks
 * for that (Yama). It says afterwards whether it can. */
static bool greet(void)
{
    static uint64_t secret;
    const struct aspx_p2p_buffer none = {0};
    const struct aspx_p2p_post hello = {.verb = ASPX_P2P_HELLO};
    struct aspx_own_request *request = aspx_p2p_request(MPI_COMM_SELF, &hello,
                                                        &none);
    struct aspx_p2p_place place;
    struct aspx_mailbox_entry *entry;

    if (!request)
        return false;
    secret = (uint64_t) (uintptr_t) &channel ^ (uint64_t) getpid() << 32;
    place = (struct aspx_p2p_place){(uint64_t) (uintptr_t) &secret, secret};
    (void) prctl(PR_SET_PTRACER, (unsigned long) aspx_ghosts->pid(), 0, 0, 0);
    aspx_p2p_message_of(request)->post.request = aspx_own_number(request);
    aspx_p2p_message_of(request)->open = 1;
    aspx_own_begin(request);
    entry = aspx_mailbox_take(&channel.mailbox, sizeof(place));
    if (!entry) {
        aspx_own_give(request);
        return false;
    }
    publish(&aspx_p2p_message_of(request)->post, &place, entry);
    aspx_ghosts->ring();
    aspx_own_await(request);
    aspx_own_give(request);
    return true;
}

static bool make(uint64_t *offset_p)
{
    struct aspx_mailbox_shape shape = {.participants = 2, .apart = true};
    uint64_t most = aspx_ghosts->most() / 2;
    void *memory;

    shape.region = most < REGION_MOST ? most : REGION_MOST;
    shape.region -= shape.region % ASPX_MAILBOX_UNIT;
    if (shape.region < REGION_LEAST)
        return false;
    memory = aspx_ghosts->take(aspx_mailbox_bytes(&shape), offset_p);
    if (!memory)
        return false;
    aspx_mailbox_introduce(memory, &shape);
    if (aspx_mailbox_see(&channel.mailbox, memory, ASPX_P2P_RANK, &shape) == 0)
        return true;
    aspx_ghosts->give(*offset_p, aspx_mailbox_bytes(&shape));
    return false;
}

bool aspx_p2p_channel_open(void)
{
    uint64_t offset;

    if (!aspx_ghosts || !aspx_ghosts->can() || !make(&offset))
        return false;
    channel.is_open = true;
    aspx_ghosts->open(ASPX_SERVE_MESSAGES, offset,
                      (uint32_t) aspx_world.rank_user);
    return greet();
}

bool aspx_p2p_channel_is_full(void)
{
    bool full;

    pthread_mutex_lock(&channel.lock);
    full = channel.first;
    pthread_mutex_unlock(&channel.lock);
    return full;
}

void aspx_p2p_channel_close(void)
{
    pthread_mutex_lock(&channel.lock);
    if (channel.is_open)
        aspx_mailbox_retire(&channel.mailbox);
    channel.is_open = false;
    pthread_mutex_unlock(&channel.lock);
    aspx_look_threads_stop();
}
