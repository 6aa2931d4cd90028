/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of the engine, and the calls of the program that start and end
 * MPI. These are the caller's, while the thread stands aside: MPICH's hwloc
 * loads and unloads plugins there, and where the program makes them in a
 * constructor of a library that it loads, the caller has the loader's lock. MPI
 * gets a level that needs no locks inside MPI, unless the program has many
 * threads in it (direct_call.h); the program is told what it asked for, because
 * it gets it. */
#include "config.h"

#include "offload.h"

#include "callback.h"
#include "command.h"
#include "pending.h"
#include "direct_call.h"
#include "request.h"
#include "rounding.h"
#include "thread.h"

#include "runtime/mpi/entry.h"
#include "runtime/mpi/helper_thread.h"
#include "runtime/mpi/progress_request.h"
#include "runtime/profile/profile.h"
#include "runtime/record/frame.h"
#include "runtime/world/call_site.h"
#include "runtime/world/init_state.h"
#include "mpi_wrap.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <strings.h>

static const struct asp_layout *layout;
static aspx_offload_behind_f *runs;
static bool mode_behind;
static int level; /* what the program is told */
static pthread_t main_thread;

static bool helper_is_on(const struct asp_layout_task *helped,
                         const struct asp_layout_task *task)
{
    return helped->cpu_helper_os >= 0 &&
           asp_cpuset_has(&task->cpus, (unsigned) helped->cpu_helper_os);
}

static bool in_each_others_way(const struct asp_layout_task *a,
                               const struct asp_layout_task *b)
{
    return helper_is_on(a, b) || helper_is_on(b, a) ||
           (a != b && a->cpu_helper_os == b->cpu_helper_os);
}

/* A task that is not bound shares all CPUs; one without CPUs of its own may be
 * on any. */
static enum aspx_cpus cpus_of(const struct asp_layout_task *task)
{
    if (!layout->bound || task->cpu_helper_os < 0 || helper_is_on(task, task))
        return ASPX_CPUS_SHARED;
    if (asp_cpuset_count(&task->cpus) == 0)
        return ASPX_CPUS_VISITED;
    for (uint32_t i = 0; i < layout->ntasks; i++) {
        if (in_each_others_way(task, &layout->tasks[i]))
            return ASPX_CPUS_VISITED;
    }
    return ASPX_CPUS_OWN;
}

static bool is_thread(void)
{
    return aspx_offload_self && !aspx_in_direct_call;
}

int aspx_offload_start(const struct asp_layout *its_layout, uint32_t local,
                       int required, aspx_offload_behind_f *its_runs,
                       bool its_mode_behind)
{
    static const struct aspx_command_hooks hooks = {aspx_callback_serve,
                                                    aspx_offload_turn};
    const struct asp_layout_task *task = &its_layout->tasks[local];
    int cpu = its_layout->bound ? task->cpu_helper_os : -1, rc;
    enum aspx_cpus cpus;

    layout = its_layout;
    cpus = cpus_of(task);
    runs = its_runs;
    mode_behind = its_mode_behind;
    level = required;
    main_thread = pthread_self();
    aspx_offload_many = required == MPI_THREAD_MULTIPLE;
    aspx_behind = aspx_real;
    aspx_offload_fill(&aspx_offload_entries);
    aspx_command_start(required != MPI_THREAD_SINGLE, aspx_offload_many, cpus,
                       &hooks);
    aspx_pool_start(aspx_offload_many);
    aspx_callback_start(aspx_offload_many);
    aspx_rounding_start();
    rc = aspx_thread_start(cpu, cpus);
    if (rc) {
        errno = rc;
        return -1;
    }
    aspx_call_site_use_kept(is_thread);
    aspx_profile_waits_elsewhere(aspx_offload_many);
    return 0;
}

void aspx_offload_keep_call_site(void)
{
    if (mode_behind && !aspx_offload_self)
        aspx_call_site_keep();
}

