/* SPDX-License-Identifier: BSD-3-Clause */
/* An error handler that cancels, waits for and frees what is under way, and
 * posts more. What it prints plain MPI prints, too.
 * usage: nested wait|free|waitall */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 20 };
static MPI_Request r[4];
static const char *how;
static int told;

static void handle(MPI_Comm *comm, int *code, ...)
{
    MPI_Request new[MANY];
    MPI_Status statuses[MANY];
    int in, out = 0;

    (void) comm;
    (void) code;
    if (told++)
        return;
    for (int i = 0; i < 3; i++) {
        if (r[i] != MPI_REQUEST_NULL)
            MPI_Cancel(&r[i]);
    }
    for (int i = 0; i < MANY / 2; i++) {
        MPI_Irecv(&in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &new[i]);
        MPI_Isend(&out, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &new[MANY - 1 - i]);
    }
    if (strcmp(how, "wait") == 0)
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++) {
        if (strcmp(how, "free") == 0 && r[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&r[i]);
    }
    if (strcmp(how, "waitall") == 0)
        MPI_Waitall(4, r, statuses);
    MPI_Waitall(MANY, new, statuses);
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Status statuses[4];
    MPI_Comm dup;
    int in[3], two[2] = {0}, x, y, rc;

    how = argv[1];
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_SELF, &dup);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(dup, handler);
    for (int i = 0; i < 3; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, 0, i, dup, &r[i]);
    MPI_Isend(two, 2, MPI_INT, 0, 1, dup, &r[3]);
    rc = MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    printf("%d times told; %d;", told, rc != MPI_SUCCESS);
    for (int i = 0; i < 4; i++)
        printf(" %s", r[i] == MPI_REQUEST_NULL ? "null" : "there");
    MPI_Waitall(4, r, statuses);
    for (x = 0; x < 100; x++) {
        y = -1;
        MPI_Sendrecv(&x, 1, MPI_INT, 0, 7, &y, 1, MPI_INT, 0, 7, dup,
                     MPI_STATUS_IGNORE);
        if (y != x)
            printf(" wrong");
    }
    puts("");
    return MPI_Finalize();
}
