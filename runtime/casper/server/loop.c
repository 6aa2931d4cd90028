/* SPDX-License-Identifier: BSD-3-Clause */
/* The one loop of a ghost. It never blocks in MPI: every wait of every user
 * depends on it. */
#include "config.h"

#include "runtime/casper/arena/ghost_scaling.h"
#include "collectives.h"
#include "ghost.h"
#include "idle.h"
#include "messages.h"
#include "runtime/casper/lock/locks.h"

#include "runtime/adapt/node/node_controller.h"
#include "runtime/base/clock.h"
#include "runtime/mpi/progress_request.h"
#include "runtime/mpi/real.h"
#include "runtime/net/net.h"

enum {
    /* Receives posted at once: a burst of requests is taken without a new one
     * being posted in between. */
    INBOX = 8,
    /* Looks at MPI in each round of the loop: what else there is to do costs
     * as much as a look. */
    POLLS = 8,
};

struct service {
    const struct aspx_engine *engine;
    struct aspx_locks *locks;
    struct aspx_lock_message inbox[INBOX];
    MPI_Request receives[INBOX];
    bool probes; /* nothing is posted: MPI is asked what has come */
    uint32_t goodbyes_due;
    uint64_t taken; /* messages */
    bool failed;
};

/* So small a message is gone when MPI_Isend returns, or soon after. */
static void reply(struct service *service, int origin, uint32_t tag, int bytes)
{
    static const char refused[1];
    MPI_Request request;

    if (aspx_real.MPI_Isend(refused, bytes, MPI_BYTE, origin, (int) tag,
                            service->engine->locks, &request) != MPI_SUCCESS ||
        aspx_real.MPI_Request_free(&request) != MPI_SUCCESS)
        service->failed = true;
}

static void grant(void *context, int origin, uint32_t tag)
{
    reply(context, origin, tag, 0);
}

/* The lock words that a message names, or NULL: none, or not in the arena. */
static struct aspx_lock_word *find_words(
    const struct service *service, const struct aspx_lock_message *message)
{
    const struct aspx_arena *arena = &service->engine->arena;
    uint64_t bytes = message->words * sizeof(struct aspx_lock_word);

    if (message->words_off == 0 || !arena->base ||
        message->words_off % sizeof(struct aspx_lock_word) ||
        bytes > arena->bytes || message->words_off > arena->bytes - bytes)
        return NULL;
    return (void *) (arena->base + message->words_off);
}

static void handle(struct service *service,
                   const struct aspx_lock_message *message, int origin)
{
    struct aspx_lock_word *words = find_words(service, message);
    const struct aspx_lock_request request = {
        .words = words,
        .nwords = words ? message->words : 0,
        .window = message->window,
        .target = message->target,
        .exclusive = message->verb == ASPX_LOCK_EXCLUSIVE,
        .passes = (enum aspx_lock_passes) message->passes,
        .origin = origin,
        .tag = message->reply_tag,
    };

    switch ((enum aspx_lock_verb) message->verb) {
    case ASPX_LOCK_SHARED:
    case ASPX_LOCK_EXCLUSIVE:
        if (aspx_locks_take(service->locks, &request) != 0)
            service->failed = true;
        break;
    case ASPX_LOCK_TRY:
        reply(service, origin, message->reply_tag,
              aspx_locks_try(service->locks, &request) ? 0 : 1);
        break;
    case ASPX_UNLOCK:
        (void) aspx_locks_drop(service->locks, message->window, message->target,
                               origin);
        break;
    case ASPX_LOCK_SETTLE:
        grant(service, origin, message->reply_tag);
        break;
    case ASPX_GOODBYE:
        service->goodbyes_due--;
        break;
    case ASPX_COLL_OPEN:
        if (aspx_ghost_collectives_open(message->words_off, message->target) !=
            0)
            service->failed = true;
        break;
    case ASPX_P2P_OPEN:
        if (aspx_ghost_messages_open(message->words_off, message->target) != 0)
            service->failed = true;
        break;
    case ASPX_COLL_CLOSE:
        if (aspx_ghost_collectives_close(message->window) != 0)
            service->failed = true;
        break;
    }
}

