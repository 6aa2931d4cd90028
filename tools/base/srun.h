/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of an srun command, as far as `aspen compare` and `aspen run` have
 * to know them: where the options end and the program begins, which options ask
 * for an allocation, and how to replace some. */
#ifndef ASPEN_TOOLS_BASE_SRUN_H
#define ASPEN_TOOLS_BASE_SRUN_H

#include <stdbool.h>
#include <stddef.h>

struct aspt_srun_option {
    const char *name;  /* the long one, without dashes; "" if not known */
    const char *value; /* NULL: none */
    char *words[2];    /* what to pass on; the second may be NULL */
    bool allocates;    /* salloc takes it as well */
};

struct aspt_srun {
    char *command; /* the first word */
    struct aspt_srun_option *options;
    size_t noptions;
    char **program; /* the rest; NULL ends it */
};

/* Is this command line one of srun's? */
bool aspt_is_srun(char **argv);

/*   argv   ends with NULL; borrowed
 *   out_p  for aspt_srun_clear(); untouched on failure
 * Returns 0, or -1 with errno ENOMEM. */
int aspt_srun_parse(char **argv, struct aspt_srun *out_p);
void aspt_srun_clear(struct aspt_srun *srun);

/* The last option of that name, or NULL. */
const struct aspt_srun_option *aspt_srun_find(const struct aspt_srun *srun,
                                              const char *name);

/* The last option, where the word behind it may be its value or the program: it
 * is not in our table, and nothing else tells. NULL: there is no doubt. */
const char *aspt_srun_doubt(const struct aspt_srun *srun);

/* Make a command line: the command, the words of `added`, the options except
 * those whose names are among the words of `left_out`, the program. Both
 * arrays end with NULL; all words are borrowed. Free the result.
 * Returns NULL with errno ENOMEM. */
char **aspt_srun_make(const struct aspt_srun *srun, char *const *added,
                      const char *const *left_out);

/* Minutes of a value of --time, rounded up; 0: no limit, or not understood. */
unsigned long aspt_srun_minutes(const char *text);

/* CPUs of "4(x2),3", SLURM_JOB_CPUS_PER_NODE; 0 if not understood. */
long aspt_srun_cpus(const char *text);

#endif
