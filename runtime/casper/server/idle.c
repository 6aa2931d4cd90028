/* SPDX-License-Identifier: BSD-3-Clause */
/* The hard part is to know that there is work: MPI handles one-sided messages
 * inside its progress engine and tells nobody. Two signs are seen from here.
 * The device's polls tell how many events they handled (runtime/net). And users
 * of the node ring the doorbell (aspx_doorbell_ring) when they begin to wait,
 * and for each message where MPI sends within a node past the device.
 *
 *     spin, yield ---no work---> announced: one more round of the loop
 *        ^                          |
 *        |work, doorbell            v
 *        +--------------blocked on the device's events and the doorbell
 *
 * Everything that a ghost looks at must end a block or bound it: messages and
 * the doorbell end it; the leader's next look at its users, the next decision
 * about who is parked, and locks that wait for a word in memory bound it. Where
 * users ring for each message, the rest of a long one comes without a ring, so
 * blocks are short at first. Where the device has no events it naps in steps
 * (ASPX_WAIT_GHOST_NO_EVENTS).
 * docs/design/waiting.md */
#include "config.h"

#include "ghost.h"
#include "idle.h"

#include "runtime/base/clock.h"
#include "runtime/profile/poll_sampler.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
    POLLS_PER_CLOCK = 2, /* reading the clock costs as much as a poll */
    /* So often in a row the device may say busy before the ghost naps. Each
     * sender that has woken it leaves one, and the kernel keeps 10
     * (max_dgram_qlen). More say that its answers wait for a process that
     * computes. */
    BUSY_IN_A_ROW = 16,
    /* While a user waits for what comes past the device: a look at MPI takes
     * one such message, a round looks 8 times, and by default a user has up to
     * 64 in MPICH's shared memory (MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS)
     * before it waits for room, where it rings no doorbell. */
    ROUNDS_AWAITED = 8,
    /* A block of this length that ends by its bound with work there was not
     * ended by that work. Once that is chance, which the next wake-up
     * forgives. */
    LATE_US = 100000,
    LATE_MAX = 2,
};

static uint64_t began_ns;
static struct aspx_poll_sampler sampler;

static aspx_net_poll_f *poll_behind;

/* In front of the device's polls. */
static unsigned poll_sampled(void *queue)
{
    unsigned count;

    aspx_poll_sampler_before(&sampler);
    count = poll_behind(queue);
    if (!aspx_poll_sampler_count(&sampler, count))
        (void) aspx_poll_sampler_after(&sampler, count);
    return count;
}

uint64_t aspx_idle_began_ns(void)
{
    return began_ns;
}

uint64_t aspx_idle_ns(void)
{
    return (uint64_t) (1e9 *
                       aspx_clock_seconds(aspx_poll_sampler_idle(&sampler)));
}

/* The row of this ghost, as the knobs change it. */
static struct aspx_wait_policy row(const struct asp_knobs *knobs,
                                   enum aspx_waiter waiter)
{
    struct aspx_wait_policy policy = aspx_wait_table[waiter];

    if (knobs->idle_spin_us != ASP_NUMBER_AUTO)
        policy.spin_us = (uint32_t) knobs->idle_spin_us;
    if (knobs->idle_yield_us != ASP_NUMBER_AUTO)
        policy.yield_us = (uint32_t) knobs->idle_yield_us;
    return policy;
}

static void ignore_signal(int number)
{
    (void) number;
}

/* The doorbell's signal is let in while the ghost blocks, and only there. */
static void hang_doorbell(struct aspx_idle *idle)
{
    struct sigaction action = {.sa_handler = ignore_signal};
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, ASPX_DOORBELL_SIGNAL);
    pthread_sigmask(SIG_BLOCK, &signals, &idle->blocked_signals);
    sigdelset(&idle->blocked_signals, ASPX_DOORBELL_SIGNAL);
    sigaction(ASPX_DOORBELL_SIGNAL, &action, NULL);
    if (idle->doorbell)
        atomic_store(&idle->doorbell->pid, (int32_t) getpid());
}

