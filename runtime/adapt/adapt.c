/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process wants for itself as a target: see adapt.h. */
#include "config.h"

#include "adapt.h"

#include "runtime/casper/arena/engine.h"
#include "runtime/mpi/real.h"
#include "runtime/profile/cpu_wait.h"
#include "runtime/adapt/decide/predictor.h"
#include "runtime/profile/profile.h"
#include "runtime/profile/timing.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static struct aspx_trace own_trace;
static pthread_mutex_t trace_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool able;
static char mode[ASP_VALUE_MAX] = "off";
static double interval_s;

/* The profile: its wish, and the share of the time in MPI that led to it, in
 * percent. One for all windows. */
static bool profiled;
static struct aspx_predict predict;
static struct aspx_cpu_wait cpu_wait = {.schedstat = -1};
static int percent;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* What the leader decides; and for how long it must have held before a new
 * window takes it over. */
static const double settled_s = 1;
const aspx_target_byte *aspx_adapt_target_states;
struct aspx_issued *aspx_adapt_issued;
static struct aspx_node_status_page *page;
static struct aspx_rank_slot *slot;
static int rank_all;

enum aspx_async aspx_async_read(const char *value)
{
    static const char *const words[] = {
        [ASPX_ASYNC_ON] = "on",
        [ASPX_ASYNC_OFF] = "off",
        [ASPX_ASYNC_AUTO] = "auto",
        [ASPX_ASYNC_NATIVE] = "native",
    };

    for (unsigned w = ASPX_ASYNC_ON; w <= ASPX_ASYNC_NATIVE; w++)
        if (strcasecmp(value, words[w]) == 0)
            return (enum aspx_async) w;
    return ASPX_ASYNC_UNSAID;
}

/* The thread whose waits for a CPU count, or 0: with several threads in MPI
 * none of them stands for the others. */
static pid_t own_pid(void)
{
    int level = MPI_THREAD_MULTIPLE;

    aspx_real.MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE || !aspx_cpu_wait_namespace()
               ? 0
               : getpid();
}

/* Let the ghosts see this process's time in MPI. */
static void take_slot(const struct aspx_engine *engine)
{
    const struct aspx_world *world = engine->world;
    double now = aspx_trace_clock();

    page = engine->arena.status_page;
    rank_all = world->rank_all;
    slot = &page->slots[aspx_engine_local(world, (uint32_t) rank_all)];
    aspx_trace_begin(&slot->trace, now);
    aspx_trace_thing(&slot->trace, now, 1, true);
    atomic_store(&slot->pid_namespace, aspx_cpu_wait_namespace());
    atomic_store(&slot->pid, (int32_t) own_pid());
    aspx_profile_start();
    aspx_timing_publish(&slot->mpi_time);
    if (engine->settings.tried)
        aspx_adapt_issued = &slot->issued;
    aspx_adapt_target_states = aspx_status_page_targets(
        page, aspx_engine_count(world, ASP_ROLE_USER));
}

static void watch_myself(const struct asp_knobs *knobs)
{
    profiled = true;
    aspx_profile_start();
    aspx_predict_init(&predict, interval_s, knobs->adapt_high / 1e2,
                      knobs->adapt_low / 1e2, aspx_trace_clock(),
                      aspx_profile_mpi_seconds());
    aspx_cpu_wait_open(&cpu_wait, own_pid());
}

void aspx_adapt_start(const struct aspx_engine *engine)
{
    const struct asp_knobs *knobs = &engine->world->layout->knobs;

    able = engine->settings.adapt;
    asp_knobs_text(knobs, ASP_KNOB_ADAPT, mode);
    interval_s = knobs->adapt_interval_ms / 1e3;
    aspx_trace_begin(&own_trace, aspx_trace_clock());
    if (able && engine->settings.ghosts_decide && engine->arena.status_page)
        take_slot(engine);
    else if (able && knobs->adapt != ASP_ADAPT_USER)
        watch_myself(knobs);
}

void aspx_adapt_stop(void)
{
    aspx_cpu_wait_close(&cpu_wait);
    if (!slot)
        return;
    aspx_timing_publish(NULL);
    aspx_adapt_target_states = NULL;
    aspx_adapt_issued = NULL;
    slot = NULL;
    page = NULL;
}

const _Atomic int32_t *aspx_adapt_help(void)
{
    return aspx_adapt_issued ? &page->help : NULL;
}

struct aspx_message_counts *aspx_adapt_posted(void)
{
    return aspx_adapt_issued ? &aspx_adapt_issued->posted : NULL;
}

bool aspx_adapt_able(void)
{
    return able;
}