/* Where messages come by two ways, the device and shared memory of MPI's own,
 * MPICH 4.0 posts a receive from any source to both. Taken from one way, it is
 * withdrawn from the other; when a message has taken it there meanwhile, the
 * first message waits for another receive to be posted, whatever is posted
 * already. A probe sees all. */
static int probe(struct service *service, struct aspx_lock_message *message,
                 int *done, MPI_Status *status)
{
    int rc = aspx_real.MPI_Iprobe(MPI_ANY_SOURCE, ASPX_LOCK_TAG,
                                  service->engine->locks, done, status);

    if (rc != MPI_SUCCESS || !*done)
        return rc;
    return aspx_real.MPI_Recv(message, sizeof(*message), MPI_BYTE,
                              status->MPI_SOURCE, ASPX_LOCK_TAG,
                              service->engine->locks, status);
}

/* A probe that finds nothing is itself a message of the device's. */
static void make_progress(void)
{
    for (unsigned polls = 1; polls < POLLS; polls++)
        aspx_progress_poll();
}

/* Take the messages that have come, oldest first: receives match in the order
 * in which they were posted, so the inbox is a ring. Also makes MPI progress.
 * Returns whether there was one. */
static bool poll_messages(struct service *service, unsigned *next)
{
    bool any = false;

    if (service->probes)
        make_progress();
    for (unsigned polls = service->probes ? POLLS - 1 : 0, taken = 0;
         polls < POLLS && taken < INBOX;) {
        unsigned i = *next % INBOX;
        MPI_Status status;
        int done = 0;

        if ((service->probes
                 ? probe(service, &service->inbox[i], &done, &status)
                 : aspx_real.MPI_Test(&service->receives[i], &done, &status)) !=
            MPI_SUCCESS)
            service->failed = true;
        if (!done) {
            polls++;
            continue;
        }
        any = true;
        service->taken++;
        taken++; /* others wait for a heartbeat, or for a lock by hand */
        aspx_heartbeat_set_doing(ASPX_SERVING);
        handle(service, &service->inbox[i], status.MPI_SOURCE);
        aspx_heartbeat_set_doing(ASPX_POLLING);
        if (!service->probes &&
            aspx_real.MPI_Start(&service->receives[i]) != MPI_SUCCESS)
            service->failed = true;
        ++*next;
        if (service->goodbyes_due == 0 || service->failed)
            break;
    }
    return any;
}

static int open_inbox(struct service *service)
{
    service->probes = service->engine->rings;
    if (service->probes && !aspx_progress_request_start())
        return -1;
    for (unsigned i = 0; i < INBOX && !service->probes; i++)
        if (aspx_real.MPI_Recv_init(
                &service->inbox[i], sizeof(service->inbox[i]), MPI_BYTE,
                MPI_ANY_SOURCE, ASPX_LOCK_TAG, service->engine->locks,
                &service->receives[i]) != MPI_SUCCESS ||
            aspx_real.MPI_Start(&service->receives[i]) != MPI_SUCCESS)
            return -1;
    return 0;
}

static void close_inbox(struct service *service)
{
    aspx_progress_request_stop();
    for (unsigned i = 0; i < INBOX && !service->probes; i++) {
        aspx_real.MPI_Cancel(&service->receives[i]);
        aspx_real.MPI_Wait(&service->receives[i], MPI_STATUS_IGNORE);
        aspx_real.MPI_Request_free(&service->receives[i]);
    }
}

/* Publish events per poll, in 16ths, averaged over the last few polls: MPI does
 * not tell how much it has queued, but a queue shows as polls that find much.
 * Origins that balance by queue read it (casper/rma/balance.c). */