void aspx_idle_start(struct aspx_idle *idle, const struct asp_layout *layout,
                     uint32_t rank_world, bool rings,
                     struct aspx_doorbell *doorbell)
{
    const struct aspx_wait_policy *naps =
        &aspx_wait_table[ASPX_WAIT_GHOST_NO_EVENTS];
    bool alone = asp_layout_alone(layout, rank_world);

    *idle = (struct aspx_idle){
        .doorbell = doorbell,
        .active = row(&layout->knobs, alone ? ASPX_WAIT_GHOST_OWN_CPU
                                            : ASPX_WAIT_GHOST_SHARED_CPU),
        .ended = ASPX_NET_CANNOT,
    };
    /* Only naps differ: on a CPU of others a ghost that spins for longer loses
     * it to them. */
    idle->fallback = idle->active;
    idle->fallback.first_us = naps->first_us;
    idle->fallback.max_us = naps->max_us;
    if (rings)
        idle->active.first_us = naps->first_us;
    hang_doorbell(idle);
    aspx_clock_start();
    aspx_poll_sampler_start(ASPX_POLLS_COUNTED_FIRST);
    sampler = (struct aspx_poll_sampler){0};
    aspx_net_count();
    (void) aspx_net_lead_polls(poll_sampled, &poll_behind);
    began_ns = aspx_clock_ns(CLOCK_MONOTONIC);
    /* The default slack of 50 us would double the shortest naps. */
    (void) prctl(PR_SET_TIMERSLACK, 1000);
}

/* Parked, or no more: tell who wants to know. */
static void turn_in(struct aspx_idle *idle, bool parked)
{
    struct aspx_ghost_scaling *scaling = &idle->doorbell->scaling;
    int64_t used = (int64_t) aspx_clock_ns(CLOCK_PROCESS_CPUTIME_ID);

    atomic_fetch_add(&scaling->parked_cpu_ns, parked ? -used : used);
    atomic_store(&scaling->parked_seen, parked);
    aspx_ghost_parked(parked);
    idle->parked = parked;
}

static void note_parked(struct aspx_idle *idle)
{
    bool parked = idle->doorbell &&
                  atomic_load_explicit(&idle->doorbell->scaling.parked_since_ns,
                                       memory_order_relaxed) != 0;

    if (parked != idle->parked)
        turn_in(idle, parked);
}

/* Why it naps; ASPX_NET_HEARS where it need not. */
static enum aspx_net_deaf deaf(const struct aspx_idle *idle)
{
    bool reachable = !idle->doorbell ||
                     !atomic_load_explicit(&idle->doorbell->unreachable,
                                           memory_order_relaxed);

    return reachable ? aspx_net_deaf() : ASPX_NET_UNHEARD;
}

/* Does a user wait whose messages the device does not see? */
static bool is_awaited(const struct aspx_idle *idle)
{
    return idle->doorbell && atomic_load_explicit(&idle->doorbell->awaited,
                                                  memory_order_relaxed) > 0;
}

/* Another round before it blocks? */
static bool looks_on(struct aspx_idle *idle)
{
    return is_awaited(idle) && ++idle->awaited_rounds % ROUNDS_AWAITED != 0;
}

static const struct aspx_wait_policy *policy_of(const struct aspx_idle *idle)
{
    if (deaf(idle) != ASPX_NET_HEARS)
        return &idle->fallback;
    return idle->parked && !is_awaited(idle)
               ? &aspx_wait_table[ASPX_WAIT_GHOST_PARKED]
               : &idle->active;
}

static bool has_rung(const struct aspx_idle *idle)
{
    return aspx_event_has_come(idle->turns.event, idle->turns.key);
}

