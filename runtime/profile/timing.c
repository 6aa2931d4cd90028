/* SPDX-License-Identifier: BSD-3-Clause */
/* Times and waits of calls: the rare paths of timing.h, and the sums. */
#include "config.h"

#include "timing.h"

#include "runtime/base/clock.h"
#include "mpi_time_shared.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Timed are the first calls of each function, then 1 in 9 of its calls so
     * far, at last 1 in 509: a prime, so that no rhythm of the program falls in
     * with it. A shorter period is cut by up to half at random, for the same
     * reason. A period is the number of calls that are only counted. */
    PERIOD_SHARE = 8,
    PERIOD_MAX = 508,
    PERIOD_RANDOM = 2,
    /* Calls that work longer than this, the larger of the two, are all timed:
     * two readings of the clock, and the cache lines that go with them, do not
     * matter then. A sample stands for other calls with so much of its time at
     * most: the rest was an accident, such as a lost time slice. */
    SHORT_READS = 200,
    SHORT_NS = 20000,
    /* All calls that a sample stands for take about so much time at most.
     * Adaptation reads the sums every few milliseconds, and would else see
     * nothing at first, and then more than there was time. */
    SAMPLE_WEIGHT_MAX_NS = 100000,
    MEAN_PARTS = 16,    /* of which the newest is one */
    HANDOVER_NS = 2000, /* the most that a call works which only hands
                           a command to the offload thread */
    UNCHARGED_MAX =
        512, /* turns of a function that were only counted, till told */
};

_Thread_local struct aspx_timing_thread *aspx_timing_self
    __attribute__((tls_model("initial-exec"))) = &aspx_timing_nobody;

struct aspx_timing_thread aspx_timing_first = {.caller = &aspx_timing_first};
struct aspx_timing_thread aspx_timing_nobody = {.frame = ASPX_TIMING_OURS};

void (*_Atomic aspx_timing_after)(void);

static bool started, many, polls;
static uint64_t origin, short_ticks, sample_weight_max, handover_ticks;
static pthread_key_t ended_key;

/* All places that there ever were. When a thread ends, the next new thread
 * takes its place. */
static struct aspx_timing_thread *_Atomic all;

/* When at least one thread was inside. */
static struct aspx_mpi_time own_time, *shared = &own_time;

/* The polls of all threads: did others make one? */
static _Atomic uint64_t poll_count;

/* Written by one thread, read by others. */
static void add(_Atomic uint64_t *sum, uint64_t ticks)
{
    atomic_store_explicit(
        sum, atomic_load_explicit(sum, memory_order_relaxed) + ticks,
        memory_order_relaxed);
}

/* Ticks of a call that is over: inside, less waiting. Of several threads one
 * may work while others wait, and that is not told apart. */
