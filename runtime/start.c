/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Init and MPI_Finalize of a user rank, and their kin: finds out what the
 * layout wants of this process, and has the modes do it (world/mode.h).
 *
 * The way back starts in an attribute of MPI_COMM_SELF: it was set first, so
 * MPI_Finalize deletes it last, when the program's own callbacks have run and
 * MPI still works. */
#include "config.h"

#include "runtime/base/counter.h"
#include "runtime/base/log.h"
#include "runtime/casper/casper.h"
#include "runtime/coll/front/interceptors.h"
#include "runtime/mends.h"
#include "runtime/mpi/build.h"
#include "runtime/mpi/entry.h"
#include "runtime/net/net.h"
#include "runtime/offload/offload.h"
#include "runtime/p2p/p2p.h"
#include "runtime/pack/messages.h"
#include "runtime/pack/staged.h"
#include "runtime/posted/posted.h"
#include "runtime/profile/observe.h"
#include "runtime/profile/profile.h"
#include "runtime/progress/progress.h"
#include "runtime/record/frame.h"
#include "runtime/world/init_state.h"
#include "runtime/world/job_end.h"
#include "runtime/world/layout_fetch.h"
#include "runtime/world/mode.h"

#include "mpi_wrap.h"

#include "common/base/build_id.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The first that wants a layout has it; before it may stand one that carries
 * out the program's calls in a thread. */
static const struct aspx_mode *const modes[] = {
    &aspx_casper_mode,
    &aspx_progress_mode,
    &aspx_observe_mode,
    &aspx_offload_mode,
};

static struct asp_layout *layout;
static uint32_t local;
static const struct aspx_mode *mode, *thread_mode; /* NULL: none */
static int finalize_keyval = MPI_KEYVAL_INVALID;

/* What stands in front of some functions, from the inside out. */
static const struct aspx_interceptor *const interceptors[] = {
    &aspx_pack_interceptor, &aspx_staged_interceptor, &aspx_coll_interceptor,
    &aspx_p2p_interceptor,  &aspx_posted_interceptor, &aspx_profile_interceptor,
};
enum { INTERCEPTORS = sizeof(interceptors) / sizeof(interceptors[0]) };
_Static_assert((int) INTERCEPTORS <= (int) ASPX_INTERCEPTORS_MAX,
               "entry.c keeps them");

static bool stands[INTERCEPTORS];

/* How far we are. The lock serialises the first MPI_Init or MPI_Session_init
 * of several threads, and guards these. */
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static bool chosen, started, thread_mode_runs;

static atomic_bool left; /* the attribute was deleted */

/* Silent when err has no text: then another process tells it. */
static void complain(const struct asp_err *err, const char *then)
{
    char text[ASP_ERR_TEXT_MAX + ASP_ERR_PLACE_MAX];

    if (err->text[0])
        aspx_log(ASPX_LOG_ERROR, "%s; %s",
                 asp_err_print(err, text, sizeof(text)),
                 then ? then : "running without Aspen");
}

/* ---- what the layout wants ------------------------------------------------ */

/* srun looks at the program's MPI itself where it can tell. Here it is too late
 * for another choice. */
static void check_profile(void)
{
    const char *profile = layout->knobs.profile_build;

    if (layout->tasks[local].rank_user == 0 &&
        asp_build_differs(profile, aspx_mpi_build()))
        aspx_log(ASPX_LOG_WARNING,
                 "the profile is of another build of MPI (%.24s..., this "
                 "is %.24s...): what auto chose by it may not fit; the record "
                 "of this run will",
                 profile, aspx_mpi_build());
}

/* Rank 0 tells what is the same everywhere, or the first of each node where
 * ranks are not known. */
static void trace_layout(void)
{
    const struct asp_layout_task *task = &layout->tasks[local];
    char cpus[256], helper[48] = "", text[ASP_VALUE_MAX];

    if (task->rank_user == 0 || (asp_layout_degraded(layout) && local == 0)) {
        aspx_trace(
            "job %s: mode %s, %u tasks on %u nodes, %u ghosts a node%s%s",
            layout->job, asp_mode_name(layout->mode), layout->size_world,
            layout->nnodes, layout->ghosts_per_node,
            layout->reason[0] ? "; " : "", layout->reason);
        for (int id = 0; id < ASP_KNOB_COUNT; id++) {
            if (asp_knobs[id].flags & ASP_KNOB_TO_RUNTIME)
                aspx_trace("knob %s=%s", asp_knobs[id].name,
                           asp_knobs_text(&layout->knobs, id, text));
        }
    }
    if (task->cpu_helper_os >= 0)
        snprintf(helper, sizeof(helper), ", its helper's CPU %d",
                 task->cpu_helper_os);
    if (asp_cpuset_print(&task->cpus, cpus, sizeof(cpus)) <= 0)
        snprintf(cpus, sizeof(cpus), "not planned");
    aspx_trace("process %d, task %u of node %u: rank %d of MPI's world, ghost "
               "%d, CPUs %s%s",
               (int) getpid(), local, layout->node, (int) task->rank_world,
               (int) task->ghost, cpus, helper);
}

