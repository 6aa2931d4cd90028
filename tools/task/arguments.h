/* SPDX-License-Identifier: BSD-3-Clause */
/* What `aspen run` hands down to aspen-task in each task: words "key=value"
 * before "--" and the program. Words, because launchers may drop environments
 * (mpiexec -genvnone, srun --export=NONE). Everything here is the user's own
 * and can do no more than the user can. */
#ifndef ASPEN_TOOLS_TASK_ARGUMENTS_H
#define ASPEN_TOOLS_TASK_ARGUMENTS_H

#include "common/base/err.h"

#include <stdint.h>

/* X(key): fields of struct aspt_task_arguments, each a word of that name. */
#define ASPT_TASK_ARGUMENTS(X)                                                 \
    X(launcher)  /* "srun" or "mpiexec" */                                     \
    X(spec)      /* the canonical request */                                   \
    X(site)      /* the site's policy file; "": the default one */             \
    X(report)    /* what ASPEN_REPORT is to be; "": nothing */                 \
    X(partition) /* for the site's rules */                                    \
    X(account)                                                                 \
    X(qos)                                                                     \
    X(cpu_bind)       /* srun: the user's kind of --cpu-bind */                \
    X(unbound)        /* why CPUs are not to be bound, as far as known */      \
    X(cpus)           /* srun: "4+5", -c as given and as grown; "" */          \
    X(job)            /* mpiexec: its name; srun: Slurm knows it */            \
    X(tasks_per_node) /* mpiexec: "4(x2),3", ghosts included */                \
    X(distribution)   /* mpiexec: "block", "cyclic", "plane=2" */              \
    X(names)          /* mpiexec: the nodes' names, "a,b" */

#define ASPT_TASK_ARGUMENT_FIELD(key) const char *key;

/* Texts are never NULL, and borrowed. */
struct aspt_task_arguments {
    ASPT_TASK_ARGUMENTS(ASPT_TASK_ARGUMENT_FIELD)
    char **program; /* NULL-terminated, at least one word */
};

/* Set all texts to "". */
void aspt_task_arguments_init(struct aspt_task_arguments *arguments);

/* Read the words of aspen-task, without its name. Returns 0, or -1 with errno
 * EINVAL and the word in err. */
int aspt_task_arguments_read(char **words, struct aspt_task_arguments *out_p,
                             struct asp_err *err);

/* The other way: words for all texts that are not "", and "--".
 * NULL-terminated, owned by the caller, each and all; NULL with errno ENOMEM.
 */
char **aspt_task_arguments_write(const struct aspt_task_arguments *arguments);

#endif
