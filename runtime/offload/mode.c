/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode offload, and the offload thread in front of ghosts. */
#include "config.h"

#include "command.h"
#include "offload.h"
#include "report.h"

#include "runtime/mpi/entry.h"
#include "runtime/coll/mpich/native.h"
#include "runtime/coll/select/report.h"
#include "runtime/pack/report.h"
#include "runtime/profile/report.h"

#include "mpi_wrap.h"

/* Where the plan found no CPU for the thread there is none: one that it shares
 * with its rank makes the program slower. */
static const char *start_thread(const struct asp_layout *layout, uint32_t local,
                                const int *required,
                                aspx_offload_behind_f *runs, bool mode_behind)
{
    int level = required ? *required : aspx_offload_default_level();

    if (layout->bound && layout->tasks[local].cpu_helper_os < 0)
        return "no CPU for the offload threads: ask for one more per task (-c)";
    return aspx_offload_start(layout, local, level, runs, mode_behind) == 0
               ? NULL
               : "no offload thread can be started";
}

static int init(int *argc, char ***argv, int *provided)
{
    return aspx_offload_MPI_Init_thread(argc, argv, 0, provided);
}

static void use_entries(const struct asp_layout *layout)
{
    (void) layout;
    /* What was posted before must not see what is written for a later call. */
    aspx_native_in_turn = aspx_command_in_thread;
    aspx_entry_use(&aspx_offload_entries);
}

const struct aspx_mode aspx_offload_mode = {
    .wants = asp_layout_offloads,
    .start_thread = start_thread,
    .init = init,
    .use_entries = use_entries,
    .sections = {&aspx_offload_section, &aspx_times_section,
                 &aspx_typed_section, &aspx_coll_section},
};
