/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode ghost in a user rank: the ghosts of this node are called into MPI before
 * the real MPI_Init; after it the world is made and the engine comes up. */
#include "config.h"

#include "casper.h"

#include "runtime/adapt/adapt.h"
#include "runtime/adapt/report.h"
#include "runtime/base/counter.h"
#include "runtime/base/log.h"
#include "runtime/casper/report/sections.h"
#include "runtime/casper/watchdog/watchdog.h"
#include "runtime/mpi/build.h"
#include "runtime/mpi/real.h"
#include "runtime/offload/report.h"
#include "runtime/p2p/report.h"
#include "runtime/coll/select/report.h"
#include "runtime/pack/report.h"
#include "runtime/profile/report.h"
#include "runtime/progress/on_demand.h"
#include "runtime/progress/report.h"
#include "runtime/world/builds.h"
#include "runtime/world/board.h"
#include "runtime/world/error_handlers.h"
#include "runtime/world/job_end.h"

#include "mpi_wrap.h"

static bool wants(const struct asp_layout *layout)
{
    return layout->mode == ASP_MODE_GHOST;
}

static bool call_ghosts(const struct asp_layout *layout, uint32_t local,
                        const int *required)
{
    if (layout->tasks[local].role != ASP_ROLE_USER)
        return false;
    aspx_board_open(layout, local);
    if (aspx_board_tell_settings(required) < 0)
        aspx_log(ASPX_LOG_WARNING,
                 "the ghosts cannot be told all variables MPIR_*, "
                 "MPICH_*, UCX_* and FI_*, there are too many: they use "
                 "those that they were started with");
    aspx_board_say(ASP_TASK_INIT);
    aspx_watchdog_start(layout);
    return true;
}

/* Silent when err has no text: then another process tells it. */
static void end_job(const struct asp_err *err)
{
    char text[ASP_ERR_TEXT_MAX + ASP_ERR_PLACE_MAX];

    if (err->text[0])
        aspx_log(ASPX_LOG_ERROR, "%s; ending the job",
                 asp_err_print(err, text, sizeof(text)));
    aspx_abort();
}

/* Make the world. Ends the job when that fails. */
static const char *join_ghosts(const struct asp_layout *layout, uint32_t local)
{
    struct asp_err err;
    int level;

    if (aspx_real.MPI_Query_thread(&level) == MPI_SUCCESS)
        aspx_threads = level == MPI_THREAD_MULTIPLE;
    aspx_watchdog_joining();
    if (aspx_world_start(&aspx_world, layout, local, &err) != 0)
        end_job(&err);
    aspx_builds_compare(&aspx_world);
    return NULL;
}

static void tell_unknown(const struct asp_layout *layout, bool first,
                         const char *unknown)
{
    char what[300];

    if (layout->knobs.require) {
        snprintf(what, sizeof(what),
                 "%s; windows would be MPI's own, and the request says "
                 "require, so the job ends",
                 unknown);
        aspx_job_end_saying(what, first, true);
    }
    if (first)
        aspx_log(ASPX_LOG_WARNING, "%s; windows are MPI's own", unknown);
}

/* Ends the job when it fails. */
static void start_engine(const struct asp_layout *layout, uint32_t local)
{
    if (aspx_casper_start(&aspx_world) != 0) {
        aspx_log(ASPX_LOG_ERROR, "MPI failed while the ghost engine started; "
                                 "ending the job");
        aspx_abort();
    }
    aspx_errh_start();
    aspx_board_say(ASP_TASK_RUNNING);
    if (aspx_mpi_unknown())
        tell_unknown(layout, layout->tasks[local].rank_user == 0,
                     aspx_mpi_unknown());
}

static void use_entries(const struct asp_layout *layout)
{
    aspx_on_demand_start(layout, aspx_adapt_help(), aspx_adapt_posted());
}

static void finalize(const struct asp_layout *layout)
{
    aspx_on_demand_stop();
    aspx_record_report(layout, &aspx_casper_mode);
    aspx_casper_stop();
    aspx_world_stop(&aspx_world);
}

static void after_finalize(void)
{
    aspx_board_say(ASP_TASK_FINALIZED);
    aspx_watchdog_finish();
}

const struct aspx_mode aspx_casper_mode = {
    .wants = wants,
    .translates = true,
    .before_init = call_ghosts,
    .after_init = join_ghosts,
    .start_engine = start_engine,
    .give_up = aspx_watchdog_stop,
    .use_entries = use_entries,
    .finalize = finalize,
    .after_finalize = after_finalize,
    .sections =
        {
            &aspx_calls_section,
            &aspx_progress_section,
            &aspx_offload_section,
            &aspx_windows_section,
            &aspx_adaptation_section,
            &aspx_times_section,
            &aspx_messages_section,
            &aspx_typed_section,
            &aspx_coll_section,
            &aspx_ghost_times_section,
            &aspx_scaling_section,
        },
};

/* The real world: MPICH ends only the caller on any other communicator. */
int aspx_wrap_MPI_Abort(MPI_Comm comm, int errorcode)
{
    if (comm == MPI_COMM_WORLD)
        aspx_board_say(ASP_TASK_ABORTING);
    return aspx_real.MPI_Abort(comm, errorcode);
}
