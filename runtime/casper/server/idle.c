/* SPDX-License-Identifier: BSD-3-Clause */
/* The hard part is to know that there is work: MPI handles one-sided messages
 * inside its progress engine and tells nobody. Two signs are seen from here.
 * Messages from other nodes come through UCX, whose progress call counts its
 * events: aspen-ghost defines that call itself and passes it on. Messages from
 * this node may come through MPICH's own shared memory; their senders ring the
 * doorbell before they wait (aspx_doorbell_ring).
 *
 * Naps end by the doorbell, or by their time, which bounds what a sender on
 * another node waits for a ghost that has been idle: one nap, because the ghost
 * then stays awake for yield_us.
 *
 * A ghost that wakes up on a CPU of users pushes one aside each time, also when
 * it finds nothing. So there naps grow beyond nap_max_us, as a parked ghost's
 * do, but to no more than a hundredth of the time for which nothing has come:
 * who sends it something, now and then, loses 1 % of the time at most by that;
 * or to a tenth, while it is known that nobody on the node wants a ghost
 * (idle_hint.h). */
#include "config.h"

#include "ghost.h"
#include "idle.h"

#include "common/layout/idle_auto.h"
#include "runtime/base/clock.h"
#include "runtime/profile/poll_sampler.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    NAP_FIRST_US = 20,
    PARKED_MAX_US = 50000,
    LONG_PART = 100,
    UNWANTED_PART = 10,
    UNWANTED_MAX_US = 20000, /* where it shares its CPU */
    KNOB_MAX_US = 1000000,
    POLLS_PER_CLOCK = 2, /* reading the clock costs as much as a poll */
};

static uint64_t events, began_ns;
static struct aspx_poll_sampler sampler;

typedef unsigned progress_f(void *worker);

static progress_f *find_progress(void)
{
    void *found = dlsym(RTLD_NEXT, "ucp_worker_progress");
    progress_f *progress;

    if (!found)
        abort(); /* cannot be: UCX itself or MPICH called us by this name */
    *(void **) &progress = found;
    return progress;
}

/* Interposes UCX's progress call in the ghost program only. */
__attribute__((visibility("default"))) unsigned ucp_worker_progress(
    void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static progress_f *progress;
    unsigned count;

    if (!progress)
        progress = find_progress();
    aspx_poll_sampler_before(&sampler);
    count = progress(worker);
    if (!aspx_poll_sampler_count(&sampler, count))
        (void) aspx_poll_sampler_after(&sampler, count);
    events += count;
    return count;
}

