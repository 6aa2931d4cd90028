/* SPDX-License-Identifier: BSD-3-Clause */
/* What `aspen run` has found out of one command, step by step, and how it ends.
 * run.c has the options and the start; run_hydra.c and run_srun.c are the two
 * roads between. */
#ifndef ASPEN_TOOLS_RUN_JOB_H
#define ASPEN_TOOLS_RUN_JOB_H

#include "run.h"

#include "common/base/err.h"

#include <stdbool.h>

struct aspt_run_options {
    const char *progress; /* NULL: not given */
    const char *policy;
    const char *report;
    bool dry_run;
    char **command; /* the launcher and its words */
};

struct aspt_job {
    struct aspt_run_options options;
    struct aspt_settled settled;
    struct aspt_answer answer;
    struct aspt_task_arguments arguments;
};

/* The options that may also stand among srun's. */
enum aspt_run_option {
    ASPT_RUN_PROGRESS = 1,
    ASPT_RUN_POLICY,
    ASPT_RUN_REPORT,
    ASPT_RUN_DRY_RUN,
};

/* The roads: become the launcher. Return the exit status where that is not to
 * be, or fails; what is left then is not freed. */
int aspt_run_hydra(struct aspt_job *job, struct asp_err *err);
int aspt_run_srun(struct aspt_job *job, struct asp_err *err);

/* ---- tools/run/run.c ---- */

/* Take an option's value, which is borrowed. aspt_job_settle() has to follow.
 */
void aspt_job_take(struct aspt_job *job, enum aspt_run_option option,
                   const char *value);

/* Settle what is in force of options and environment. */
void aspt_job_settle(struct aspt_job *job);

/* Print err as a line of ours. Returns the exit status. */
int aspt_job_refuse(const struct asp_err *err);

/* Become the launcher, or print its command for --dry-run.
 *   argv  NULL: there was no memory for it
 * Returns the exit status. */
int aspt_job_start(const struct aspt_job *job, char **argv);

/* Off by the answer, and no report of the time in MPI is asked for. */
bool aspt_job_is_plain(const struct aspt_job *job);

/* The same by the user's own word: whatever the command is, it is left alone.
 */
bool aspt_job_is_asked_plain(const struct aspt_job *job);

/* ---- tools/run/check.c: what can be refused before anything is started.
 * Each returns 0, or -1 with errno and err. ---- */

/* Can this installation be preloaded? */
int aspt_check_installation(struct asp_err *err);

/* Is it a program of another MPI's? */
int aspt_check_program(const char *program, struct asp_err *err);

/* Can the record be written where it is asked for?
 *   report  of the settled options: "", "1" (stderr) or a path
 *   dir     what a relative path begins from; NULL: here
 *   here    ranks run on this machine; else what is wrong here is only said,
 *           for it may be right there */
int aspt_check_report(const char *report, const char *dir, bool here,
                      struct asp_err *err);

#endif
