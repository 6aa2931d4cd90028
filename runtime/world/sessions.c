/* SPDX-License-Identifier: BSD-3-Clause */
/* Process sets without ghosts. Start and end of sessions are in start.c. */
#include "config.h"

#include "runtime/mpi/real.h"
#include "world.h"

#include "mpi_wrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The users, by number in the set of all processes of this session: MPICH 5.0
 * does not compare a session's group with that of a communicator outside it. */
static int group_of_users(MPI_Session session, MPI_Group *users)
{
    int *ranks, rc;
    MPI_Group all;

    rc = aspx_real.MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    if (rc != MPI_SUCCESS)
        return rc;
    ranks = malloc(sizeof(*ranks) * (size_t) aspx_world.size_users);
    if (!ranks)
        aspx_abort();
    for (int i = 0; i < aspx_world.size_users; i++)
        ranks[i] = (int) aspx_world.user_to_world[i];
    rc = aspx_real.MPI_Group_incl(all, aspx_world.size_users, ranks, users);
    free(ranks);
    aspx_real.MPI_Group_free(&all);
    return rc;
}

/* Whatever the set, its members among the users, in the order of the set. */
int aspx_wrap_MPI_Group_from_session_pset(MPI_Session session,
                                          const char *pset_name,
                                          MPI_Group *newgroup)
{
    MPI_Group all, users;
    int rc;

    rc = aspx_real.MPI_Group_from_session_pset(session, pset_name, newgroup);
    if (rc != MPI_SUCCESS || aspx_world.users == MPI_COMM_WORLD)
        return rc;
    all = *newgroup;
    rc = group_of_users(session, &users);
    if (rc == MPI_SUCCESS) {
        rc = aspx_real.MPI_Group_intersection(all, users, newgroup);
        aspx_real.MPI_Group_free(&users);
    }
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
