/* SPDX-License-Identifier: BSD-3-Clause */
/* Which launcher a command begins with. */
#ifndef ASPEN_TOOLS_RUN_LAUNCHER_H
#define ASPEN_TOOLS_RUN_LAUNCHER_H

#include "common/base/err.h"

enum aspt_launcher {
    ASPT_LAUNCHER_SRUN,
    ASPT_LAUNCHER_HYDRA, /* mpiexec of MPICH */
};

/* By its name, and where several MPIs use that, by what it says of itself.
 *   command  as the user wrote it; with a path, or looked for along PATH
 * Returns 0, or -1 with errno EINVAL (not one of them, Open MPI's) or ENOENT.
 */
int aspt_launcher_find(const char *command, enum aspt_launcher *out_p,
                       struct asp_err *err);

/* The same of a text that "mpiexec --version" printed. */
int aspt_launcher_of_version(const char *command, const char *text,
                             enum aspt_launcher *out_p, struct asp_err *err);

#endif
