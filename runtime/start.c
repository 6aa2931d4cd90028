/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Init and MPI_Finalize of a user rank.
 *
 * Before the real MPI_Init the ghosts of this node are called into MPI; after
 * it the world is made and every entry is switched to its worker. The way back
 * starts in an attribute of MPI_COMM_SELF: it was set first, so MPI_Finalize
 * deletes it last, when the program's own callbacks have run and MPI still
 * works.
 *
 * A program of the session model gets a hidden MPI_Init at its first session,
 * because ghosts need the world; MPI_Initialized keeps the secret, a later
 * MPI_Init of the program adopts it, and the last MPI_Session_finalize ends it
 * if it was not adopted. MPICH 4.0 cannot start again after that anyway. */
#include "config.h"

#include "start.h"

#include "runtime/adapt/adapt.h"
#include "runtime/casper/casper.h"
#include "runtime/casper/watchdog/watchdog.h"
#include "runtime/mpi/build.h"
#include "runtime/mpi/tcp_finalize_fix.h"
#include "runtime/mpi/entry.h"
#include "runtime/mpi/plt_patch.h"
#include "runtime/mpi/wrappers.h"
#include "runtime/profile/observe.h"
#include "runtime/offload/offload.h"
#include "runtime/offload/report.h"
#include "runtime/mpi/helper_thread.h"
#include "runtime/world/layout_fetch.h"
#include "runtime/profile/profile.h"
#include "runtime/progress/on_demand.h"
#include "runtime/progress/progress.h"
#include "runtime/progress/report.h"
#include "runtime/record/record.h"
#include "runtime/record/frame.h"
#include "runtime/base/counter.h"
#include "runtime/world/world.h"

#include "common/base/build_id.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

static struct asp_layout *layout;
static uint32_t local;
static int finalize_keyval = MPI_KEYVAL_INVALID;

/* How far we are. The lock serialises the first MPI_Init or MPI_Session_init
 * of several threads. */
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool seen, started, left;

/* The hidden MPI_Init: was there one, and what did the program itself do? */
static atomic_bool hidden, initialized, finalized;
static atomic_int sessions;

/* Silent when err has no text: then another process tells it. */
static void complain(const struct asp_err *err, const char *then)
{
    char text[ASP_ERR_TEXT_MAX + ASP_ERR_PLACE_MAX];

    if (err->text[0] == '\0')
        return;
    fprintf(stderr, "aspen: %s; %s\n", asp_err_print(err, text, sizeof(text)),
            then);
}

/* MPI_Finalize is deleting our attribute of MPI_COMM_SELF. */
static int leave(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) comm;
    (void) keyval;
    (void) value;
    (void) extra;
    aspx_on_demand_stop();
    aspx_record_report(&aspx_world);
    aspx_casper_stop();
    aspx_world_stop(&aspx_world);
    atomic_store(&left, true);
    return MPI_SUCCESS;
}

/* Without a world of its own, a program with a hidden MPI_Init still needs
 * its handlers; they translate to the real world. */
static void stay_inert(void)
{
    aspx_world.users = MPI_COMM_WORLD;
    aspx_watchdog_stop();
    if (atomic_load(&hidden))
        aspx_entry_activate();
    else
        aspx_entry_inert();
}

bool aspx_start_seen(void)
{
    return atomic_load(&seen);
}

/* What the layout wants of this process. */
enum way {
    INERT,   /* nothing: there is none */
    GHOST,   /* its ghosts are on their way into MPI */
    BOTH,    /* and an offload thread in front of them */
    OFFLOAD, /* an offload thread */
    THREAD,  /* a sleeping progress thread */
    OBSERVE, /* nothing but taking its time: mode off with a report */
};

static enum way way_of_layout(void)
{
    return layout->mode == ASP_MODE_OFFLOAD  ? OFFLOAD
           : layout->mode == ASP_MODE_THREAD ? THREAD
           : layout->mode == ASP_MODE_OFF    ? OBSERVE
           : asp_layout_offloads(layout)     ? BOTH
                                             : GHOST;
}

/* srun looks at the program's MPI itself where it can tell. Here it is too late
 * for another choice. */
static void check_profile(void)
{
    const char *profile = aspx_record_profile(layout);

    if (layout->tasks[local].rank_user == 0 &&
        asp_build_differs(profile, aspx_mpi_build()))
        fprintf(stderr,
                "aspen: the profile is of another build of MPI (%.24s..., this "
                "is %.24s...): what auto chose by it may not fit; the record "
                "of this run will\n",
                profile, aspx_mpi_build());
}

