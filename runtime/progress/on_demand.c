/* SPDX-License-Identifier: BSD-3-Clause */
/* Gate and progress thread come and go beside ghosts, as adaptation says. */
#include "config.h"

#include "on_demand.h"

#include "thread.h"
#include "progress.h"

#include "runtime/adapt/decide/decision.h"
#include "runtime/base/log.h"
#include "runtime/mpi/entry.h"
#include "runtime/mpi/helper_thread.h"
#include "runtime/base/clock.h"
#include "runtime/profile/timing.h"
#include "runtime/base/counter.h"

#include "mpi_wrap.h"

#include <execinfo.h>
#include <pthread.h>

/* Entries lead here, past the gate, while no thread is wanted; behind them the
 * wrappers. */
static struct aspx_real ungated;
struct aspx_real aspx_on_demand_behind;

static const struct asp_layout *layout;
static const _Atomic int32_t *_Atomic wanted; /* NULL: not, or not any more */
static struct asp_cpuset cpus;                /* of the ghosts of this node */
static atomic_bool gated, disabled;
static atomic_bool failed; /* no thread could be started */

/* Of several threads of the program one carries it out. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- nobody is inside MPI ------------------------------------------------- */

enum { FRAMES = 256 };
static const double RETRY_S = 0.02;

static const void *outermost; /* frame of the thread that began */
static uint64_t retry_at;     /* ticks */

/* Is this the end of a call of the program that is not inside another?
 * Callbacks run inside calls that have not passed the gate, and many of those
 * are not timed: the outermost one that timing knows of may be a callback's. So
 * MPI must not be on the stack; which must be seen down to where it begins. */
static bool is_outside(void)
{
    void *frame[FRAMES];
    int n = backtrace(frame, FRAMES);

    if (n < 1 || n == FRAMES || frame[n - 1] != outermost)
        return false;
    for (int i = 0; i < n; i++)
        if (aspx_real_has(frame[i]))
            return false;
    return true;
}

/* May the gate be opened now? Asked seldom, as it is dear. */
static bool may_open(void)
{
    uint64_t now;

    if (aspx_threads)
        return true;
    now = aspx_clock_ticks();
    if (now < retry_at)
        return false;
    retry_at = now + aspx_clock_ticks_of(RETRY_S);
    return is_outside();
}

/* ---- gate and thread ------------------------------------------------------ */

static void open_gate(void)
{
    aspx_trace("calls pass the progress thread's gate from here on");
    aspx_watch_clear();
    aspx_entry_use(&aspx_progress_entries);
    gated = true;
}

static void close_gate(void)
{
    aspx_trace("calls pass by the progress thread's gate from here on");
    aspx_entry_use(&ungated);
    gated = false;
}

static void start_thread(void)
{
    if (aspx_helper_thread_runs() || failed)
        return;
    failed = aspx_progress_thread_start(layout->bound ? &cpus : NULL) != 0;
    if (!failed)
        aspx_trace("a progress thread has started, as adaptation says");
    else
        aspx_log(ASPX_LOG_WARNING,
                 "a rank cannot start its progress thread, and "
                 "goes on without");
}

static void apply(enum aspx_help help)
{
    if (help == ASPX_HELP_NONE) {
        /* With MPI_THREAD_MULTIPLE we may be in a callback, and hold the lock
         * that the helper waits for in MPI: it rests. */
        if (aspx_helper_thread_runs() && !aspx_threads)
            aspx_progress_thread_stop();
        if (gated)
            close_gate();
        return;
    }
    if (!gated) {
        if (!may_open())
            return;
        open_gate();
    }
    if (help == ASPX_HELP_ON)
        start_thread();
}

/* Does this differ from what there is now? Cheap. */
static bool is_change(enum aspx_help help)
{
    bool runs = aspx_helper_thread_runs();

    if (help == ASPX_HELP_NONE)
        return (runs && !aspx_threads) || gated;
    return !gated || (help == ASPX_HELP_ON && !runs && !failed);
}

/* Apply what adaptation says if that is new. At the end of what may be an
 * outermost call of the program. */
