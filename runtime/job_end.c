/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Abort is tried first. It may hang, because MPI is stuck under our feet
 * with its lock held, so it gets a thread and a time of its own. Inside
 * MPI_Init and MPI_Finalize MPICH refuses it, and Slurm by itself lets the
 * other tasks wait when one has exited: then the process manager gets, on the
 * descriptor that MPI has from it, the message that MPI_Abort would have sent.
 */
#include "config.h"

#include "job_end.h"

#include "mpi/real.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ABORT_S = 10, PMI_S = 5 };

static void *abort_mpi(void *unused)
{
    aspx_real.MPI_Abort(MPI_COMM_WORLD, 1);
    return unused;
}

/* PMI-1, which is what MPICH speaks to hydra and to Slurm's pmi2 plugin. To a
 * manager that speaks anything else this is an error like our exit. */
static void abort_pmi(void)
{
    static const char message[] = "cmd=abort exitcode=1\n";
    const char *text = getenv("PMI_FD");
    int fd = text ? atoi(text) : -1;
    struct stat st;

    /* MPI may have closed it and the program opened a file. */
    if (fd > 2 && fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) &&
        write(fd, message, strlen(message)) > 0)
        sleep(PMI_S);
}

_Noreturn void aspx_job_end(bool in_mpi)
{
    pthread_t aborter;

    if (in_mpi && pthread_create(&aborter, NULL, abort_mpi, NULL) == 0)
        sleep(ABORT_S);
    abort_pmi();
    _exit(1);
}
