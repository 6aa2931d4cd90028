/* SPDX-License-Identifier: BSD-3-Clause */
/* The error handler of MPI_COMM_WORLD lives on the real world only, never on
 * the users' communicator: a communicator without a handler falls back to the
 * one of the real world, with its handle. So callbacks in every language are
 * shown MPI_COMM_WORLD, errors that belong to no communicator arrive there
 * too, and fatal ones end the whole job. What is left to do is inheritance, and
 * to give the real world its handler: from MPICH 4.2 on the library falls back
 * to it only where one has been set. */
#include "config.h"

#include "error_handlers.h"

#include "runtime/mpi/real.h"
#include "world.h"

#include "mpi_wrap.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Until it is set, new communicators inherit nothing. */
static atomic_bool set;

int aspx_wrap_MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    int rc = aspx_real.MPI_Comm_set_errhandler(comm, errhandler);

    if (rc == MPI_SUCCESS && comm == MPI_COMM_WORLD)
        atomic_store(&set, true);
    return rc;
}

int aspx_wrap_MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    int rc = aspx_real.MPI_Errhandler_set(comm, errhandler);

    if (rc == MPI_SUCCESS && comm == MPI_COMM_WORLD)
        atomic_store(&set, true);
    return rc;
}

static bool is_predefined(MPI_Errhandler errhandler)
{
    return errhandler == MPI_ERRORS_ARE_FATAL ||
           errhandler == MPI_ERRORS_RETURN || errhandler == MPI_ERRORS_ABORT;
}

void aspx_errh_start(void)
{
    MPI_Errhandler errhandler;

    aspx_real.MPI_Comm_get_errhandler(MPI_COMM_WORLD, &errhandler);
    aspx_real.MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    if (!is_predefined(errhandler))
        aspx_real.MPI_Errhandler_free(&errhandler);
}

int aspx_errh_inherit(MPI_Comm from, const MPI_Comm *to, int rc)
{
    MPI_Errhandler errhandler;

    if (rc != MPI_SUCCESS || from != MPI_COMM_WORLD || !atomic_load(&set) ||
        *to == MPI_COMM_NULL)
        return rc;
    aspx_real.MPI_Comm_get_errhandler(MPI_COMM_WORLD, &errhandler);
    aspx_real.MPI_Comm_set_errhandler(*to, errhandler);
    if (!is_predefined(errhandler))
        aspx_real.MPI_Errhandler_free(&errhandler);
    return rc;
}
