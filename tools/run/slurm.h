/* SPDX-License-Identifier: BSD-3-Clause */
/* srun: what its command line and environment ask for, what Slurm is to be
 * asked for instead (common/expand), and the command for that. */
#ifndef ASPEN_TOOLS_RUN_SLURM_H
#define ASPEN_TOOLS_RUN_SLURM_H

#include "run.h"

#include "tools/base/srun.h"

#include "common/base/err.h"

#include <stdbool.h>

/* Does this srun load Aspen's plugin? Asked of srun itself, in some
 * milliseconds. */
bool aspt_slurm_has_plugin(const char *srun);

/* Steps that cannot be started by `aspen run`, whatever is asked for: several
 * programs, programs that Slurm copies or fixes.
 * Returns 0, or -1 with errno EINVAL and err. */
int aspt_slurm_check(const struct aspt_srun *srun, struct asp_err *err);

/* Put a path in the place of the program's name, as srun does with what it is
 * to start: found along PATH here, else in the directory that the step starts
 * in. It stays where there is none. */
void aspt_slurm_find_program(struct aspt_srun *srun);

/* The words that common/expand takes, but for the request, and the facts for
 * rules. As etc/cli_filter.lua makes them; docs/design/counting.md. */
struct aspt_slurm_words {
    char **words; /* owned, each and all */
    int n, max;
    struct asp_facts facts; /* borrowed from the words of srun and getenv() */
    char partition[128];    /* what facts may point to */
};

/* Returns 0, or -1 with errno ENOMEM. Runs sinfo where nothing else tells what
 * the nodes are. */
int aspt_slurm_describe(const struct aspt_srun *srun,
                        struct aspt_slurm_words *out_p, struct asp_err *err);

/* What to ask Slurm for. */
struct aspt_slurm_change {
    char *added[8]; /* options, owned; NULL ends them */
    char cpus[32];  /* "4+5", for aspen-task; "" */
};

/* Settle the request and what it adds.
 *   answer_p  out: the request, with remarks
 * Returns 0, or -1 with errno and err: refused. */
int aspt_slurm_expand(const struct aspt_settled *settled,
                      struct aspt_slurm_words *words,
                      struct aspt_answer *answer_p,
                      struct aspt_slurm_change *out_p, struct asp_err *err);

/* srun's words with these changes and before the program those of aspen-task.
 * The caller frees the array; NULL with errno ENOMEM. */
char **aspt_slurm_make(const struct aspt_srun *srun,
                       const struct aspt_slurm_change *change, char **before);

/* The kind of --cpu-bind that the user gave, "cores", or "". */
const char *aspt_slurm_cpu_bind(const struct aspt_srun *srun);

#endif