uint64_t aspx_idle_events(void)
{
    return events;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

static uint64_t now_us(void)
{
    return now_ns() / 1000;
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

static uint64_t knob(const struct asp_layout *layout, const char *name,
                     uint64_t fallback)
{
    const char *text = asp_layout_knob(layout, name, NULL);
    char *end;
    unsigned long value;

    if (!text || !*text)
        return fallback;
    value = strtoul(text, &end, 10);
    return *end || value > KNOB_MAX_US ? fallback : value;
}

void aspx_idle_start(struct aspx_idle *idle, const struct asp_layout *layout,
                     uint32_t rank_world, struct aspx_doorbell *doorbell)
{
    bool alone = asp_layout_alone(layout, rank_world);

    *idle = (struct aspx_idle){
        .doorbell = doorbell,
        .spin_us = knob(layout, "idle.spin_us",
                        alone ? ASP_IDLE_SPIN_ALONE_US : ASP_IDLE_SPIN_US),
        .yield_us = knob(layout, "idle.yield_us", ASP_IDLE_YIELD_US),
        .nap_max_us = knob(layout, "idle.nap_us", ASP_IDLE_NAP_MAX_US),
        .rested_max_us = knob(layout, "idle.nap_us",
                              alone ? ASP_IDLE_NAP_MAX_US
                                    : ASP_IDLE_NAP_SHARED_US),
        .unwanted_max_us = knob(layout, "idle.nap_us",
                                alone ? ASP_IDLE_NAP_MAX_US : UNWANTED_MAX_US),
        .parked_max_us = knob(layout, "idle.parked_nap_us", PARKED_MAX_US),
        .last_work_us = now_us(),
    };
    aspx_clock_start();
    aspx_poll_sampler_start(ASPX_POLLS_COUNTED_FIRST);
    sampler = (struct aspx_poll_sampler){0};
    began_ns = now_ns();
    /* The default slack of 50 us would double the shortest naps. */
    (void) prctl(PR_SET_TIMERSLACK, 1000);
}

/* Returns true when the doorbell rang before or during the nap. */
static bool nap(struct aspx_idle *idle)
{
    const struct timespec length = {(time_t) (idle->nap_us / 1000000),
                                    (long) (idle->nap_us % 1000000) * 1000};
    struct aspx_heartbeat *heartbeat = aspx_heartbeat_own();
    _Atomic uint32_t *doorbell;
    bool rang;

    if (!idle->doorbell) {
        nanosleep(&length, NULL);
        aspx_poll_sampler_yielded(&sampler);
        return false;
    }
    doorbell = &idle->doorbell->state;
    aspx_heartbeat_set_doing(idle->parked ? ASPX_PARKED : ASPX_NAPPING);
    atomic_store(&heartbeat->nap_ns, now_ns());
    rang = atomic_exchange(doorbell, ASPX_DOORBELL_ASLEEP) ==
           ASPX_DOORBELL_RUNG;
    if (!rang)
        syscall(SYS_futex, doorbell, FUTEX_WAIT, ASPX_DOORBELL_ASLEEP, &length,
                NULL, 0);
    aspx_heartbeat_set_doing(ASPX_POLLING);
    aspx_poll_sampler_yielded(&sampler);
    atomic_store(&heartbeat->idle_ns, aspx_idle_ns());
    atomic_store(&heartbeat->nap_ns, 0);
    return atomic_exchange(doorbell, ASPX_DOORBELL_AWAKE) ==
               ASPX_DOORBELL_RUNG ||
           rang;
}

/* Parked, or no more: tell who wants to know. */
static void turn_in(struct aspx_idle *idle, bool parked)
{
    struct aspx_ghost_scaling *scaling = &idle->doorbell->scaling;
    struct timespec cpu;
    int64_t used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    used = (int64_t) cpu.tv_sec * 1000000000 + cpu.tv_nsec;
    atomic_fetch_add(&scaling->parked_cpu_ns, parked ? -used : used);
    atomic_store(&scaling->parked_seen, parked);
    aspx_ghost_parked(parked);
    idle->parked = parked;
}

/* The longest nap after so long without work. */
static uint64_t longest(struct aspx_idle *idle, uint64_t now,
                        const struct aspx_leave *leave)
{
    bool parked = idle->doorbell &&
                  atomic_load_explicit(&idle->doorbell->scaling.parked_since_ns,
                                       memory_order_relaxed) != 0;
    bool unwanted = aspx_unwanted_sure(&idle->unwanted, now);
    uint64_t bound = parked     ? idle->parked_max_us
                     : unwanted ? idle->unwanted_max_us
                                : idle->rested_max_us;
    uint64_t most = (now - idle->last_work_us) /
                    (unwanted ? UNWANTED_PART : LONG_PART);

    if (parked != idle->parked)
        turn_in(idle, parked);
    if (most > bound)
        most = bound;
    if (most > leave->rest_us)
        most = leave->rest_us;
    return most > idle->nap_max_us ? most : idle->nap_max_us;
}

void aspx_idle_step(struct aspx_idle *idle, bool worked,
                    const struct aspx_leave *leave)
{
    uint64_t now, idle_us, most;

    if (worked) {
        if (idle->unwanted.since_us)
            aspx_unwanted_called(&idle->unwanted, now_us());
        idle->last_work_us = 0; /* the next idle step reads the clock */
        idle->nap_us = 0;
        return;
    }
    if (idle->last_work_us && idle->nap_us == 0 &&
        ++idle->polls % POLLS_PER_CLOCK != 0)
        return;
    if (idle->last_work_us == 0)
        idle->last_work_us = now_us();
    now = now_us();
    idle_us = now - idle->last_work_us;
    if (idle_us < idle->spin_us)
        return;
    aspx_unwanted_say(&idle->unwanted, leave->unwanted, now);
    most = longest(idle, now, leave);
    if (idle_us < idle->spin_us + idle->yield_us || most == 0) {
        sched_yield();
        aspx_poll_sampler_yielded(&sampler);
        return;
    }
    idle->nap_us = idle->nap_us ? 2 * idle->nap_us : NAP_FIRST_US;
    if (idle->nap_us > most)
        idle->nap_us = most;
    if (nap(idle)) {
        idle->last_work_us = 0;
        idle->nap_us = 0;
    }
}
