/* SPDX-License-Identifier: BSD-3-Clause */
/* Process sets without ghosts. Start and end of sessions are in start.c. */
#include "config.h"

#include "runtime/mpi/real.h"
#include "world.h"

#include "mpi_wrap.h"

#include <stdio.h>
#include <string.h>

/* Whatever the set, its members among the users, in the order of the set. */
int aspx_wrap_MPI_Group_from_session_pset(MPI_Session session,
                                          const char *pset_name,
                                          MPI_Group *newgroup)
{
    MPI_Group all, users;
    int rc;

    rc = aspx_real.MPI_Group_from_session_pset(session, pset_name, newgroup);
    if (rc != MPI_SUCCESS)
        return rc;
    all = *newgroup;
    aspx_real.MPI_Comm_group(aspx_world.users, &users);
    rc = aspx_real.MPI_Group_intersection(all, users, newgroup);
    aspx_real.MPI_Group_free(&users);
    aspx_real.MPI_Group_free(&all);
    return rc;
}

int aspx_wrap_MPI_Session_get_pset_info(MPI_Session session,
                                        const char *pset_name, MPI_Info *info)
{
    char size[16];
    int rc;

    rc = aspx_real.MPI_Session_get_pset_info(session, pset_name, info);
    if (rc != MPI_SUCCESS || strcmp(pset_name, "mpi://WORLD") != 0 ||
        aspx_world.users == MPI_COMM_WORLD)
        return rc;
    snprintf(size, sizeof(size), "%d", aspx_world.size_users);
    return aspx_real.MPI_Info_set(*info, "mpi_size", size);
}