static void add_work(uint64_t ticks)
{
    if (!many)
        add(&shared->work, ticks);
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- threads ------------------------------------------------------------- */

static void ended(void *thread)
{
    aspx_timing_self = &aspx_timing_nobody;
    atomic_store(&((struct aspx_timing_thread *) thread)->vacant, true);
}

bool aspx_timing_start(bool many_threads, bool polls_are_seen)
{
    aspx_clock_start();
    origin = aspx_clock_ticks();
    atomic_store(&shared->word, 0);
    atomic_store(&shared->work, 0);
    atomic_store(&shared->origin, origin);
    many = many_threads;
    polls = polls_are_seen;
    handover_ticks = aspx_clock_ticks_of(1e-9 * HANDOVER_NS);
    sample_weight_max = aspx_clock_ticks_of(1e-9 * SAMPLE_WEIGHT_MAX_NS);
    aspx_poll_sampler_start(many ? 1 : ASPX_POLLS_COUNTED_FIRST);
    short_ticks = SHORT_READS * aspx_poll_sampler_clock_cost();
    if (short_ticks < aspx_clock_ticks_of(1e-9 * SHORT_NS))
        short_ticks = aspx_clock_ticks_of(1e-9 * SHORT_NS);
    started = pthread_key_create(&ended_key, ended) == 0;
    return started;
}

void aspx_timing_publish(struct aspx_mpi_time *to)
{
    struct aspx_mpi_time *from = shared;

    to = to ? to : &own_time;
    if (to == from)
        return;
    atomic_store(&from->clock, ASPX_MPI_TIME_NONE);
    atomic_store(&to->word, atomic_load(&from->word));
    atomic_store(&to->busy.word, atomic_load(&from->busy.word));
    atomic_store(&to->busy.sum, atomic_load(&from->busy.sum));
    atomic_store(&to->work, atomic_load(&from->work));
    atomic_store(&to->origin, origin);
    atomic_store(&to->clock,
                 started ? aspx_mpi_time_clock() : ASPX_MPI_TIME_NONE);
    shared = to;
}

static struct aspx_timing_thread *take_vacant(void)
{
    struct aspx_timing_thread *thread = atomic_load(&all);

    for (; thread; thread = thread->next) {
        bool vacant = true;

        if (atomic_compare_exchange_strong(&thread->vacant, &vacant, false))
            return thread;
    }
    return NULL;
}

static struct aspx_timing_thread *new_thread(void)
{
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    struct aspx_timing_thread *thread = &aspx_timing_first;

    if (atomic_flag_test_and_set(&taken)) {
        thread = aligned_alloc(_Alignof(struct aspx_timing_thread),
                               sizeof(*thread));
        if (!thread)
            return NULL;
        memset(thread, 0, sizeof(*thread));
    }
    thread->next = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &thread->next, thread))
        ;
    return thread;
}

static struct aspx_timing_thread *take_thread(void)
{
    struct aspx_timing_thread *thread = take_vacant();

    if (!thread)
        thread = new_thread();
    if (!thread)
        return NULL;
    thread->many = many;
    aspx_timing_self = thread;
    pthread_setspecific(ended_key, thread);
    return thread;
}

void aspx_timing_ignore_thread(void)
{
    static struct aspx_timing_thread ours = {.frame = ASPX_TIMING_OURS};

    aspx_timing_self = &ours;
}

/* Is the call under way still on the stack? One that was left half-way is soon
 * written over. */
__attribute__((no_sanitize("address"))) static bool is_there(
    const struct aspx_timing_thread *me)
{
    const struct aspx_timing *call = (const void *) me->frame;

    return *(struct aspx_timing_thread *const volatile *) &call->thread == me;
}

struct aspx_timing_thread *aspx_timing_unusual(uintptr_t frame)
{
    struct aspx_timing_thread *me = aspx_timing_self;

    if (me == &aspx_timing_nobody)
        return take_thread();
    if (frame < me->frame && (me->frame == ASPX_TIMING_OURS || is_there(me)))
        return NULL;
    /* The call before was left half-way, and nobody knows when. */
    if (many && atomic_load(&me->began))
        aspx_busy_union_leave(&shared->busy, aspx_clock_ticks() - origin);
    else if (aspx_mpi_time_inside(shared))
        aspx_mpi_time_leave(shared, atomic_load(&me->began), 0);
    atomic_store(&me->began, 0);
    me->seen = 0;
    me->sampler = (struct aspx_poll_sampler){0};
    return me;
}

/* ---- one call ------------------------------------------------------------ */

/* Waiting of calls that were not timed. */
static void account_idle(struct aspx_timing_thread *me, size_t call,
                         uint64_t idle)
{
    me->row[call].idle += idle;
    add(&me->idle, idle);
    add_work(-idle);
}

/* Charge the counted polls of this function, too. */
static void charge_counted(struct aspx_timing_thread *me, size_t call)
{
    account_idle(me, call,
                 me->row[call].uncharged * aspx_poll_sampler_typical());
    me->row[call].uncharged = 0;
}

void aspx_timing_begin(struct aspx_timing_thread *me)
{
    uint64_t now = aspx_clock_ticks();

    me->sample = true;
    me->seen = 0;
    atomic_store_explicit(&me->began, now, memory_order_relaxed);
    if (many)
        aspx_busy_union_enter(&shared->busy, now - origin);
    else
        aspx_mpi_time_enter(shared, now);
}

