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
#include "runtime/mpi/real.h"

#include <pthread.h>
#include <unistd.h>

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
