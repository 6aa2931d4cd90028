/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of mode thread, and what is worth watching. */
#include "config.h"

#include "progress.h"

#include "thread.h"
#include "on_demand.h"

#include "runtime/mpi/entry.h"
#include "runtime/mpi/handle.h"
#include "runtime/mpi/helper_thread.h"
#include "runtime/record/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

struct aspx_real aspx_progress_entries, aspx_progress_behind;

static const struct asp_layout *layout;
static MPI_Count small_bytes;

bool aspx_progress_is_mpichs(void)
{
    /* MPICH 4.0 knows the setting by three names. */
    static const char *const names[] = {"MPIR_CVAR_ASYNC_PROGRESS",
                                        "MPIR_PARAM_ASYNC_PROGRESS",
                                        "MPICH_ASYNC_PROGRESS"};
    static const char *const no[] = {"", "0", "no", "false", "off"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        bool yes = value != NULL;

        for (size_t j = 0; yes && j < sizeof(no) / sizeof(no[0]); j++)
            yes = strcasecmp(value, no[j]) != 0;
        if (yes)
            return true;
    }
    return false;
}

void aspx_progress_read_limits(const struct asp_layout *its_layout)
{
    small_bytes = (MPI_Count) 1024 * its_layout->knobs.thread_min_kb;
}

int aspx_progress_start(const struct asp_layout *its_layout)
{
    int rc = aspx_progress_thread_start(its_layout->bound ? &its_layout->service
                                                          : NULL);
    int level = MPI_THREAD_MULTIPLE;

    if (rc) {
        errno = rc;
        return -1;
    }
    (void) aspx_real.MPI_Query_thread(&level);
    aspx_progress_thread_set_many(level == MPI_THREAD_MULTIPLE);
    aspx_watch_set_many(level == MPI_THREAD_MULTIPLE);
    layout = its_layout;
    aspx_progress_read_limits(layout);
    aspx_progress_behind = aspx_real;
    aspx_progress_fill(&aspx_progress_entries);
    return 0;
}

bool aspx_progress_is_large(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;

    if (count > small_bytes) /* also of no bytes each, but nobody does that */
        return true;
    if (count <= 0 || aspx_real.MPI_Type_size_x(type, &size) != MPI_SUCCESS ||
        size <= 0)
        return false;
    return count > small_bytes / size;
}

static int posted(int rc, const MPI_Request *request, bool large, bool own)
{
    large = large && rc == MPI_SUCCESS && *request != MPI_REQUEST_NULL;
    if (large)
        aspx_watch_add(*request, own);
    aspx_gate_leave();
    if (large) {
        if (!own)
            aspx_progress_thread_notify();
        aspx_on_demand_posted();
    }
    return rc;
}

static int made(int rc, const MPI_Request *request, bool large, bool own)
{
    if (large && rc == MPI_SUCCESS && *request != MPI_REQUEST_NULL)
        aspx_watch_persistent(*request, own);
    aspx_gate_leave();
    return rc;
}

int aspx_progress_posted(int rc, const MPI_Request *request, bool large)
{
    return posted(rc, request, large, false);
}

int aspx_progress_posted_op(int rc, const MPI_Request *request, MPI_Op op)
{
    return posted(rc, request, true, aspx_handle_is_own_op(op));
}

int aspx_progress_made(int rc, const MPI_Request *request, bool large)
{
    return made(rc, request, large, false);
}

int aspx_progress_made_op(int rc, const MPI_Request *request, MPI_Op op)
{
    return made(rc, request, true, aspx_handle_is_own_op(op));
}

int aspx_progress_MPI_Finalize(void)
{
    int rc;

    if (aspx_helper_thread_runs()) {
        aspx_progress_thread_stop();
        aspx_record_report(layout, &aspx_progress_mode);
    }
    rc = aspx_real.MPI_Finalize();
    if (rc == MPI_SUCCESS)
        aspx_entry_inert();
    return rc;
}