/* Before the real MPI_Init: pick up the layout and call the ghosts into MPI. */
static enum way before_init(void)
{
    struct asp_err err;

    atomic_store(&seen, true);
    if (layout)
        return way_of_layout();
    if (getauxval(AT_SECURE))
        return INERT; /* a setuid program obeys no environment */
    if (aspx_pickup(&layout, &local, &err) != 0) {
        if (errno == ENOENT)
            return INERT;
        /* A task of the step whose place is unknown: its ranks would be wrong
         * and its ghosts would wait for it. */
        complain(&err, "ending this task");
        exit(EXIT_FAILURE);
    }
    check_profile();
    if (way_of_layout() != GHOST && way_of_layout() != BOTH)
        return way_of_layout();
    if (layout->mode != ASP_MODE_GHOST ||
        layout->tasks[local].role != ASP_ROLE_USER) {
        asp_layout_destroy(layout);
        layout = NULL;
        return INERT;
    }
    aspx_board_open(layout, local);
    aspx_board_say(ASP_TASK_INIT);
    aspx_watchdog_start(layout);
    return way_of_layout();
}

/* The size of the world, and who is to say that it is another one. */
static int is_other_size(long size, bool speaks, struct asp_err *err)
{
    if (size == (long) layout->size_world)
        return 0;
    if (speaks)
        asp_errf(err, ESRCH, "MPI started %ld ranks where job %s has %u tasks",
                 size, layout->job, layout->size_world);
    else
        asp_errf(err, ESRCH, "%s", "");
    return 1;
}

/* Is this another world than the step's? Spawned programs inherit the
 * environment of a task, and programs that a task starts by itself too. */
static int is_elsewhere(struct asp_err *err)
{
    MPI_Comm parent;
    int size, rank;

    aspx_real.MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        asp_errf(err, ESRCH, "%s", "");
        return 1;
    }
    aspx_real.MPI_Comm_size(MPI_COMM_WORLD, &size);
    aspx_real.MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return is_other_size(size, rank == 0, err);
}

/* The same before MPI runs, by the launcher's word: an offload thread is to
 * start it, on a CPU that only the step's own ranks have. */
static int is_launched_elsewhere(struct asp_err *err)
{
    const char *size = getenv("PMI_SIZE"), *rank = getenv("PMI_RANK");
    const char *spawned = getenv("PMI_SPAWNED");

    if (spawned && strcmp(spawned, "0") != 0) {
        asp_errf(err, ESRCH, "%s", "");
        return 1;
    }
    return size && is_other_size(strtol(size, NULL, 10),
                                 !rank || strcmp(rank, "0") == 0, err);
}

static enum way choose_way(void)
{
    enum way way = before_init();
    struct asp_err err;

    if ((way != OFFLOAD && way != BOTH) || !is_launched_elsewhere(&err))
        return way;
    if (way == BOTH)
        return GHOST; /* they find out by themselves */
    complain(&err, "running without Aspen");
    return INERT;
}

/* After the real MPI_Init: make the world and start the engine. Ends the job
 * when the world cannot be made. Returns whether there are ghosts. */
static bool join_ghosts(void)
{
    struct asp_err err;
    int level;

    atomic_store(&started, true);
    if (is_elsewhere(&err)) {
        complain(&err, "running without Aspen");
        return false;
    }
    if (aspx_real.MPI_Query_thread(&level) == MPI_SUCCESS)
        aspx_threads = level == MPI_THREAD_MULTIPLE;
    aspx_watchdog_joining();
    if (aspx_world_start(&aspx_world, layout, local, &err) != 0) {
        complain(&err, "ending the job");
        aspx_real.MPI_Abort(MPI_COMM_WORLD, 1);
    }
    aspx_selfbind();
    aspx_close_mend();
    if (aspx_casper_start(&aspx_world) != 0) {
        fprintf(stderr, "aspen: MPI failed while the ghost engine started; "
                        "ending the job\n");
        aspx_real.MPI_Abort(MPI_COMM_WORLD, 1);
    }
    aspx_real.MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, leave,
                                     &finalize_keyval, NULL);
    aspx_real.MPI_Comm_set_attr(MPI_COMM_SELF, finalize_keyval, NULL);
    aspx_board_say(ASP_TASK_RUNNING);
    return true;
}