/* What has become of the mode that the layout has. */
static void trace_outcome(const char *outcome)
{
    if (layout)
        aspx_trace("mode %s: %s; %s %s", asp_mode_name(layout->mode), outcome,
                   aspx_mpi_name(), aspx_mpi_build());
}

static bool fetch_layout(void)
{
    struct asp_err err;

    if (getauxval(AT_SECURE))
        return false; /* a setuid program obeys no environment */
    if (aspx_layout_fetch(&layout, &local, &err) != 0) {
        if (errno == ENOENT)
            return false;
        /* A task of the step whose place is unknown: its ranks would be wrong
         * and its ghosts would wait for it. */
        complain(&err, "ending this task");
        exit(EXIT_FAILURE);
    }
    aspx_log_start(NULL);
    aspx_log_set_report(layout->knobs.report);
    if (aspx_log_on(ASPX_LOG_TRACE))
        trace_layout();
    check_profile();
    return true;
}

/* The size of the world, and who is to say that it is another one. */
static bool is_other_size(long size, bool speaks, struct asp_err *err)
{
    if (size == (long) layout->size_world)
        return false;
    if (speaks)
        asp_errf(err, ESRCH, "MPI started %ld ranks where job %s has %u tasks",
                 size, layout->job, layout->size_world);
    else
        asp_errf(err, ESRCH, "%s", "");
    return true;
}

/* Is this another world than the step's? Spawned programs inherit the
 * environment of a task, and programs that a task starts by itself too. */
static bool is_elsewhere(struct asp_err *err)
{
    MPI_Comm parent;
    int size, rank;

    aspx_real.MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        asp_errf(err, ESRCH, "%s", "");
        return true;
    }
    aspx_real.MPI_Comm_size(MPI_COMM_WORLD, &size);
    aspx_real.MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return is_other_size(size, rank == 0, err);
}

/* The same before MPI runs, by the launcher's word: an offload thread is to
 * start it, on a CPU that only the step's own ranks have. */
static bool is_launched_elsewhere(struct asp_err *err)
{
    const char *size = getenv("PMI_SIZE"), *rank = getenv("PMI_RANK");
    const char *spawned = getenv("PMI_SPAWNED");

    if (spawned && strcmp(spawned, "0") != 0) {
        asp_errf(err, ESRCH, "%s", "");
        return true;
    }
    return size && is_other_size(strtol(size, NULL, 10),
                                 !rank || strcmp(rank, "0") == 0, err);
}

static void find_modes(void)
{
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        const struct aspx_mode **place = modes[i]->start_thread ? &thread_mode
                                                                : &mode;

        if (!*place && modes[i]->wants(layout))
            *place = modes[i];
    }
}

/* Before the real MPI_Init, once. */
static void choose_modes(const int *required)
{
    struct asp_err err;

    aspx_init_see();
    if (chosen)
        return;
    chosen = true;
    if (!fetch_layout())
        return;
    aspx_net_enter(layout->mode == ASP_MODE_OFF && !aspx_record_where(layout)
                       ? ASPX_NET_NAMED
                       : ASPX_NET_POLLED);
    for (size_t i = 0; i < INTERCEPTORS; i++)
        if (interceptors[i]->prepare && interceptors[i]->prepare(layout))
            aspx_entry_put_before_library(interceptors[i]);
    find_modes();
    if (mode && mode->before_init &&
        !mode->before_init(layout, local, required)) {
        mode = thread_mode = NULL;
    } else if (thread_mode && is_launched_elsewhere(&err)) {
        thread_mode = NULL;
        if (!mode) /* which finds out by itself */
            complain(&err, NULL);
    }
}

/* ---- MPI runs ------------------------------------------------------------- */

static void tell(const char *what)
{
    if (layout->tasks[local].rank_world == 0)
        aspx_log(ASPX_LOG_WARNING, "%s", what);
}

static void tell_plain(const char *why, bool in_mpi)
{
    bool first = layout->tasks[local].rank_world == 0;
    char what[300];

    if (layout->knobs.require) {
        snprintf(what, sizeof(what),
                 "%s; the request says require, so the job ends", why);
        aspx_job_end_saying(what, first, in_mpi);
    }
    if (first)
        aspx_log(ASPX_LOG_ERROR, "%s; running without %s", why,
                 mode && thread_mode ? "offload threads" : "Aspen");
}

