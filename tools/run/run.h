/* SPDX-License-Identifier: BSD-3-Clause */
/* `aspen run`: Aspen without the plugin, in front of srun or of MPICH's
 * mpiexec.
 *
 *   options -> launcher's words read -> request checked -> ghosts added
 *     -> exec launcher ... aspen-task WORD... -- PROGRAM ...
 *
 * Everything that can be refused is refused before the launcher is started; and
 * this process becomes the launcher, so that signals, streams and the exit
 * status are the launcher's own. docs/design/run.md. */
#ifndef ASPEN_TOOLS_RUN_RUN_H
#define ASPEN_TOOLS_RUN_RUN_H

#include "tools/explain/request.h"
#include "tools/task/arguments.h"

#include <stdbool.h>

int aspt_run_job(int argc, char **argv);

/* What is in force of options and environment; as spank-plugin/options.c has
 * it. Strings are borrowed. */
struct aspt_settled {
    const char *progress; /* --async-progress; NULL: not given */
    const char *policy;
    const char *report; /* what ASPEN_REPORT is to be; "" : no report */
    bool off;           /* plain MPI, whatever policies say */
};

/* Ask for the canonical request, and say what the user should hear.
 *   facts  of the job; the user's name is added
 * Returns 0, or -1 with err. tools/run/ask.c. */
int aspt_settled_ask(const struct aspt_settled *settled,
                     struct asp_facts *facts, struct aspt_answer *out_p,
                     struct asp_err *err);

/* The remarks of an answer, each as a line of ours. */
void aspt_answer_remark(const struct aspt_answer *answer);

/* Words of aspen-task, its own name first; owned by the caller, NULL with
 * errno.
 */
char **aspt_task_words(const struct aspt_task_arguments *arguments);

/* Find a program along PATH and run it: its stdout, as much as fits, and its
 * stderr behind that.
 * Returns 0 and the exit status, or -1: it cannot be found, did not end in time
 * or was killed. tools/run/ask.c. */
int aspt_child_output(const char *program, const char *const args[],
                      int timeout_ms, char *out, size_t size, int *status_p);

#endif
