/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of every kind that a program may leave behind when it ends MPI, and
 * which plain MPICH lets it leave. Two processes.
 * usage: offload_left world | session */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { KEPT, CANCELLED, FREED, SENT, KINDS };

static int in[KINDS], out = 7;

static void leave_requests(MPI_Comm comm)
{
    MPI_Request requests[KINDS], persistent;
    int rank, got = 0;

    MPI_Comm_rank(comm, &rank);
    for (int kind = KEPT; kind <= FREED; kind++)
        MPI_Irecv(&in[kind], 1, MPI_INT, 1 - rank, kind, comm, &requests[kind]);
    MPI_Cancel(&requests[CANCELLED]);
    MPI_Request_free(&requests[FREED]);
    MPI_Recv_init(&in[SENT], 1, MPI_INT, 1 - rank, KINDS, comm, &persistent);
    MPI_Start(&persistent);
    MPI_Isend(&out, 1, MPI_INT, 1 - rank, SENT, comm, &requests[SENT]);
    MPI_Recv(&got, 1, MPI_INT, 1 - rank, SENT, comm, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    printf("rank %d got %d\n", rank, got);
}

static void of_session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "left", MPI_INFO_NULL,
                               MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    leave_requests(comm);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "session") == 0) {
        of_session();
        return 0;
    }
    MPI_Init(&argc, &argv);
    leave_requests(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