void aspx_timing_before_shared_poll(struct aspx_timing_thread *me)
{
    if (atomic_load_explicit(&poll_count, memory_order_relaxed) !=
        me->polls_then)
        (void) aspx_poll_sampler_yielded(
            &me->sampler); /* others were in MPI, we not */
    else
        aspx_poll_sampler_before(&me->sampler);
}

unsigned aspx_timing_after_shared_poll(struct aspx_timing_thread *me,
                                       unsigned found)
{
    me->polls_then = atomic_fetch_add(&poll_count, 1) + 1;
    return aspx_timing_after_poll(me, found);
}

/* The wait is long: time the call from where the clock began to be read. */
static void time_from_wait(struct aspx_timing_thread *me)
{
    if (me->seen)
        return;
    me->seen = me->sampler.since;
    me->seen_idle = me->sampler.idle_at_since;
    if (!atomic_load_explicit(&me->began, memory_order_relaxed)) {
        me->sample = false;
        atomic_store_explicit(&me->began, me->seen, memory_order_relaxed);
        if (many)
            aspx_busy_union_enter(&shared->busy,
                                  aspx_clock_between(origin, me->seen));
        else
            aspx_mpi_time_enter(shared, me->seen);
    }
}

unsigned aspx_timing_step(struct aspx_timing_thread *me, unsigned found)
{
    if (aspx_poll_sampler_after(&me->sampler, found))
        time_from_wait(me);
    return found;
}

/* The next period of this function, after a sample that was `inside` for so
 * long and worked for so much of it. */
static int32_t choose_sample_period(struct aspx_timing_thread *me, size_t call,
                                    uint64_t inside, uint64_t worked)
{
    const struct aspx_timing_row *row = &me->row[call];
    /* In calls that may wait, waiting is measured in each: what they take until
     * then counts. Of others the rare long ones do, too. */
    uint64_t usual = aspx_timed[call] == ASPX_TIMED_SOME && row->calls
                         ? row->ticks / row->calls
                         : row->usual;
    uint64_t most = sample_weight_max / ((usual > inside ? usual : inside) + 1);
    uint64_t gap = least_of(row->calls / PERIOD_SHARE, most);

    if (aspx_timed[call] == ASPX_TIMED_EACH || worked > short_ticks ||
        (aspx_timed[call] == ASPX_TIMED_WAIT && (many || !polls)))
        return 0;
    if (gap >= PERIOD_MAX)
        return PERIOD_MAX;
    return (int32_t) (gap - aspx_poll_sampler_random(&me->sampler) %
                                ((gap + 1) / PERIOD_RANDOM + 1));
}

/* A sample stands for the calls of its period, which were counted only. Returns
 * what to add to the time inside; *idle_p: to the waiting. */
static uint64_t stand_for_others(struct aspx_timing_thread *me, size_t call,
                                 uint64_t inside, uint64_t idle,
                                 uint64_t *idle_p)
{
    struct aspx_timing_row *row = &me->row[call];
    uint64_t others = (uint64_t) row->sample_period,
             cost = aspx_poll_sampler_clock_cost();

    row->calls += others + 1;
    row->usual = row->usual
                     ? (row->usual * (MEAN_PARTS - 1) + inside) / MEAN_PARTS
                     : inside;
    row->left = row->sample_period = choose_sample_period(me, call, inside,
                                                          inside - idle);
    /* waiting in calls that may wait has been seen in each of them */
    *idle_p = aspx_timed[call] == ASPX_TIMED_SOME
                  ? others * least_of(idle, short_ticks)
                  : 0;
    /* and nobody has read the clock in the others */
    return others *
           aspx_clock_between(cost, least_of(inside, short_ticks + cost));
}

/* Where polls do not show the waiting: all beyond the shortest call of this
 * function. */
static uint64_t guess_idle(struct aspx_timing_row *row, uint64_t inside)
{
    if (row->least == 0 || inside < row->least)
        row->least = least_of(inside, handover_ticks);
    return inside - row->least;
}