/* A rank that has to go on without its thread takes part in the record. */
int aspx_plain_MPI_Finalize(void)
{
    aspx_record_report(layout, mode ? mode : thread_mode);
    return aspx_real.MPI_Finalize();
}

static void use_plain(const struct asp_layout *its_layout)
{
    static struct aspx_real table;

    (void) its_layout;
    aspx_wrappers_fill_plain(&table);
    aspx_entry_use(&table);
}

/* Send the program's calls somewhere, past what stands in front. Once. */
static void use(void (*use_entries)(const struct asp_layout *layout))
{
    for (size_t i = 0; i < INTERCEPTORS; i++) {
        stands[i] = interceptors[i]->start && interceptors[i]->start(layout);
        if (stands[i])
            aspx_entry_put_before_mode(interceptors[i]);
    }
    use_entries(layout);
    for (size_t i = 0; i < INTERCEPTORS; i++)
        if (stands[i] && interceptors[i]->join)
            interceptors[i]->join(layout);
}

static void go_plain(void)
{
    trace_outcome("no helper has begun");
    aspx_mends_apply(layout, true);
    use(use_plain);
}

/* MPI_Finalize is deleting our attribute of MPI_COMM_SELF. */
static int leave(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) comm;
    (void) keyval;
    (void) value;
    (void) extra;
    for (size_t i = 0; i < INTERCEPTORS; i++)
        if (stands[i] && interceptors[i]->leave)
            interceptors[i]->leave();
    mode->finalize(layout);
    atomic_store(&left, true);
    return MPI_SUCCESS;
}

static void await_finalize(void)
{
    if (!mode->finalize)
        return;
    aspx_real.MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, leave,
                                     &finalize_keyval, NULL);
    aspx_real.MPI_Comm_set_attr(MPI_COMM_SELF, finalize_keyval, NULL);
}

/* Is the mode not for this world? Then that was said. */
static bool has_given_up(void)
{
    struct asp_err err;

    if (!is_elsewhere(&err))
        return false;
    complain(&err, mode->elsewhere);
    if (mode->give_up)
        mode->give_up();
    return true;
}

/* A program with a hidden MPI_Init still needs its handlers; they translate to
 * the real world. */
static void stay_inert(void)
{
    trace_outcome("not in this process, whose calls are MPI's");
    if (aspx_init_is_hidden())
        aspx_entry_activate();
    else
        aspx_entry_inert();
}

static void come_up(void)
{
    const char *why = NULL;

    started = true;
    if (!mode && thread_mode) { /* which has no thread */
        go_plain();
        return;
    }
    if (!mode || has_given_up()) {
        stay_inert();
        return;
    }
    if (!mode->translates)
        why = aspx_mpi_unknown();
    if (!why && mode->after_init)
        why = mode->after_init(layout, local);
    if (why) {
        tell_plain(why, true);
        go_plain();
        return;
    }
    aspx_mends_apply(layout, false);
    if (mode->start_engine)
        mode->start_engine(layout, local);
    trace_outcome(mode->use_entries ? "has begun" : "no helper has begun");
    await_finalize();
    use(mode->use_entries ? mode->use_entries : use_plain);
}

/* ---- a thread in front ---------------------------------------------------- */

/* MPI is ended by whichever of MPI_Finalize and MPI_Session_finalize is the
 * last; leave() has run then. */
static int note_end(int rc)
{
    if (rc == MPI_SUCCESS && atomic_load(&left) && mode->after_finalize)
        mode->after_finalize();
    return rc;
}

int aspx_behind_MPI_Finalize(void)
{
    return note_end(aspx_real.MPI_Finalize());
}

int aspx_behind_MPI_Session_finalize(MPI_Session *session)
{
    return note_end(aspx_real.MPI_Session_finalize(session));
}

/* Sessions are counted in front. */
int aspx_behind_MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler,
                                 MPI_Session *session)
{
    return aspx_real.MPI_Session_init(info, errhandler, session);
}

/* In the thread's place: the wrappers lie behind it. */
static void come_up_behind(struct aspx_real *behind)
{
    started = true;
    if (has_given_up()) {
        aspx_mends_apply(layout, true);
        return;
    }
    (void) mode->after_init(layout, local);
    aspx_mends_apply(layout, false);
    mode->start_engine(layout, local);
    await_finalize();
    aspx_threads = true; /* callers carry out some calls */
    aspx_wrappers_fill_behind(behind);
}

/* The same with nothing behind it. */
static void mend_behind(struct aspx_real *behind)
{
    (void) behind;
    aspx_mends_apply(layout, false);
}

/* Without the thread the program runs as it would. */
static bool start_thread_mode(const int *required)
{
    const char *why;

    if (!thread_mode)
        return false;
    why = aspx_mpi_unknown();
    if (!why)
        why = thread_mode->start_thread(layout, local, required,
                                        mode ? come_up_behind : mend_behind,
                                        mode != NULL);
    if (why)
        tell_plain(why, false);
    return !why;
}

