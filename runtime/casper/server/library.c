/* SPDX-License-Identifier: BSD-3-Clause */
/* A ghost is in one MPI with its users, so it loads their library: the file
 * that the first of them to enter MPI has loaded, as it says on the board. */
#include "config.h"

#include "ghost.h"

#include "runtime/mpi/build.h"
#include "runtime/net/device_files.h"
#include "runtime/mpi/real.h"
#include "runtime/world/settings.h"

#include "common/base/build_id.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

/* Where there is no board, or one of an older installation: what distributions
 * and MPICH's own installation call it. */
static const char *const usual_names[] = {"libmpich.so.12", "libmpi.so.12"};

/* For the whole process, as where a program is linked with it. */
static bool load(const char *path)
{
    return dlopen(path, RTLD_LAZY | RTLD_GLOBAL) != NULL;
}

/* Another build of the same file: it was replaced while the job started. */
static int check_build(const char *path, struct asp_err *err)
{
    const char *theirs = getenv(ASPX_MPI_BUILD_ENV);

    if (!theirs || !asp_build_differs(theirs, aspx_mpi_build()))
        return 0;
    return asp_errf(err, EPROTO,
                    "%.120s is another build of MPI here (%.30s...) than in "
                    "the ranks of this node (%.30s...): was it replaced while "
                    "the job started?",
                    path ? path : "the MPI library", aspx_mpi_build(), theirs);
}

int aspx_ghost_load_mpi(struct asp_err *err)
{
    const char *path = getenv(ASPX_MPI_LIBRARY_ENV);
    size_t i = 0, n = sizeof(usual_names) / sizeof(usual_names[0]);

    aspx_device_files_load();
    if (path && !load(path))
        return asp_errf(err, ENOENT,
                        "the MPI library of the ranks cannot be loaded into "
                        "the ghost: %.200s; set LD_LIBRARY_PATH for what it "
                        "needs before srun or mpiexec",
                        dlerror());
    while (!path && aspx_real_resolve() != 0 && i < n)
        (void) load(usual_names[i++]);
    if (aspx_real_resolve() != 0)
        return asp_errf(err, errno, "the ghost finds no MPICH%s%.120s",
                        path ? " in " : "", path ? path : "");
    return check_build(path, err);
}

/* MPICH takes some ways between processes by it. */
int aspx_ghost_init_mpi(void)
{
    const char *text = getenv(ASPX_MPI_THREADS_ENV);
    int level = text ? atoi(text) : MPI_THREAD_FUNNELED, provided;

    if (!text && getenv(ASPX_MPI_LIBRARY_ENV))
        return aspx_real.MPI_Init(NULL, NULL);
    return aspx_real.MPI_Init_thread(NULL, NULL, level, &provided);
}
