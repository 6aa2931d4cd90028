/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec of MPICH (hydra): its command line, and the one that starts ghosts,
 * too. */
#ifndef ASPEN_TOOLS_RUN_HYDRA_H
#define ASPEN_TOOLS_RUN_HYDRA_H

#include "hosts.h"

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* One program of an MPMD command; there is mostly one. */
struct aspt_hydra_part {
    uint32_t count; /* -n; 0: not given */
    char **options; /* words to pass on; owned, the words borrowed */
    uint32_t noptions;
    char **program;    /* borrowed from argv */
    uint32_t nprogram; /* words up to ":" or the end */
};

struct aspt_hydra {
    char *command;                 /* as the user wrote it */
    struct aspt_hydra_part *parts; /* owned */
    uint32_t nparts;
    const char *hosts; /* -hosts; NULL: not given */
    const char *file;  /* -f */
    const char *rmk;
    const char *binding; /* -bind-to */
    uint32_t ppn;        /* 0: not given */
    const char *dir;     /* -wdir of the first part; NULL: not given */
    bool per_device;     /* -gpus-per-proc and the like */
    bool informs;        /* -help, -info, -version: nothing is started, and
                          * what follows is not read */
};

/* Read the words of mpiexec, its name first.
 *   out_p  aspt_hydra_clear() by the caller
 * Returns 0, or -1 with errno EINVAL (an option that is not known, or that
 * would start ranks elsewhere than `aspen run` can tell; no program) or ENOMEM.
 */
int aspt_hydra_parse(char **argv, struct aspt_hydra *out_p,
                     struct asp_err *err);

void aspt_hydra_clear(struct aspt_hydra *hydra);

/* The hosts that hydra would start this on: -hosts, -f, HYDRA_HOST_FILE,
 * Slurm's allocation, else this machine. Reads the environment. Returns 0, or
 * -1 with errno and err. */
int aspt_hydra_hosts(const struct aspt_hydra *hydra, struct aspt_hosts *out_p,
                     struct asp_err *err);

/* Why the ranks' CPUs are hydra's affair, by -bind-to or the variable that it
 * reads in its place; "": they are not. */
const char *aspt_hydra_binding(const struct aspt_hydra *hydra);

/* Settings that hydra takes from files and that are not read here.
 * Returns 0, or -1 with errno EINVAL and err. */
int aspt_hydra_check_files(struct asp_err *err);

/* The command that starts these ranks, with the words before each program.
 *   ranks  of each part
 *   hosts  for -hosts; NULL: hydra's default
 * Returns an array, owned by the caller, of words that are borrowed from the
 * arguments or never freed; NULL with errno ENOMEM. */
char **aspt_hydra_make(const struct aspt_hydra *hydra, const uint32_t *ranks,
                       const char *hosts, char **before);

#endif