/* Arm the device. Returns for how long to block, us at most; 0: not now. */
static uint32_t arm_for(struct aspx_idle *idle, uint32_t us)
{
    const struct aspx_wait_policy *nap = &idle->fallback;
    enum aspx_net_deaf before = aspx_net_deaf();
    uint32_t nap_us;

    if (aspx_net_arm() != ASPX_NET_BUSY) {
        idle->busy = 0;
        return aspx_net_deaf() == before ? us : 0;
    }
    if (++idle->busy <= BUSY_IN_A_ROW)
        return 0;
    nap_us = (idle->busy - BUSY_IN_A_ROW) * nap->first_us;
    if (nap_us > nap->max_us) {
        idle->busy--; /* grows no more */
        nap_us = nap->max_us;
    }
    return nap_us < us ? nap_us : us;
}

/* For the record. */
static void tell_how(const struct aspx_idle *idle)
{
    atomic_store_explicit(&aspx_heartbeat_own()->naps, deaf(idle),
                          memory_order_relaxed);
}

/* Block, once there has been a round of the loop since it was announced.
 * Returns true when the doorbell rang before or meanwhile. */
static bool block(struct aspx_idle *idle, uint32_t us)
{
    struct aspx_heartbeat *heartbeat = aspx_heartbeat_own();
    bool rang;

    us = arm_for(idle, us);
    if (us == 0)
        return false;
    aspx_heartbeat_set_doing(idle->parked ? ASPX_PARKED : ASPX_NAPPING);
    atomic_store(&heartbeat->nap_ns, aspx_clock_ns(CLOCK_MONOTONIC));
    tell_how(idle);
    aspx_poll_sampler_blocks(&sampler);
    if (!has_rung(idle))
        idle->ended = aspx_net_wait(&idle->blocked_signals, us);
    aspx_heartbeat_set_doing(ASPX_POLLING);
    aspx_poll_sampler_yielded(&sampler);
    atomic_store(&heartbeat->idle_ns, aspx_idle_ns());
    atomic_store(&heartbeat->nap_ns, 0);
    rang = has_rung(idle);
    if (us < LATE_US || rang)
        idle->ended = ASPX_NET_CANNOT; /* says little */
    idle->turns.key = aspx_event_key(idle->turns.event);
    return rang;
}

static void block_for(struct aspx_idle *idle, uint32_t us, uint64_t due_us)
{
    struct aspx_event *event = idle->doorbell ? &idle->doorbell->event
                                              : &idle->unheard;

    if (!aspx_await_announce(&idle->turns, event) &&
        block(idle, due_us < us ? (uint32_t) due_us : us))
        aspx_backoff_reset(&idle->turns.backoff);
}

/* After the round that followed a long block. Where work comes without waking
 * the ghost, whatever the reason, it naps from now on. */
static void judge_block(struct aspx_idle *idle, bool work)
{
    if (idle->ended == ASPX_NET_WOKEN && work)
        idle->late = 0;
    else if (idle->ended == ASPX_NET_TIMED_OUT && work &&
             ++idle->late == LATE_MAX)
        aspx_net_set_deaf(ASPX_NET_LATE);
    idle->ended = ASPX_NET_CANNOT;
}

void aspx_idle_step(struct aspx_idle *idle, bool worked, uint64_t due_us)
{
    uint32_t us;

    if (idle->ended != ASPX_NET_CANNOT)
        judge_block(idle, worked);
    if (worked) {
        idle->busy = 0;
        aspx_await_end(&idle->turns);
        return;
    }
    if (!idle->turns.event && ++idle->polls % POLLS_PER_CLOCK != 0)
        return;
    note_parked(idle);
    us = aspx_await_turn(&idle->turns, policy_of(idle), is_awaited(idle));
    if (idle->turns.step == ASPX_YIELD)
        aspx_poll_sampler_yielded(&sampler);
    else if (idle->turns.step == ASPX_BLOCK && !looks_on(idle))
        block_for(idle, us, due_us);
}
