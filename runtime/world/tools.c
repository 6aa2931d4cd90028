/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_T handles that are bound to a communicator: the object is passed by its
 * address, so MPI_COMM_WORLD is replaced by the address of our users. */
#include "config.h"

#include "runtime/mpi/real.h"
#include "world.h"

#include "mpi_wrap.h"

/* What the program means by object, for a variable that is bound to bind. */
static void *object_meant(int bind, void *object)
{
    if (bind == MPI_T_BIND_MPI_COMM && object &&
        *(MPI_Comm *) object == MPI_COMM_WORLD)
        return &aspx_world.users;
    return object;
}

int aspx_wrap_MPI_T_cvar_handle_alloc(int index, void *object,
                                      MPI_T_cvar_handle *handle, int *count)
{
    int verbosity, bind = MPI_T_BIND_NO_OBJECT, scope;
    MPI_Datatype type;
    MPI_T_enum names;

    aspx_real.MPI_T_cvar_get_info(index, NULL, NULL, &verbosity, &type, &names,
                                  NULL, NULL, &bind, &scope);
    return aspx_real.MPI_T_cvar_handle_alloc(index, object_meant(bind, object),
                                             handle, count);
}

int aspx_wrap_MPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index,
                                      void *object, MPI_T_pvar_handle *handle,
                                      int *count)
{
    int verbosity, class, bind = MPI_T_BIND_NO_OBJECT;
    int readonly, continuous, atomic;
    MPI_Datatype type;
    MPI_T_enum names;

    aspx_real.MPI_T_pvar_get_info(index, NULL, NULL, &verbosity, &class, &type,
                                  &names, NULL, NULL, &bind, &readonly,
                                  &continuous, &atomic);
    return aspx_real.MPI_T_pvar_handle_alloc(
        session, index, object_meant(bind, object), handle, count);
}

int aspx_wrap_MPI_T_event_handle_alloc(int index, void *object, MPI_Info info,
                                       MPI_T_event_registration *registration)
{
    int verbosity, elements = 0, bind = MPI_T_BIND_NO_OBJECT;

    aspx_real.MPI_T_event_get_info(index, NULL, NULL, &verbosity, NULL, NULL,
                                   &elements, NULL, NULL, NULL, NULL, &bind);
    return aspx_real.MPI_T_event_handle_alloc(index, object_meant(bind, object),
                                              info, registration);
}