/* The record tells of the time in MPI; before the entries are switched. */
static void measure_if_asked(void)
{
    if (aspx_record_where(layout))
        aspx_profile_start();
}

static void after_init(void)
{
    if (!join_ghosts()) {
        stay_inert();
        return;
    }
    measure_if_asked();
    aspx_on_demand_start(layout, aspx_adapt_help(), aspx_adapt_posted());
}

/* In the offload thread's place: the workers lie behind it. */
static void put_ghosts_behind(struct aspx_real *behind)
{
    if (join_ghosts()) {
        aspx_threads = true; /* callers carry out some calls */
        aspx_workers_fill(behind);
    } else {
        aspx_watchdog_stop();
    }
}

/* MPI_Init of a program that has sessions: it has happened already. */
static bool adopt(void)
{
    return atomic_load(&hidden) && !atomic_exchange(&initialized, true);
}

/* MPI is up, and the offload thread has it. */
static void use_offload(void)
{
    measure_if_asked();
    aspx_entry_use(&aspx_offload_entries);
}

static void say_plain(const char *why)
{
    if (layout->tasks[local].rank_world == 0)
        fprintf(stderr, "aspen: %s; running without %s\n", why,
                layout->mode == ASP_MODE_GHOST ? "offload threads" : "Aspen");
}

/* Bring up the offload thread; without it the program runs as it would. So it
 * does where the plan found no CPU for it: one that it shares with its rank
 * makes the program slower. */
static bool start_offload(enum way way, int required)
{
    if (way != OFFLOAD && way != BOTH)
        return false;
    if (layout->bound && layout->tasks[local].cpu_helper_os < 0)
        say_plain("no CPU for the offload threads: ask for one more per task "
                  "(-c)");
    else if (aspx_offload_start(layout, local, required,
                                way == BOTH ? put_ghosts_behind : NULL) != 0)
        say_plain("no offload thread can be started");
    else
        return true;
    return false;
}

/* A rank that has to go on without its thread takes part in the record. */
static int finalize_plain(void)
{
    if (layout->mode == ASP_MODE_OFFLOAD)
        aspx_offload_report(layout);
    else if (layout->mode == ASP_MODE_THREAD)
        aspx_progress_report(layout, false);
    else
        aspx_observe_report(layout);
    return aspx_real.MPI_Finalize();
}

static void go_plain(void)
{
    static struct aspx_real table;

    table = aspx_real;
    table.MPI_Finalize = finalize_plain;
    aspx_selfbind();
    aspx_close_mend();
    measure_if_asked();
    aspx_entry_use(&table);
}

/* Mode off. */
static void observe(void)
{
    struct asp_err err;

    if (!aspx_record_where(layout)) {
        aspx_entry_inert();
    } else if (is_elsewhere(&err)) {
        complain(&err, "its time is not taken");
        aspx_entry_inert();
    } else {
        go_plain();
    }
}

/* MPI runs: bring up the progress thread. Without it the program runs as it
 * would. */
static void start_progress(void)
{
    struct asp_err err;

    if (is_elsewhere(&err)) {
        complain(&err, "running without Aspen");
        aspx_entry_inert();
        return;
    }
    if (aspx_progress_is_mpichs())
        say_plain("MPICH's own progress thread is asked for "
                  "(MPIR_CVAR_ASYNC_PROGRESS), and two would be in each "
                  "other's way");
    else if (aspx_progress_start(layout) != 0)
        say_plain("no progress thread can be started");
    else {
        measure_if_asked();
        aspx_entry_use(&aspx_progress_entries);
        return;
    }
    go_plain();
}

/* MPI_Init (required NULL) or MPI_Init_thread, the program's own. */
static int init(int *argc, char ***argv, const int *required, int *provided)
{
    enum way way = choose_way();
    int level = required ? *required : aspx_offload_default_level(), rc;

    if (start_offload(way, level)) {
        rc = aspx_offload_MPI_Init_thread(argc, argv, level, provided);
        if (rc == MPI_SUCCESS)
            use_offload();
        return rc;
    }
    rc = required ? aspx_real.MPI_Init_thread(argc, argv, *required, provided)
                  : aspx_real.MPI_Init(argc, argv);
    if (way == INERT)
        aspx_entry_inert();
    else if (rc == MPI_SUCCESS && way == OFFLOAD)
        go_plain();
    else if (rc == MPI_SUCCESS && way == THREAD)
        start_progress();
    else if (rc == MPI_SUCCESS && way == OBSERVE)
        observe();
    else if (rc == MPI_SUCCESS)
        after_init();
    return rc;
}