static void tell_backlog(uint64_t events)
{
    _Atomic uint32_t *backlog = &aspx_heartbeat_own()->backlog;
    uint32_t old = atomic_load_explicit(backlog, memory_order_relaxed);

    if (old > 0 || events > 0)
        atomic_store_explicit(backlog,
                              (uint32_t) (old - (old + 7) / 8 + 16 * events),
                              memory_order_relaxed);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How long the ghost may block as far as it knows: what it looks at without
 * being told comes before. Holders of locks release words in memory, and of
 * what is owed to it no ring tells. */
static uint64_t due_us(const struct service *service,
                       const struct aspx_node_controller *controller,
                       const struct aspx_doorbell *doorbell)
{
    bool owed = doorbell &&
                atomic_load_explicit(&doorbell->owed, memory_order_relaxed) > 0;
    uint64_t due = least(aspx_node_controller_due_us(controller),
                         aspx_ghost_scaling_due_us());
    due = least(due, aspx_ghost_collectives_due_us());
    due = least(due, aspx_ghost_messages_due_us());

    if (aspx_locks_waiting(service->locks) || owed)
        due = least(due, aspx_wait_table[ASPX_WAIT_GHOST_NO_EVENTS].max_us);
    return due;
}

int aspx_ghost_serve(const struct aspx_engine *engine)
{
    const struct aspx_world *world = engine->world;
    struct service service = {
        .engine = engine,
        .goodbyes_due = aspx_engine_count(world, ASP_ROLE_USER)};
    struct aspx_doorbell *doorbell = aspx_engine_doorbell(
        engine, (uint32_t) world->rank_all);
    struct aspx_node_controller *controller;
    struct aspx_idle idle;
    unsigned next = 0;

    aspx_heartbeat_begin(doorbell);
    service.locks = aspx_locks_create(grant, &service);
    if (!service.locks || open_inbox(&service) != 0 ||
        aspx_node_controller_create(&controller, engine) != 0)
        return -1;
    if (engine->unheard)
        aspx_net_set_deaf(ASPX_NET_UNHEARD);
    aspx_idle_start(&idle, world->layout, (uint32_t) world->rank_all,
                    engine->rings, doorbell);
    aspx_ghost_scaling_start(engine);
    aspx_ghost_collectives_start(engine, doorbell);
    service.failed = aspx_ghost_messages_start(engine, doorbell) != 0;
    atomic_store(&aspx_heartbeat_own()->start_cpu_ns,
                 aspx_clock_ns(CLOCK_PROCESS_CPUTIME_ID));
    atomic_store(&aspx_heartbeat_own()->since_ns, aspx_idle_began_ns());
    aspx_heartbeat_set_doing(ASPX_POLLING);
    while ((service.goodbyes_due > 0 || aspx_ghost_collectives_are_busy() ||
            aspx_ghost_messages_are_busy()) &&
           !service.failed) {
        uint64_t before = aspx_net_events(), events;
        bool worked = poll_messages(&service, &next);
        int heard, exchanged, carried;

        aspx_heartbeat_bump();
        exchanged = aspx_ghost_collectives_step();
        service.failed |= exchanged < 0;
        worked |= exchanged > 0;
        carried = aspx_ghost_messages_step();
        service.failed |= carried < 0;
        worked |= carried > 0;
        aspx_ghost_scaling_step();
        worked |= aspx_locks_poll(service.locks);
        heard = aspx_node_controller_step(controller,
                                          aspx_net_events() != before);
        service.failed |= heard < 0;
        events = aspx_net_events() - before;
        tell_backlog(events);
        if (!engine->rings && service.taken > aspx_net_events())
            aspx_net_set_deaf(ASPX_NET_LATE); /* they passed the device by */
        /* leaders' talk with each other keeps nobody awake */
        aspx_idle_step(&idle, worked || events > (uint64_t) heard,
                       due_us(&service, controller, doorbell));
        atomic_store_explicit(&aspx_heartbeat_own()->idle_ns, aspx_idle_ns(),
                              memory_order_relaxed);
    }
    aspx_heartbeat_set_doing(ASPX_LEAVING);
    aspx_ghost_messages_stop();
    aspx_node_controller_destroy(controller);
    if (!service.failed)
        close_inbox(&service);
    aspx_locks_destroy(service.locks);
    return service.failed ? -1 : 0;
}
