/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Abort is tried first. It may hang, because another thread is stuck inside
 * MPI with its lock held, so it gets a thread and a time limit of its own.
 * Inside MPI_Init and MPI_Finalize MPICH refuses it, and Slurm by itself lets
 * the other tasks wait when one has exited: then the process manager gets the
 * message that MPI_Abort would have sent. */
#include "config.h"

#include "job_end.h"

#include "manager.h"
#include "runtime/base/backoff.h"
#include "runtime/base/log.h"
#include "runtime/mpi/real.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* For the first to speak: whoever ends first ends the others. */
enum { OTHERS_S = 5 };

static void *abort_mpi(void *unused)
{
    aspx_real.MPI_Abort(MPI_COMM_WORLD, 1);
    return unused;
}

_Noreturn void aspx_job_end(bool in_mpi)
{
    pthread_t aborter;

    if (in_mpi && pthread_create(&aborter, NULL, abort_mpi, NULL) == 0)
        aspx_backoff_nap(ASPX_WAIT_ABORT);
    aspx_manager_abort();
    _exit(1);
}

_Noreturn void aspx_job_end_saying(const char *what, bool first, bool in_mpi)
{
    for (int s = 0; !first && s < OTHERS_S; s++)
        aspx_backoff_nap(ASPX_WAIT_OTHER_REPORTS);
    aspx_log(ASPX_LOG_ERROR, "%s", what);
    fflush(NULL);
    aspx_backoff_nap(ASPX_WAIT_PASS_ON);
    aspx_manager_note_socket();
    aspx_job_end(in_mpi);
}
