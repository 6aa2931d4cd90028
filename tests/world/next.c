/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool like world/count.c that does not call PMPI_X, but what it finds behind
 * itself: some of it as Darshan and Recorder do, which stand for MPI_X and
 * PMPI_X and look PMPI_X up when it is called, and the rest under the same
 * name, before MPI_Init and main(). */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* The tree is compiled with hidden symbols. */
#pragma GCC visibility push(default)

/* One function under both names. */
#define BOTH(ret, name, ...)                                                   \
    ret MPI_##name(__VA_ARGS__);                                               \
    ret PMPI_##name(__VA_ARGS__) __attribute__((alias("MPI_" #name)));         \
    ret MPI_##name(__VA_ARGS__)

static int rank, calls, on_world;

static void *find(const char *name)
{
    void *next = dlsym(RTLD_NEXT, name);

    if (!next)
        abort();
    return next;
}

/* Set the pointer, of the type of the function that it is called like. */
#define FIND(pointer, name)                                                    \
    do {                                                                       \
        if (!(pointer))                                                        \
            *(void **) &(pointer) = find(name);                                \
    } while (0)

static int (*next_rank)(MPI_Comm, int *);
static int (*next_size)(MPI_Comm, int *);
static int (*next_dup)(MPI_Comm, MPI_Comm *);
static int (*next_get_attr)(MPI_Comm, int, void *, int *);
static int (*next_errhandler)(MPI_Comm, MPI_Errhandler);
static int (*next_allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op,
                             MPI_Comm);

__attribute__((constructor)) static void find_early(void)
{
    FIND(next_rank, "MPI_Comm_rank");
    FIND(next_size, "MPI_Comm_size");
    FIND(next_dup, "MPI_Comm_dup");
    FIND(next_get_attr, "MPI_Comm_get_attr");
    FIND(next_errhandler, "MPI_Comm_set_errhandler");
    FIND(next_allreduce, "MPI_Allreduce");
}

static void count(MPI_Comm comm)
{
    calls++;
    on_world += comm == MPI_COMM_WORLD;
}

BOTH(int, Init_thread, int *argc, char ***argv, int required, int *provided)
{
    static int (*next)(int *, char ***, int, int *);
    int rc;

    FIND(next, "PMPI_Init_thread");
    rc = next(argc, argv, required, provided);
    next_rank(MPI_COMM_WORLD, &rank);
    return rc;
}

BOTH(int, Init, int *argc, char ***argv)
{
    static int (*next)(int *, char ***);
    int rc;

    FIND(next, "PMPI_Init");
    rc = next(argc, argv);
    next_rank(MPI_COMM_WORLD, &rank);
    return rc;
}

BOTH(int, File_open, MPI_Comm comm, const char *name, int mode, MPI_Info info,
     MPI_File *file)
{
    static int (*next)(MPI_Comm, const char *, int, MPI_Info, MPI_File *);

    FIND(next, "PMPI_File_open");
    count(comm);
    return next(comm, name, mode, info, file);
}

int MPI_Comm_rank(MPI_Comm comm, int *out)
{
    count(comm);
    return next_rank(comm, out);
}

int MPI_Comm_size(MPI_Comm comm, int *out)
{
    count(comm);
    return next_size(comm, out);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *out)
{
    count(comm);
    return next_dup(comm, out);
}

int MPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
    count(comm);
    return next_get_attr(comm, keyval, value, flag);
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    count(comm);
    return next_errhandler(comm, errhandler);
}

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm)
{
    count(comm);
    return next_allreduce(in, out, n, type, op, comm);
}

BOTH(int, Finalize, void)
{
    static int (*next)(void);
    int size, sum;

    FIND(next, "PMPI_Finalize");
    next_size(MPI_COMM_WORLD, &size);
    next_allreduce(&calls, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d: tool: %d calls, %d on world, %d by all %d ranks\n", rank, calls,
           on_world, sum, size);
    return next();
}
