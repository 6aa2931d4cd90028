/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts MPI as usual and has some functions from elsewhere: from libmpich's
 * own handle, as a library does that uses ctypes beside mpi4py; and in the
 * plugin whose path is given, which is bound to libmpich. */
#include "say.h"

#include <dlfcn.h>

static void *find(void *library, const char *name)
{
    void *found = dlsym(library, name);

    if (!found)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return found;
}

/* Requests made by either way are completed by the other. */
static void exchange(void *mpi)
{
    int (*isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                 MPI_Request *);
    int (*waitall)(int, MPI_Request *, MPI_Status *);
    int size, next, wrong = 0;

    *(void **) &isend = find(mpi, "MPI_Isend");
    *(void **) &waitall = find(mpi, "PMPI_Waitall");
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (say_rank + 1) % size;
    for (int i = 0; i < 1000; i++) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        int in = -1;

        MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
                  &requests[0]);
        isend(&i, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &requests[1]);
        (i % 2 ? waitall : MPI_Waitall)(2, requests, statuses);
        wrong += in != i;
    }
    say("%d wrong", wrong);
}

int main(int argc, char **argv)
{
    int (*comm_size)(MPI_Comm, int *), (*run)(void), (*finalize)(void);
    int size, flag;
    void *mpi, *plugin;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &say_rank);
    mpi = dlopen("libmpich.so.12", RTLD_NOW);
    plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!mpi || !plugin)
        MPI_Abort(MPI_COMM_WORLD, 1);
    *(void **) &comm_size = find(mpi, "MPI_Comm_size");
    comm_size(MPI_COMM_WORLD, &size);
    say("one of %d", size);
    exchange(mpi);
    *(void **) &run = find(plugin, "plugin_run");
    run();
    *(void **) &finalize = find(mpi, "MPI_Finalize");
    dlclose(plugin);
    dlclose(mpi);
    finalize();
    MPI_Finalized(&flag);
    say("finalized %d", flag);
    return 0;
}
