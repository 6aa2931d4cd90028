/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's server has names of its own in the environment of tasks, so that
 * no MPI takes it for the server that started the job. */
#include "config.h"

#include "status.h"

#include "tools/base/command.h"

#include "common/base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* ASPEN_PMIX_X becomes PMIX_X. Returns how many there were. */
static int become_client(void)
{
    char **ours = environ;
    size_t n = 0;
    int found = 0;

    while (ours[n])
        n++;
    /* putenv() makes another. A server that is not ours goes, and what a rank
     * would hand the layout to it with. */
    environ = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *pmix = asp_after(ours[i], "ASPEN_PMIX_");

        if (pmix)
            found += putenv(ours[i] + strlen("ASPEN_")) == 0;
        else if (!asp_after(ours[i], "PMIX_") &&
                 !asp_after(ours[i], "ASPEN_PICK="))
            putenv(ours[i]);
    }
    return found;
}

int aspt_pmix(int argc, char **argv)
{
    static const char usage[] =
        "usage: aspen pmix [--] COMMAND [ARGUMENT...]\n";
    int at = argc > 1 && strcmp(argv[1], "--") == 0 ? 2 : 1;
    struct asp_err err;

    if (at == 1 && argc > 1 && strcmp(argv[1], "--help") == 0) {
        fputs(usage, stdout);
        return ASPT_OK;
    }
    if (at >= argc) {
        fputs(usage, stderr);
        return ASPT_REFUSED;
    }
    if (become_client() == 0) {
        asp_errf(&err, ENOENT,
                 "there is no PMIx server of Aspen's here: this is not a task "
                 "of a step with Aspen, or it has pmix=off");
        return aspt_complain(&err);
    }
    execvp(argv[at], argv + at);
    asp_errf(&err, errno, "%.200s: %s", argv[at], strerror(errno));
    return aspt_complain(&err);
}