int aspx_offload_default_level(void)
{
    static const struct {
        const char *name;
        int level;
    } levels[] = {
        {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE},
        {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
        {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
    };
    const char *name = getenv("MPIR_CVAR_DEFAULT_THREAD_LEVEL");

    for (size_t i = 0; name && i < sizeof(levels) / sizeof(levels[0]); i++) {
        if (strcasecmp(name, levels[i].name) == 0)
            return levels[i].level;
    }
    return MPI_THREAD_SINGLE;
}

struct opening {
    int *argc;
    char ***argv;
    MPI_Info info;
    MPI_Errhandler errhandler;
    MPI_Session *session;
    int rc;
    bool last; /* the program has now ended all that it began */
};

static int really_init(int *argc, char ***argv)
{
    int wanted = aspx_offload_many ? MPI_THREAD_MULTIPLE
                                   : MPI_THREAD_SERIALIZED;
    int provided;
    int rc = aspx_behind.MPI_Init_thread(argc, argv, wanted, &provided);

    if (rc == MPI_SUCCESS) {
        runs(&aspx_behind);
        aspx_direct_call_allow(provided);
        aspx_behind.MPI_Comm_size(MPI_COMM_WORLD, &aspx_offload_ranks);
        (void) aspx_progress_request_start();
    }
    return rc;
}

static int really_finalize(void)
{
    if (!mode_behind) /* the record of what is behind has it otherwise */
        aspx_record_report(layout, &aspx_offload_mode);
    aspx_progress_request_stop();
    return aspx_behind.MPI_Finalize();
}

static void init_mpi(void *argument)
{
    struct opening *o = argument;

    o->rc = MPI_SUCCESS;
    if (aspx_init_adopt())
        return;
    o->rc = really_init(o->argc, o->argv);
    if (o->rc == MPI_SUCCESS)
        aspx_init_note_start(false);
}

int aspx_offload_MPI_Init(int *argc, char ***argv)
{
    struct opening opening = {.argc = argc, .argv = argv};

    aspx_thread_replace(init_mpi, &opening);
    return opening.rc;
}

int aspx_offload_MPI_Init_thread(int *argc, char ***argv, int required,
                                 int *provided)
{
    int rc = aspx_offload_MPI_Init(argc, argv);

    (void) required;
    if (rc == MPI_SUCCESS && provided)
        *provided = level;
    return rc;
}

static void session_init(void *argument)
{
    struct opening *o = argument;

    /* sessions come with error handlers */
    atomic_store(&aspx_offload_handlers_set, true);
    o->rc = MPI_SUCCESS;
    if (!aspx_init_is_started()) {
        o->rc = really_init(NULL, NULL);
        if (o->rc == MPI_SUCCESS)
            aspx_init_note_start(true);
    }
    if (o->rc == MPI_SUCCESS)
        o->rc = aspx_behind.MPI_Session_init(o->info, o->errhandler,
                                             o->session);
    if (o->rc == MPI_SUCCESS)
        aspx_init_note_session();
}

int aspx_offload_MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler,
                                  MPI_Session *session)
{
    struct opening opening = {
        .info = info, .errhandler = errhandler, .session = session};

    aspx_thread_replace(session_init, &opening);
    return opening.rc;
}

/* MPI_Finalize or MPI_Session_finalize has returned, in the thread's place: of
 * several callers one is the last. Requests that the program left, a receive
 * that nobody answers, end with MPI: to test one then is an error that ends the
 * job. */
static void note_end(struct opening *o)
{
    o->last = aspx_init_is_over();
    if (o->last)
        aspx_pending_forget();
}

static void stop_thread(void)
{
    aspx_helper_thread_stop();
    aspx_offload_entries = aspx_real;
    if (aspx_init_is_hidden())
        aspx_entry_end();
    else
        aspx_entry_inert();
}

static void finalize_mpi(void *argument)
{
    struct opening *o = argument;

    o->rc = really_finalize();
    if (o->rc != MPI_SUCCESS)
        return;
    aspx_init_note_finalize();
    note_end(o);
}

int aspx_offload_MPI_Finalize(void)
{
    struct opening opening = {.last = false};

    aspx_thread_replace(finalize_mpi, &opening);
    if (opening.last)
        stop_thread();
    return opening.rc;
}

static void session_finalize(void *argument)
{
    struct opening *o = argument;

    o->rc = aspx_behind.MPI_Session_finalize(o->session);
    if (o->rc != MPI_SUCCESS)
        return;
    if (aspx_init_end_session())
        o->rc = really_finalize();
    note_end(o);
}

int aspx_offload_MPI_Session_finalize(MPI_Session *session)
{
    struct opening opening = {.session = session};

    aspx_thread_replace(session_finalize, &opening);
    if (opening.last && opening.rc == MPI_SUCCESS)
        stop_thread();
    return opening.rc;
}

int aspx_offload_MPI_Initialized(int *flag)
{
    return aspx_wrap_MPI_Initialized(flag);
}

int aspx_offload_MPI_Finalized(int *flag)
{
    return aspx_wrap_MPI_Finalized(flag);
}

int aspx_offload_MPI_Query_thread(int *provided)
{
    if (!provided)
        return aspx_refuse_arguments();
    *provided = level;
    return MPI_SUCCESS;
}

int aspx_offload_MPI_Is_thread_main(int *flag)
{
    if (!flag)
        return aspx_refuse_arguments();
    *flag = pthread_equal(pthread_self(), main_thread) != 0;
    return MPI_SUCCESS;
}
