/* SPDX-License-Identifier: BSD-3-Clause */
/* The leader of a node, which decides for its users: see node_controller.h. */
#include "config.h"

#include "node_controller.h"

#include "runtime/adapt/node_status_page.h"
#include "runtime/adapt/decide/sample_interval.h"
#include "sample_tree.h"
#include "status_broadcast.h"

#include "runtime/base/log.h"
#include "runtime/profile/cpu_wait.h"
#include "runtime/adapt/decide/predictor.h"
#include "runtime/base/wait_table.h"

#include <stdlib.h>

/* Time between two looks for messages of other leaders; a quarter of the
 * shortest interval if that is less. */
static const double RECEIVE_S = 1e-3;

/* The part of adapt.low that holds under ASPX_ORDER_LOW_THRESHOLD: a rank that
 * talks but waits for its CPU for a while seems to compute. One that does
 * compute is below half of the threshold soon. */
static const double LOW_PART = 0.5;

/* A decision is young for so many intervals; taking back a young one makes the
 * interval longer. */
static const double YOUNG = 2;

/* Where no user is to have ghosts, the next sample comes after this part of the
 * time for which that has held, between a quarter of an interval and a whole
 * one: to take it, the leader wakes up on a CPU that it often shares with
 * users.
 */
static const double LATE_PART = 0.02;

/* Users of whom the kernel is asked for the time they wait for CPUs: each takes
 * an open file, and 1.5 us of each sample. */
enum { CPU_WAIT_USERS = 128 };

struct user {
    uint32_t rank_all;
    struct aspx_rank_slot *slot;
    bool watched; /* it has a slot, and its predictor has begun */
    bool on;      /* its target state, as the trace has it */
    struct aspx_predict predict;
    struct aspx_cpu_wait cpu_wait; /* known while it is off */
    uint64_t decided;              /* ticks of the last change; 0: none */
};

struct aspx_node_controller {
    struct aspx_node_status_page *page;
    aspx_target_byte *target; /* by world rank: target states in force */
    unsigned char *opinion;   /* what predictors say: enum aspx_target_state */
    uint32_t size_all;
    struct aspx_status_broadcast *broadcast;
    struct aspx_sample_tree *samples; /* adapt=auto; else NULL */
    enum aspx_order order;            /* over all predictors */
    bool ordered;                     /* there has been an order */
    struct aspx_sample_interval interval;
    double high, low;
    uint64_t sample_at, receive_at, receive_ticks; /* ticks */
    uint64_t stepped;                              /* when the last step was */
    bool unreceived;  /* something has come since it looked for messages */
    uint64_t changed; /* when a predictor of this node was, or an order */
    uint32_t wishing; /* users here that predictors want ghosts for */
    uint32_t nusers;
    struct user user[];
};

static void publish(struct aspx_node_controller *controller, uint32_t rank)
{
    static const unsigned char forced[] = {
        [ASPX_ORDER_ON] = ASPX_TARGET_BY_GHOSTS,
        [ASPX_ORDER_OFF] = ASPX_TARGET_BY_ITSELF,
    };
    unsigned char state = aspx_order_overrules(controller->order)
                              ? forced[controller->order]
                              : controller->opinion[rank];

    /* A predictor that has said nothing means on. After an order that has to be
     * written: windows take an unknown state for the one they have, which may
     * be that of the order. */
    if (state == ASPX_TARGET_UNKNOWN && controller->ordered)
        state = ASPX_TARGET_BY_GHOSTS;
    atomic_store_explicit(&controller->target[rank], state,
                          memory_order_relaxed);
}

static void take_state(void *context, uint32_t rank, uint64_t value)
{
    struct aspx_node_controller *controller = context;

    controller->opinion[rank] = (unsigned char) value;
    publish(controller, rank);
}