static void use_thread_mode(void)
{
    started = thread_mode_runs = true;
    trace_outcome("has begun, and an offload thread carries out the calls");
    use(thread_mode->use_entries);
}

/* ---- calls of the program ------------------------------------------------- */

/* MPI_Init (required NULL) or MPI_Init_thread. */
static int init(int *argc, char ***argv, const int *required, int *provided)
{
    int rc;

    choose_modes(required);
    if (start_thread_mode(required)) {
        rc = thread_mode->init(argc, argv, provided);
        if (rc == MPI_SUCCESS)
            use_thread_mode();
        return rc;
    }
    rc = required ? aspx_real.MPI_Init_thread(argc, argv, *required, provided)
                  : aspx_real.MPI_Init(argc, argv);
    if (rc == MPI_SUCCESS) {
        aspx_init_note_start(false);
        come_up();
    }
    return rc;
}

int aspx_wrap_MPI_Init(int *argc, char ***argv)
{
    int rc = MPI_SUCCESS;

    pthread_mutex_lock(&start_lock);
    if (!aspx_init_adopt())
        rc = init(argc, argv, NULL, NULL);
    pthread_mutex_unlock(&start_lock);
    return rc;
}

int aspx_wrap_MPI_Init_thread(int *argc, char ***argv, int required,
                              int *provided)
{
    int rc;

    pthread_mutex_lock(&start_lock);
    if (aspx_init_adopt())
        rc = aspx_real.MPI_Query_thread(provided);
    else
        rc = init(argc, argv, &required, provided);
    pthread_mutex_unlock(&start_lock);
    return rc;
}

static void leave_entries(void)
{
    if (!atomic_load(&left))
        return;
    if (aspx_init_is_hidden())
        aspx_entry_end();
    else
        aspx_entry_inert();
}

int aspx_wrap_MPI_Finalize(void)
{
    int rc = aspx_real.MPI_Finalize();

    if (rc == MPI_SUCCESS) {
        aspx_init_note_finalize();
        leave_entries();
    }
    return note_end(rc);
}

static pid_t starter; /* the process that started MPI hidden */

/* exit() of a program that has ended its sessions. */
static void end_what_stays(void)
{
    if (getpid() == starter && aspx_init_is_left_open() && aspx_init_adopt())
        (void) aspx_entry_inner.MPI_Finalize();
}

/* A program may begin sessions again when it has ended all. The MPICH that can
 * start again cannot do so after an MPI_Init, and the launcher would wait for
 * the ghosts. MPI runs: what it has set up for exit() comes after ours. */
static void stay_for_sessions(void)
{
    if (starter || !aspx_init_is_hidden() || aspx_mpi_release() < 402)
        return;
    starter = getpid();
    if (atexit(end_what_stays) == 0)
        aspx_init_stay();
}

/* The real MPI_Session_init asks for MPI_THREAD_MULTIPLE too. */
static void start_hidden(void)
{
    int level = MPI_THREAD_MULTIPLE, provided;

    choose_modes(&level);
    if (start_thread_mode(&level)) {
        use_thread_mode();
        stay_for_sessions();
    } else if (!mode || mode->no_sessions) {
        if (mode)
            tell(mode->no_sessions);
        aspx_entry_inert();
    } else if (aspx_real.MPI_Init_thread(NULL, NULL, level, &provided) ==
               MPI_SUCCESS) {
        aspx_init_note_start(true);
        come_up();
        stay_for_sessions();
    }
}

int aspx_wrap_MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler,
                               MPI_Session *session)
{
    int rc;

    pthread_mutex_lock(&start_lock);
    if (!started) {
        started = true;
        start_hidden();
    }
    pthread_mutex_unlock(&start_lock);
    if (thread_mode_runs) {
        rc = aspx_entry_inner.MPI_Session_init(info, errhandler, session);
    } else {
        rc = aspx_real.MPI_Session_init(info, errhandler, session);
        if (rc == MPI_SUCCESS)
            aspx_init_note_session();
    }
    pthread_mutex_lock(&start_lock);
    stay_for_sessions();
    pthread_mutex_unlock(&start_lock);
    return rc;
}

int aspx_wrap_MPI_Session_finalize(MPI_Session *session)
{
    int rc = aspx_real.MPI_Session_finalize(session);

    if (rc != MPI_SUCCESS)
        return rc;
    if (aspx_init_end_session())
        rc = aspx_real.MPI_Finalize();
    leave_entries();
    return note_end(rc);
}

/* The only variadic function; MPICH ignores what follows level. */
int aspx_wrap_MPI_Pcontrol(const int level, ...)
{
    return aspx_real.MPI_Pcontrol(level);
}
