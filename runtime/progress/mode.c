/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode thread. */
#include "config.h"

#include "progress.h"
#include "report.h"

#include "runtime/mpi/entry.h"
#include "runtime/coll/select/report.h"
#include "runtime/pack/report.h"
#include "runtime/profile/report.h"

static bool wants(const struct asp_layout *layout)
{
    return layout->mode == ASP_MODE_THREAD;
}

static const char *after_init(const struct asp_layout *layout, uint32_t local)
{
    (void) local;
    if (aspx_progress_is_mpichs())
        return "MPICH's own progress thread is asked for "
               "(MPIR_CVAR_ASYNC_PROGRESS), and two would be in each other's "
               "way";
    return aspx_progress_start(layout) == 0
               ? NULL
               : "no progress thread can be started";
}

static void use_entries(const struct asp_layout *layout)
{
    (void) layout;
    aspx_entry_use(&aspx_progress_entries);
}

const struct aspx_mode aspx_progress_mode = {
    .wants = wants,
    .after_init = after_init,
    .use_entries = use_entries,
    .no_sessions = "mode thread knows no sessions before MPI_Init; running "
                   "without Aspen",
    .sections = {&aspx_progress_section, &aspx_times_section,
                 &aspx_typed_section, &aspx_coll_section},
};