int aspx_hand_MPI_Init(int *argc, char ***argv)
{
    int rc = MPI_SUCCESS;

    pthread_mutex_lock(&start_lock);
    if (!adopt())
        rc = init(argc, argv, NULL, NULL);
    pthread_mutex_unlock(&start_lock);
    return rc;
}

int aspx_hand_MPI_Init_thread(int *argc, char ***argv, int required,
                              int *provided)
{
    int rc;

    pthread_mutex_lock(&start_lock);
    if (adopt())
        rc = aspx_real.MPI_Query_thread(provided);
    else
        rc = init(argc, argv, &required, provided);
    pthread_mutex_unlock(&start_lock);
    return rc;
}

/* MPI is ended by whichever of MPI_Finalize and MPI_Session_finalize is the
 * last; leave() has run then. */
static void after_finalize(void)
{
    if (!atomic_load(&left))
        return;
    if (atomic_load(&hidden))
        aspx_entry_end();
    else
        aspx_entry_inert();
    aspx_board_say(ASP_TASK_FINALIZED);
    aspx_watchdog_finish();
}

int aspx_hand_MPI_Finalize(void)
{
    int rc = aspx_real.MPI_Finalize();

    if (rc == MPI_SUCCESS) {
        atomic_store(&finalized, true);
        after_finalize();
    }
    return rc;
}

int aspx_hand_MPI_Initialized(int *flag)
{
    if (!flag || !atomic_load(&hidden))
        return aspx_real.MPI_Initialized(flag);
    *flag = atomic_load(&initialized);
    return MPI_SUCCESS;
}

int aspx_hand_MPI_Finalized(int *flag)
{
    if (!flag || !atomic_load(&hidden))
        return aspx_real.MPI_Finalized(flag);
    *flag = atomic_load(&finalized);
    return MPI_SUCCESS;
}

/* To sum up the times takes a world. */
static void say_unmeasured(void)
{
    if (layout->tasks[local].rank_world == 0)
        fprintf(stderr, "aspen: no report: in mode off the time of programs "
                        "that open a session before MPI_Init is not taken\n");
}

/* The real MPI_Session_init asks for MPI_THREAD_MULTIPLE too. */
static void start_hidden(void)
{
    int provided;

    pthread_mutex_lock(&start_lock);
    if (!atomic_exchange(&started, true)) {
        enum way way = choose_way();

        if (start_offload(way, MPI_THREAD_MULTIPLE)) {
            use_offload();
        } else if (way != GHOST && way != BOTH) {
            if (way == THREAD)
                say_plain("mode thread knows no sessions before MPI_Init");
            if (way == OBSERVE)
                say_unmeasured();
            aspx_entry_inert();
        } else if (aspx_real.MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE,
                                             &provided) == MPI_SUCCESS) {
            atomic_store(&hidden, true);
            after_init();
        }
    }
    pthread_mutex_unlock(&start_lock);
}

int aspx_hand_MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler,
                               MPI_Session *session)
{
    int rc;

    start_hidden();
    if (aspx_offload_runs() && !aspx_offload_is_self())
        return aspx_offload_MPI_Session_init(info, errhandler, session);
    rc = aspx_real.MPI_Session_init(info, errhandler, session);
    if (rc == MPI_SUCCESS)
        atomic_fetch_add(&sessions, 1);
    return rc;
}

int aspx_hand_MPI_Session_finalize(MPI_Session *session)
{
    int rc = aspx_real.MPI_Session_finalize(session);

    if (rc != MPI_SUCCESS)
        return rc;
    if (atomic_fetch_sub(&sessions, 1) == 1 && atomic_load(&hidden) &&
        !atomic_load(&initialized))
        rc = aspx_real.MPI_Finalize();
    after_finalize();
    return rc;
}

/* The real world: MPICH ends only the caller on any other communicator. */
int aspx_hand_MPI_Abort(MPI_Comm comm, int errorcode)
{
    if (comm == MPI_COMM_WORLD)
        aspx_board_say(ASP_TASK_ABORTING);
    return aspx_real.MPI_Abort(comm, errorcode);
}

/* The only variadic function; MPICH ignores what follows level. */
int aspx_hand_MPI_Pcontrol(const int level, ...)
{
    return aspx_real.MPI_Pcontrol(level);
}
