/* SPDX-License-Identifier: BSD-3-Clause */
/* What `aspen run` hands down to aspen-task in each task: words "key=value"
 * before "--" and the program. Words, because launchers may drop environments
 * (mpiexec -genvnone, srun --export=NONE). Everything here is the user's own
 * and can do no more than the user can. */
#ifndef ASPEN_TOOLS_TASK_HANDOVER_H
#define ASPEN_TOOLS_TASK_HANDOVER_H

#include "common/base/err.h"

#include <stdint.h>

/* X(key): fields of struct aspt_handover, each a word of that name. */
#define ASPT_HANDOVER_WORDS(X)                                                 \
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

#define ASPT_HANDOVER_FIELD(key) const char *key;

/* Texts are never NULL, and borrowed. */
struct aspt_handover {
    ASPT_HANDOVER_WORDS(ASPT_HANDOVER_FIELD)
    char **program; /* NULL-terminated, at least one word */
};

/* Set all texts to "". */
void aspt_handover_init(struct aspt_handover *handover);

/* Read the words of aspen-task, without its name. Returns 0, or -1 with errno
 * EINVAL and the word in err. */
int aspt_handover_read(char **words, struct aspt_handover *out_p,
                       struct asp_err *err);

/* The other way: words for all texts that are not "", and "--".
 * NULL-terminated, owned by the caller, each and all; NULL with errno ENOMEM.
 */
char **aspt_handover_write(const struct aspt_handover *handover);

#endif