static void assign_slots(struct aspx_node_controller *controller,
                         const struct aspx_world *world)
{
    for (int r = 0; r < world->size_all; r++)
        if (world->peers[r].node == world->node &&
            world->peers[r].role == ASP_ROLE_USER) {
            struct user *user = &controller->user[controller->nusers];

            user->rank_all = (uint32_t) r;
            user->on = true;
            user->cpu_wait = ASPX_CPU_WAIT_NOBODY;
            user->slot = &controller->page->slots[controller->nusers++];
        }
}

static double passed_s(uint64_t since, uint64_t now)
{
    return aspx_clock_seconds(aspx_clock_between(since, now));
}

/* Is a user of this node to have ghosts? */
static bool wanted(const struct aspx_node_controller *controller)
{
    return controller->wishing > 0 && controller->order != ASPX_ORDER_OFF;
}

static double until_next_s(const struct aspx_node_controller *controller,
                           uint64_t now)
{
    double most = controller->interval.interval_s,
           least = most / ASPX_PREDICT_SAMPLES;
    double later = LATE_PART * passed_s(controller->changed, now);

    if (wanted(controller) || later < least)
        return least;
    return later < most ? later : most;
}

static void plan_next(struct aspx_node_controller *controller, uint64_t now)
{
    controller->sample_at = now +
                            aspx_clock_ticks_of(until_next_s(controller, now));
    atomic_store_explicit(&controller->page->interval_us,
                          (uint32_t) (1e6 * controller->interval.interval_s),
                          memory_order_relaxed);
}

static bool leads(const struct aspx_engine *engine)
{
    const struct aspx_world *world = engine->world;
    uint32_t first = engine->first_ghost[world->node];

    return engine->settings.ghosts_decide && engine->arena.status_page &&
           engine->ghosts[first] == (uint32_t) world->rank_all;
}

int aspx_node_controller_create(struct aspx_node_controller **controller_p,
                                const struct aspx_engine *engine)
{
    const struct aspx_world *world = engine->world;
    const struct asp_knobs *knobs = &world->layout->knobs;
    uint32_t nusers = aspx_engine_count(world, ASP_ROLE_USER);
    struct aspx_node_controller *controller;
    double most_s, part;

    *controller_p = NULL;
    if (!leads(engine))
        return 0;
    aspx_clock_start(); /* ticks from here on */
    controller = calloc(1, sizeof(*controller) +
                               nusers * sizeof(controller->user[0]));
    if (!controller)
        return -1;
    controller->size_all = (uint32_t) world->size_all;
    controller->page = engine->arena.status_page;
    controller->target = aspx_status_page_targets(controller->page, nusers);
    controller->high = knobs->adapt_high / 1e2;
    controller->low = knobs->adapt_low / 1e2;
    most_s = knobs->adapt_interval_ms / 1e3;
    aspx_sample_interval_init(&controller->interval,
                              knobs->adapt_interval_min_ms / 1e3, most_s);
    part = controller->interval.least_s / 4;
    controller->receive_ticks = aspx_clock_ticks_of(
        part < RECEIVE_S ? part : RECEIVE_S);
    assign_slots(controller, world);
    controller->wishing = controller->nusers; /* until the first look */
    controller->changed = aspx_clock_ticks();
    plan_next(controller, controller->changed);
    controller->opinion = calloc(controller->size_all,
                                 sizeof(*controller->opinion));
    controller->broadcast = aspx_status_broadcast_create(engine, take_state,
                                                         controller);
    if (engine->settings.tried)
        controller->samples = aspx_sample_tree_create(engine, controller->page);
    if (!controller->opinion || !controller->broadcast ||
        (engine->settings.tried && !controller->samples)) {
        aspx_node_controller_destroy(controller);
        return -1;
    }
    *controller_p = controller;
    return 0;
}

/* The user reads its trace when it leaves, again while the edition is odd or
 * changes. */
