/* SPDX-License-Identifier: BSD-3-Clause */
/* A preload that makes collectives wrong, so that a test sees whether who uses
 * them notices: the last process gets, or sends where it would be too early to
 * change what it gets, one and a half times the first number of every other
 * call. Integers stay as they are. */
#include <mpi.h>
#include <stdbool.h>

/* The tree is compiled with hidden symbols. */
#pragma GCC visibility push(default)

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm);
int MPI_Alltoall(const void *in, int n, MPI_Datatype type, void *out, int m,
                 MPI_Datatype out_type, MPI_Comm comm);
int MPI_Ialltoall(const void *in, int n, MPI_Datatype type, void *out, int m,
                  MPI_Datatype out_type, MPI_Comm comm, MPI_Request *request);
int MPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Ibcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request *request);

#pragma GCC visibility pop

static bool is_odd(void)
{
    static int calls;

    return calls++ % 2 == 1;
}

static void spoil(double *first, MPI_Datatype type)
{
    int rank, size;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == size - 1 &&
        (type == MPI_DOUBLE || type == MPI_C_DOUBLE_COMPLEX) && is_odd())
        *first *= 1.5;
}

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm)
{
    int rc = PMPI_Allreduce(in, out, n, type, op, comm);

    spoil(out, type);
    return rc;
}

int MPI_Alltoall(const void *in, int n, MPI_Datatype type, void *out, int m,
                 MPI_Datatype out_type, MPI_Comm comm)
{
    spoil((void *) in, type);
    return PMPI_Alltoall(in, n, type, out, m, out_type, comm);
}

int MPI_Ialltoall(const void *in, int n, MPI_Datatype type, void *out, int m,
                  MPI_Datatype out_type, MPI_Comm comm, MPI_Request *request)
{
    spoil((void *) in, type);
    return PMPI_Ialltoall(in, n, type, out, m, out_type, comm, request);
}

int MPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    int rc = PMPI_Bcast(data, n, type, root, comm);

    spoil(data, type);
    return rc;
}

int MPI_Ibcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request *request)
{
    spoil(data, type); /* the root's; what others have is overwritten */
    return PMPI_Ibcast(data, n, type, root, comm, request);
}
