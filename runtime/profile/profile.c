/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of the profile layer, and its hook in the polls of libmpich. */
#include "config.h"

#include "profile.h"

#include "runtime/base/clock.h"
#include "timing.h"

#include "runtime/mpi/entry.h"
#include "runtime/net/net.h"
#include "runtime/record/frame.h"

#include "mpi_behind.h"

#include <sched.h>
#include <stdatomic.h>

static bool runs;
static uint64_t start_ticks, stop_ticks;

static bool elsewhere, many_wait; /* aspx_profile_waits_elsewhere() */

/* A TIMED poll, one in some fifty of a long wait; apart, so that the others
 * save no more than a register. */
static ASPX_TIMED_APART unsigned poll_clocked(void *worker,
                                              struct aspx_timing_thread *me)
{
    aspx_poll_sampler_before_timed(&me->sampler);
    return aspx_timing_after_poll(me, aspx_timing_first.progress(worker));
}

static unsigned poll(void *worker)
{
    struct aspx_timing_thread *me = aspx_timing_only_polls();

    if (!me)
        return aspx_timing_first.progress(worker);
    if (aspx_poll_sampler_is_timed(&me->sampler))
        return poll_clocked(worker, me);
    return aspx_timing_after_poll(me, aspx_timing_first.progress(worker));
}

/* The same among many threads, apart from the cache line that the first one
 * writes. */
static aspx_net_poll_f *progress;

static unsigned poll_shared(void *worker)
{
    struct aspx_timing_thread *me = aspx_timing_polls();

    if (!me)
        return progress(worker);
    aspx_timing_before_shared_poll(me);
    return aspx_timing_after_shared_poll(me, progress(worker));
}

static void start(bool many, bool polls)
{
    runs = aspx_timing_start(many, polls);
    start_ticks = aspx_clock_ticks();
}

void aspx_profile_waits_elsewhere(bool many_threads)
{
    elsewhere = true;
    many_wait = many_threads;
}

void aspx_profile_start(void)
{
    int level = MPI_THREAD_MULTIPLE;
    bool many;

    if (runs)
        return;
    if (elsewhere) {
        start(many_wait, false);
        return;
    }
    aspx_real.MPI_Query_thread(&level);
    many = level == MPI_THREAD_MULTIPLE;
    start(many, many ? aspx_net_lead_polls(poll_shared, &progress)
                     : aspx_net_lead_polls(poll, &aspx_timing_first.progress));
}

/* The record tells of the time in MPI; adaptation may have begun before. */
static bool start_if_asked(const struct asp_layout *layout)
{
    if (aspx_record_where(layout))
        aspx_profile_start();
    return runs;
}

static bool is_over(void)
{
    return stop_ticks != 0;
}

const struct aspx_interceptor aspx_profile_interceptor = {
    .start = start_if_asked,
    .is_over = is_over,
    .fill = aspx_profile_fill,
    .behind = &aspx_profile_behind,
};

void aspx_profile_stop(void)
{
    stop_ticks = aspx_clock_ticks();
}

double aspx_profile_wall_seconds(void)
{
    if (!runs)
        return 0;
    return aspx_clock_seconds((stop_ticks ? stop_ticks : aspx_clock_ticks()) -
                              start_ticks);
}

double aspx_profile_mpi_seconds(void)
{
    return aspx_timing_inside();
}

void aspx_profile_yield(void)
{
    sched_yield();
    aspx_timing_yielded();
}