static void write_trace(struct aspx_rank_slot *slot, bool on, int why)
{
    uint32_t edition = atomic_load_explicit(&slot->edition,
                                            memory_order_relaxed);

    atomic_store_explicit(&slot->edition, edition + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    aspx_trace_switched(&slot->trace, aspx_trace_clock(), ASPX_TRACE_MOVES, on,
                        why);
    atomic_store_explicit(&slot->edition, edition + 2, memory_order_release);
}

/* The target state of a user of this node may have changed. */
static void apply(struct aspx_node_controller *controller, struct user *user,
                  uint64_t ticks, int why)
{
    bool on;

    publish(controller, user->rank_all);
    on = atomic_load_explicit(&controller->target[user->rank_all],
                              memory_order_relaxed) != ASPX_TARGET_BY_ITSELF;
    if (on == user->on)
        return;
    user->on = on;
    if (why == ASPX_WHY_ORDER)
        aspx_trace("world rank %u: redirection %s, as all ranks are ordered",
                   user->rank_all, on ? "on" : "off");
    else
        aspx_trace("world rank %u: redirection %s, %d %% of its time in MPI",
                   user->rank_all, on ? "on" : "off", why);
    atomic_store_explicit(&user->slot->since, ticks, memory_order_relaxed);
    if (aspx_rank_slot_live(user->slot)) /* else the slot is empty */
        write_trace(user->slot, on, why);
}

static void decide(struct aspx_node_controller *controller, struct user *user,
                   bool on, uint64_t ticks)
{
    enum aspx_target_state state = on ? ASPX_TARGET_BY_GHOSTS
                                      : ASPX_TARGET_BY_ITSELF;

    controller->opinion[user->rank_all] = (unsigned char) state;
    aspx_status_broadcast_set(controller->broadcast, user->rank_all, state);
    apply(controller, user, ticks,
          atomic_load_explicit(&user->slot->percent, memory_order_relaxed));
}

static void watch(struct aspx_node_controller *controller, struct user *user,
                  double now, double inside)
{
    uint64_t its = atomic_load(&user->slot->pid_namespace);
    bool near = its && its == aspx_cpu_wait_namespace() &&
                user - controller->user < CPU_WAIT_USERS;

    aspx_predict_init(&user->predict, controller->interval.interval_s,
                      controller->high, controller->low, now, inside);
    aspx_cpu_wait_close(&user->cpu_wait);
    aspx_cpu_wait_open(&user->cpu_wait,
                       near ? (pid_t) atomic_load(&user->slot->pid) : 0);
    user->watched = true;
}

/* Returns whether a young decision was taken back. */
static bool sample_user(struct aspx_node_controller *controller,
                        struct user *user, double now, uint64_t ticks)
{
    struct aspx_mpi_time *mpi_time = &user->slot->mpi_time;
    bool young, was = user->predict.on;
    double inside;

    if (!aspx_rank_slot_live(user->slot)) {
        user->watched = false;
        return false;
    }
    inside = aspx_clock_seconds(aspx_mpi_time_read(mpi_time, ticks));
    if (!user->watched) {
        watch(controller, user, now, inside);
        return false;
    }
    user->predict.interval_s = controller->interval.interval_s;
    user->predict.low = controller->order == ASPX_ORDER_LOW_THRESHOLD
                            ? LOW_PART * controller->low
                            : controller->low;
    if (!was && !aspx_cpu_wait_look(&user->cpu_wait, now, inside))
        return false;
    if (aspx_predict_update(&user->predict, now - user->cpu_wait.lost_s,
                            inside) == was)
        return false;
    if (was)
        aspx_cpu_wait_begin(&user->cpu_wait, now, inside);
    atomic_store_explicit(&user->slot->percent,
                          (int32_t) (100 * user->predict.share + 0.5),
                          memory_order_relaxed);
    young = user->decided && passed_s(user->decided, ticks) <=
                                 YOUNG * controller->interval.interval_s;
    user->decided = controller->changed = ticks;
    decide(controller, user, !was, ticks);
    return young;
}

static void sample_users(struct aspx_node_controller *controller,
                         uint64_t ticks)
{
    double now = aspx_clock_seconds(ticks);
    bool taken_back = false;

    for (uint32_t i = 0; i < controller->nusers; i++)
        taken_back |= sample_user(controller, &controller->user[i], now, ticks);
    controller->wishing = 0;
    for (uint32_t i = 0; i < controller->nusers; i++)
        controller->wishing +=
            controller->opinion[controller->user[i].rank_all] !=
            ASPX_TARGET_BY_ITSELF;
    aspx_sample_interval_update(&controller->interval, taken_back);
    plan_next(controller, ticks);
}

/* An order for all, or its end. Returns how many messages came, or -1. */
static int follow_orders(struct aspx_node_controller *controller,
                         uint64_t ticks)
{
    int32_t help;
    int came;

    if (!controller->samples)
        return 0;
    came = aspx_sample_tree_step(controller->samples, ticks,
                                 controller->wishing);
    if (came < 0)
        return -1;
    help = (int32_t) aspx_sample_tree_help(controller->samples);
    if (help !=
        atomic_load_explicit(&controller->page->help, memory_order_relaxed))
        controller->changed = ticks;
    atomic_store_explicit(&controller->page->help, help, memory_order_relaxed);
    if (aspx_sample_tree_order(controller->samples) == controller->order)
        return came;
    controller->order = aspx_sample_tree_order(controller->samples);
    controller->ordered = true;
    controller->changed = ticks;
    plan_next(controller, ticks);
    atomic_store_explicit(&controller->page->order, (int32_t) controller->order,
                          memory_order_relaxed);
    for (uint32_t r = 0; r < controller->size_all; r++)
        publish(controller, r);
    for (uint32_t i = 0; i < controller->nusers; i++)
        apply(controller, &controller->user[i], ticks, ASPX_WHY_ORDER);
    return came;
}

int aspx_node_controller_step(struct aspx_node_controller *controller,
                              bool came)
{
    uint64_t now;
    bool samples;
    int states, orders;

    if (!controller)
        return 0;
    now = controller->stepped = aspx_clock_ticks();
    controller->unreceived |= came;
    samples = now >= controller->sample_at;
    if (samples)
        sample_users(controller, now);
    if (!samples && now < controller->receive_at)
        return 0;
    controller->receive_at = now + controller->receive_ticks;
    controller->unreceived = false;
    states = aspx_status_broadcast_step(controller->broadcast);
    if (states < 0)
        return -1;
    orders = follow_orders(controller, now);
    return orders < 0 ? -1 : states + orders;
}

uint64_t aspx_node_controller_due_us(
    const struct aspx_node_controller *controller)
{
    uint64_t next, due;

    if (!controller)
        return UINT64_MAX;
    if (wanted(controller))
        return aspx_wait_table[ASPX_WAIT_GHOST_NO_EVENTS].max_us;
    next = controller->sample_at;
    if (controller->samples) {
        due = aspx_sample_tree_due(controller->samples, controller->stepped);
        if (due < controller->receive_at)
            due = controller->receive_at;
        if (due < next)
            next = due;
    }
    if (controller->unreceived && controller->receive_at < next)
        next = controller->receive_at;
    return (uint64_t) (1e6 * aspx_clock_seconds(aspx_clock_between(
                                 controller->stepped, next)));
}

void aspx_node_controller_destroy(struct aspx_node_controller *controller)
{
    if (!controller)
        return;
    for (uint32_t i = 0; i < controller->nusers; i++)
        aspx_cpu_wait_close(&controller->user[i].cpu_wait);
    aspx_sample_tree_destroy(controller->samples);
    aspx_status_broadcast_destroy(controller->broadcast);
    free(controller->opinion);
    free(controller);
}
