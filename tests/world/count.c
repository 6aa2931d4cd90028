/* SPDX-License-Identifier: BSD-3-Clause */
/* A PMPI tool: counts calls, and those that name MPI_COMM_WORLD. */
#include <mpi.h>

#include <stdio.h>

/* The tree is compiled with hidden symbols. */
#pragma GCC visibility push(default)

static int rank, calls, on_world;

static void count(MPI_Comm comm)
{
    calls++;
    on_world += comm == MPI_COMM_WORLD;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = PMPI_Init_thread(argc, argv, required, provided);

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rc;
}

int MPI_Init(int *argc, char ***argv)
{
    int rc = PMPI_Init(argc, argv);

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rc;
}

int MPI_Comm_rank(MPI_Comm comm, int *out)
{
    count(comm);
    return PMPI_Comm_rank(comm, out);
}

int MPI_Comm_size(MPI_Comm comm, int *out)
{
    count(comm);
    return PMPI_Comm_size(comm, out);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *out)
{
    count(comm);
    return PMPI_Comm_dup(comm, out);
}

int MPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
    count(comm);
    return PMPI_Comm_get_attr(comm, keyval, value, flag);
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    count(comm);
    return PMPI_Comm_set_errhandler(comm, errhandler);
}

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm)
{
    count(comm);
    return PMPI_Allreduce(in, out, n, type, op, comm);
}

int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info,
                  MPI_File *file)
{
    int rc = PMPI_File_open(comm, name, mode, info, file);

    count(comm);
    return rc;
}

int MPI_Finalize(void)
{
    int size, sum;

    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Allreduce(&calls, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d: tool: %d calls, %d on world, %d by all %d ranks\n", rank, calls,
           on_world, sum, size);
    return PMPI_Finalize();
}
