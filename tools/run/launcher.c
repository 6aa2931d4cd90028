/* SPDX-License-Identifier: BSD-3-Clause */
/* Names are shared between MPIs: "mpiexec" may be anybody's. */
#include "config.h"

#include "launcher.h"
#include "run.h"

#include "tools/base/program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A launcher that does not answer "--version" in this time is broken. */
enum { VERSION_LIMIT_MS = 5000, VERSION_BYTES = 16384 };

/* What names say by themselves; the rest is asked. */
enum kind { SRUN, HYDRA, ASK, OPEN_MPI };

static const struct {
    const char *name;
    enum kind kind;
} names[] = {
    {"srun", SRUN},
    {"mpiexec.hydra", HYDRA},
    {"mpiexec.mpich", HYDRA},
    {"mpirun.mpich", HYDRA},
    {"mpiexec", ASK},
    {"mpirun", ASK},
    {"mpiexec.openmpi", OPEN_MPI},
    {"mpirun.openmpi", OPEN_MPI},
    {"orterun", OPEN_MPI},
    {"prterun", OPEN_MPI},
};

/* What launchers say of themselves. */
static const struct {
    const char *text, *whose;
} versions[] = {
    {"Open MPI", "Open MPI"},      {"OpenRTE", "Open MPI"},
    {"PRRTE", "Open MPI"},         {"prterun", "Open MPI"},
    {"Intel(R) MPI", "Intel MPI"},
};

static int refuse_other(const char *command, const char *whose,
                        struct asp_err *err)
{
    return asp_errf(err, EINVAL,
                    "%.200s is the launcher of %s, but Aspen works with MPICH: "
                    "use MPICH's (mpiexec.mpich, mpiexec.hydra) or srun, and a "
                    "program that is linked with libmpich.so",
                    command, whose);
}

int aspt_launcher_of_version(const char *command, const char *text,
                             enum aspt_launcher *out_p, struct asp_err *err)
{
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
        if (strstr(text, versions[i].text))
            return refuse_other(command, versions[i].whose, err);
    if (!strstr(text, "HYDRA"))
        return asp_errf(err, EINVAL,
                        "%.200s --version does not say that it is MPICH's "
                        "(hydra): use mpiexec.mpich, mpiexec.hydra or srun",
                        command);
    *out_p = ASPT_LAUNCHER_HYDRA;
    return 0;
}

static int ask(const char *command, enum aspt_launcher *out_p,
               struct asp_err *err)
{
    static const char *const version[] = {"--version", NULL};
    char text[VERSION_BYTES];
    int status;

    if (aspt_child_output(command, version, VERSION_LIMIT_MS, text,
                          sizeof(text), &status) < 0)
        return asp_errf(err, EINVAL,
                        "%.200s --version does not answer, so it cannot be "
                        "told whose mpiexec it is: use mpiexec.mpich, "
                        "mpiexec.hydra or srun",
                        command);
    return aspt_launcher_of_version(command, text, out_p, err);
}

int aspt_launcher_find(const char *command, enum aspt_launcher *out_p,
                       struct asp_err *err)
{
    const char *slash = strrchr(command, '/');
    const char *name = slash ? slash + 1 : command;
    char path[PATH_MAX];
    size_t i = 0;

    while (i < sizeof(names) / sizeof(names[0]) &&
           strcmp(names[i].name, name) != 0)
        i++;
    if (i == sizeof(names) / sizeof(names[0]))
        return asp_errf(err, EINVAL,
                        "%.200s is no launcher that aspen run knows: write "
                        "aspen run [OPTION...] -- srun ..., or -- mpiexec ... "
                        "(MPICH's)",
                        command);
    if (names[i].kind == OPEN_MPI)
        return refuse_other(command, "Open MPI", err);
    if (!aspt_program_find(command, path) || access(path, X_OK) < 0)
        return asp_errf(err, ENOENT, "cannot find %.200s", command);
    if (names[i].kind == ASK)
        return ask(command, out_p, err);
    *out_p = names[i].kind == SRUN ? ASPT_LAUNCHER_SRUN : ASPT_LAUNCHER_HYDRA;
    return 0;
}