static void end(struct aspx_timing_thread *me, size_t call)
{
    struct aspx_timing_row *row = &me->row[call];
    uint64_t began = atomic_load_explicit(&me->began, memory_order_relaxed);
    uint64_t now = aspx_clock_ticks();
    uint64_t inside = aspx_clock_between(began, now);
    uint64_t idle = aspx_poll_sampler_finish(&me->sampler);
    uint64_t early = inside, early_idle = idle, more = 0, more_idle = 0;

    if (!polls && aspx_timed[call] != ASPX_TIMED_SOME)
        idle = guess_idle(row, inside);
    if (me->seen) {
        early = least_of(aspx_clock_between(began, me->seen), inside);
        early_idle = me->seen_idle;
    }
    charge_counted(me, call);
    if (me->sample)
        more = stand_for_others(me, call, early, least_of(early_idle, early),
                                &more_idle);
    if (many) {
        aspx_busy_union_leave(&shared->busy, now - origin);
        atomic_fetch_add(&shared->word, more);
    } else {
        aspx_mpi_time_leave(shared, now, more);
    }
    row->ticks += inside + more;
    row->idle += idle + more_idle;
    add(&me->idle, idle + more_idle);
    me->seen = 0;
    atomic_store_explicit(&me->began, 0, memory_order_relaxed);
    add(&me->ticks, inside + more);
    add_work(inside + more - idle - more_idle);
}

/* After a call that was timed. */
static void run_hook(void)
{
    void (*after)(void) = atomic_load_explicit(&aspx_timing_after,
                                               memory_order_relaxed);

    if (after)
        after();
}

/* A call that was not timed has waited, and not for long. */
static void charge_short_wait(struct aspx_timing_thread *me, size_t call)
{
    if (me->sampler.clock_read) {
        account_idle(me, call, aspx_poll_sampler_finish(&me->sampler));
        return;
    }
    me->row[call].uncharged += aspx_poll_sampler_take_counted(&me->sampler);
    if (me->row[call].uncharged > UNCHARGED_MAX)
        charge_counted(me, call);
}

void aspx_timing_left(struct aspx_timing_thread *me, size_t call)
{
    if (aspx_poll_sampler_stop(&me->sampler))
        time_from_wait(me);
    if (!aspx_timing_begun(me)) {
        charge_short_wait(me, call);
        me->frame = 0;
        return;
    }
    end(me, call);
    me->frame = 0;
    run_hook();
}

void aspx_timing_yielded(void)
{
    struct aspx_timing_thread *me = aspx_timing_polls();

    if (me && aspx_poll_sampler_yielded(&me->sampler))
        time_from_wait(me);
}

/* ---- sums ---------------------------------------------------------------- */

double aspx_timing_inside(void)
{
    uint64_t now = aspx_clock_ticks();

    if (!started)
        return 0;
    return aspx_clock_seconds(
        least_of(aspx_mpi_time_read(shared, now), now - origin));
}

struct aspx_timing_sum aspx_timing_sum(void)
{
    struct aspx_timing_thread *thread = atomic_load(&all);
    uint64_t ticks = 0, idle = 0;
    uint32_t threads = 0;

    for (; thread; thread = thread->next, threads++) {
        ticks += atomic_load(&thread->ticks);
        idle += atomic_load(&thread->idle);
    }
    return (struct aspx_timing_sum){
        .inside_s = aspx_clock_seconds(ticks),
        .idle_s = aspx_clock_seconds(least_of(idle, ticks)),
        .threads = threads,
    };
}

struct aspx_timing_call aspx_timing_call(size_t call)
{
    struct aspx_timing_thread *thread = atomic_load(&all);
    uint64_t count = 0, ticks = 0, idle = 0;

    for (; thread; thread = thread->next) {
        const struct aspx_timing_row *row = &thread->row[call];

        count += row->calls;
        count += (uint64_t) (row->sample_period -
                             (row->left > 0 ? row->left : 0));
        ticks += row->ticks;
        idle += row->idle;
    }
    return (struct aspx_timing_call){
        .count = count,
        .inside_s = aspx_clock_seconds(ticks),
        .idle_s = aspx_clock_seconds(least_of(idle, ticks)),
    };
}
