/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of the session model gets a hidden MPI_Init at its first session: what
 * the helper needs is there at once, and the record has a world to be summed up in.
 * A later MPI_Init adopts it, and MPI_Finalize ends the helper as ever; without one
 * the end of the last session ends both. */
#include "config.h"

#include "sessions.h"

#include "progress.h"

#include "runtime/mpi/entry.h"

#include <stdatomic.h>

static bool hides; /* an MPI_Init */
static struct aspx_real behind; /* where the table led before */

/* What the program itself did. */
static atomic_bool initialized, finalized;
static atomic_int sessions;

bool aspx_progress_hides_init(void)
{
    return hides;
}

/* Is this the MPI_Init that adopts the hidden one? */
static bool adopt(void)
{
    return !atomic_exchange(&initialized, true);
}

static int init(int *argc, char ***argv)
{
    return adopt() ? MPI_SUCCESS : behind.MPI_Init(argc, argv);
}

static int init_thread(int *argc, char ***argv, int required, int *provided)
{
    return adopt() ? behind.MPI_Query_thread(provided)
                   : behind.MPI_Init_thread(argc, argv, required, provided);
}

static int tell_initialized(int *flag)
{
    if (!flag)
        return behind.MPI_Initialized(flag); /* it complains */
    *flag = atomic_load(&initialized);
    return MPI_SUCCESS;
}

static int tell_finalized(int *flag)
{
    if (!flag)
        return behind.MPI_Finalized(flag); /* it complains */
    *flag = atomic_load(&finalized);
    return MPI_SUCCESS;
}

int aspx_progress_MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler,
                                   MPI_Session *session)
{
    int rc = behind.MPI_Session_init(info, errhandler, session);

    if (rc == MPI_SUCCESS)
        atomic_fetch_add(&sessions, 1);
    return rc;
}

/* MPI has ended, or other sessions end it: there is nothing to help. */
static void step_aside(void)
{
    struct aspx_real table = aspx_real;

    table.MPI_Initialized = tell_initialized;
    table.MPI_Finalized = tell_finalized;
    aspx_entry_use(&table);
}

static int finalize(void)
{
    int rc;

    aspx_progress_end();
    rc = aspx_real.MPI_Finalize();
    if (rc == MPI_SUCCESS) {
        atomic_store(&finalized, true);
        step_aside();
    }
    return rc;
}

static int session_finalize(MPI_Session *session)
{
    int rc = behind.MPI_Session_finalize(session);

    if (rc != MPI_SUCCESS || atomic_fetch_sub(&sessions, 1) != 1 ||
        atomic_load(&initialized))
        return rc;
    aspx_progress_end();
    rc = aspx_real.MPI_Finalize();
    step_aside();
    return rc;
}

void aspx_progress_fill_sessions(struct aspx_real *table)
{
    hides = true;
    behind = *table;
    table->MPI_Init = init;
    table->MPI_Init_thread = init_thread;
    table->MPI_Initialized = tell_initialized;
    table->MPI_Finalized = tell_finalized;
    table->MPI_Finalize = finalize;
    table->MPI_Session_init = aspx_progress_MPI_Session_init;
    table->MPI_Session_finalize = session_finalize;
}