static void apply_if_new(void)
{
    const _Atomic int32_t *word = wanted;
    enum aspx_help help;

    if (!word || (!aspx_threads && aspx_gate_calls()))
        return;
    help = disabled ? ASPX_HELP_NONE
                    : (enum aspx_help) atomic_load_explicit(
                          word, memory_order_relaxed);
    if (!is_change(help) || pthread_mutex_trylock(&lock) != 0)
        return;
    if (wanted)
        apply(help);
    pthread_mutex_unlock(&lock);
}

void aspx_on_demand_posted(void)
{
    if (!aspx_threads && !aspx_gate_is_helper())
        apply_if_new();
}

void aspx_on_demand_disable(void)
{
    disabled = true;
    aspx_progress_thread_disable();
}

/* ---- calls ---------------------------------------------------------------- */

void aspx_on_demand_made(int rc, const MPI_Request *request, bool large)
{
    if (large && rc == MPI_SUCCESS && *request != MPI_REQUEST_NULL)
        aspx_watch_persistent(*request, false); /* see CALLED_BACK */
}

int aspx_on_demand_MPI_Request_free(MPI_Request *request)
{
    if (request && *request != MPI_REQUEST_NULL)
        aspx_watch_forget(*request);
    return aspx_on_demand_behind.MPI_Request_free(request);
}

/* MPI may end in these, and the helper is joined there. It must not be in MPI
 * then, waiting for a lock of ours: so these pass the gate in any case. */
int aspx_on_demand_MPI_Finalize(void)
{
    int rc;

    aspx_gate_enter();
    rc = aspx_on_demand_behind.MPI_Finalize();
    aspx_gate_leave();
    return rc;
}

int aspx_on_demand_MPI_Session_finalize(MPI_Session *session)
{
    int rc;

    aspx_gate_enter();
    rc = aspx_on_demand_behind.MPI_Session_finalize(session);
    aspx_gate_leave();
    return rc;
}

/* ---- start and end -------------------------------------------------------- */

static void find_cpus(void)
{
    for (uint32_t t = 0; t < layout->ntasks; t++) {
        const struct asp_cpuset *its = &layout->tasks[t].cpus;

        if (layout->tasks[t].role != ASP_ROLE_GHOST)
            continue;
        for (int c = asp_cpuset_next(its, 0); c >= 0;
             c = asp_cpuset_next(its, (unsigned) c + 1))
            asp_cpuset_add(&cpus, (unsigned) c);
    }
}

static void fill_tables(void)
{
    aspx_wrappers_fill(&aspx_on_demand_behind);
    aspx_progress_behind = aspx_on_demand_behind;
    aspx_on_demand_fill_bars(&aspx_progress_behind);
    ungated = aspx_progress_behind;
    aspx_on_demand_fill_ungated(&ungated);
    aspx_progress_fill(&aspx_progress_entries);
    aspx_on_demand_fill_gated(&aspx_progress_entries);
}

void aspx_on_demand_start(const struct asp_layout *its_layout,
                          const _Atomic int32_t *its_wanted,
                          struct aspx_message_counts *posted)
{
    void *frame[FRAMES];
    int n;

    if (!its_wanted || aspx_progress_is_mpichs()) {
        aspx_entry_activate();
        return;
    }
    layout = its_layout;
    find_cpus();
    n = backtrace(frame, FRAMES);
    outermost = n > 0 && n < FRAMES ? frame[n - 1] : NULL;
    aspx_progress_read_limits(layout);
    aspx_progress_thread_set_many(aspx_threads);
    aspx_watch_set_many(aspx_threads);
    aspx_watch_publish(posted);
    aspx_progress_thread_permit(its_wanted, ASPX_HELP_ON);
    fill_tables();
    aspx_entry_use(&ungated);
    wanted = its_wanted;
    aspx_timing_after = apply_if_new;
}

void aspx_on_demand_stop(void)
{
    if (!wanted)
        return;
    pthread_mutex_lock(&lock);
    aspx_timing_after = NULL;
    if (aspx_helper_thread_runs())
        aspx_progress_thread_stop();
    aspx_progress_thread_permit(NULL, 0);
    aspx_watch_publish(NULL);
    wanted = NULL;
    pthread_mutex_unlock(&lock);
}
