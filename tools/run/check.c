/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a job is said before it is started. */
#include "config.h"

#include "job.h"

#include "tools/base/installed.h"
#include "tools/base/library.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* LD_PRELOAD is a list. Of such a path the dynamic linker would make several:
 * the program would run without the library, and meet the ghosts as ranks. */
int aspt_check_installation(struct asp_err *err)
{
    char path[PATH_MAX];

    aspt_installed(ASPT_FILE_RUNTIME, path);
    if (!strpbrk(path, " :$"))
        return 0;
    return asp_errf(err, EINVAL,
                    "%.300s cannot be preloaded, for its path has a space, "
                    "\":\" or \"$\": move the installation",
                    path);
}

/* A program of Open MPI's runs as so many jobs of one rank each under MPICH's
 * launchers, and never meets a ghost. */
int aspt_check_program(const char *program, struct asp_err *err)
{
    char path[PATH_MAX];
    enum asp_mpi_kind kind = aspt_library_find_mpi(program, path);

    if (kind == ASP_MPI_NONE || kind == ASP_MPI_MPICH)
        return 0;
    return asp_errf(err, EINVAL,
                    "%.200s is linked with %s (%.200s), but Aspen works with "
                    "MPICH: compile it with MPICH's mpicc",
                    program, asp_mpi_kind_name(kind), path);
}

/* Can a file be written there? Nothing is opened: what is in it stays until
 * there is something new. Returns 0, or an errno. */
static int try_writing(char path[PATH_MAX])
{
    char *slash = strrchr(path, '/');
    struct stat st;

    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return EISDIR;
        return access(path, W_OK) < 0 ? errno : 0;
    }
    if (errno != ENOENT)
        return errno;
    if (!slash)
        return access(".", W_OK | X_OK) < 0 ? errno : 0;
    slash[slash == path] = '\0'; /* keep "/" */
    return access(path, W_OK | X_OK) < 0 ? errno : 0;
}

int aspt_check_report(const char *report, const char *dir, bool here,
                      struct asp_err *err)
{
    char path[PATH_MAX];
    bool below = dir && report[0] != '/';
    int why;

    if (report[0] == '\0' || strcmp(report, "1") == 0 ||
        strcmp(report, "trace") == 0)
        return 0;
    why = snprintf(path, sizeof(path), "%s%s%s", below ? dir : "",
                   below ? "/" : "", report) < (int) sizeof(path)
              ? try_writing(path)
              : ENAMETOOLONG;
    if (why == 0)
        return 0;
    if (here)
        return asp_errf(err, why, "the record cannot be written to %.200s: %s",
                        report, strerror(why));
    fprintf(stderr,
            "aspen: the record cannot be written to %.200s here (%s): there "
            "will be none, unless the first rank's node has that place\n",
            report, strerror(why));
    return 0;
}