const char *aspx_adapt_mode(void)
{
    return mode;
}

double aspx_adapt_interval_s(void)
{
    return page ? 1e-6 * atomic_load(&page->interval_us) : interval_s;
}

bool aspx_adapt_native(enum aspx_async said)
{
    return said == ASPX_ASYNC_NATIVE || (said == ASPX_ASYNC_OFF && !able);
}

bool aspx_adapt_said(enum aspx_async said)
{
    return said == ASPX_ASYNC_ON || said == ASPX_ASYNC_OFF;
}

static bool wish_of_profile(void)
{
    double now = aspx_trace_clock(), mpi = aspx_profile_mpi_seconds();
    bool on, was;

    pthread_mutex_lock(&mutex);
    was = predict.on;
    if (!was && aspx_predict_due(&predict, now - cpu_wait.lost_s))
        (void) aspx_cpu_wait_look(&cpu_wait, now, mpi); /* never unclear */
    on = aspx_predict_update(&predict, now - cpu_wait.lost_s, mpi);
    if (was && !on)
        aspx_cpu_wait_begin(&cpu_wait, now, mpi);
    if (on != was)
        percent = (int) (100 * predict.share + 0.5);
    pthread_mutex_unlock(&mutex);
    return on;
}

/* A program is inside MPI while it starts and makes windows, which says nothing
 * of how it will use them. A window without legal points keeps what it begins
 * with: on is the safe beginning, as a window that is off may wait for its
 * target without end. */
static bool is_settled(void)
{
    uint64_t since = atomic_load_explicit(&slot->since, memory_order_relaxed);

    return aspx_clock_between(since, aspx_clock_ticks()) >
           aspx_clock_ticks_of(settled_s);
}

static bool wish_of_ghosts(bool first)
{
    return atomic_load_explicit(&aspx_adapt_target_states[rank_all],
                                memory_order_relaxed) !=
               ASPX_TARGET_BY_ITSELF ||
           (first && !is_settled());
}

bool aspx_adapt_wish(enum aspx_async said, bool first)
{
    if (aspx_adapt_said(said))
        return said == ASPX_ASYNC_ON;
    if (aspx_adapt_target_states)
        return wish_of_ghosts(first);
    return !profiled || wish_of_profile();
}

int aspx_adapt_why(enum aspx_async said)
{
    if (aspx_adapt_said(said))
        return ASPX_WHY_ASKED;
    if (slot && aspx_order_overrules((enum aspx_order) atomic_load_explicit(
                    &page->order, memory_order_relaxed)))
        return ASPX_WHY_ORDER;
    if (slot)
        return atomic_load_explicit(&slot->percent, memory_order_relaxed);
    return profiled ? percent : ASPX_WHY_ASKED;
}

struct aspx_trace *aspx_adapt_target_trace(void)
{
    static struct aspx_trace copy;
    uint32_t edition, tries = 1000;

    if (!slot)
        return NULL;
    do {
        edition = atomic_load_explicit(&slot->edition, memory_order_acquire);
        copy = slot->trace;
        atomic_thread_fence(memory_order_acquire);
    } while ((edition % 2 ||
              edition !=
                  atomic_load_explicit(&slot->edition, memory_order_relaxed)) &&
             --tries);
    if (!tries || !aspx_trace_sane(&copy))
        return NULL;
    aspx_trace_close(&copy, aspx_trace_clock());
    return &copy;
}

struct aspx_decisions *aspx_adapt_decisions(void)
{
    struct aspx_decisions *all;
    uint32_t n;

    if (!aspx_adapt_issued || aspx_world.rank_user != 0)
        return NULL;
    all = calloc(1, sizeof(*all));
    if (!all)
        return NULL;
    n = atomic_load_explicit(&page->decisions.n, memory_order_acquire);
    aspx_decisions_take(
        all, page->decisions.list, n,
        atomic_load_explicit(&page->decisions.more, memory_order_relaxed));
    return all;
}

void aspx_own_trace_window(int by, bool on)
{
    pthread_mutex_lock(&trace_mutex);
    aspx_trace_thing(&own_trace, aspx_trace_clock(), by, on);
    pthread_mutex_unlock(&trace_mutex);
}

void aspx_own_trace_switched(uint32_t order, bool on, int why)
{
    pthread_mutex_lock(&trace_mutex);
    aspx_trace_switched(&own_trace, aspx_trace_clock(), (int32_t) order, on,
                        why);
    pthread_mutex_unlock(&trace_mutex);
}

struct aspx_trace *aspx_own_trace_close(void)
{
    aspx_trace_close(&own_trace, aspx_trace_clock());
    return &own_trace;
}
