/* SPDX-License-Identifier: BSD-3-Clause */
/* The road to srun. */
#include "config.h"

#include "job.h"

#include "slurm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Our options may stand among srun's, as users of the plugin write them. */
static void take_from_srun(const struct aspt_srun *srun, struct aspt_job *job)
{
    static const struct {
        const char *name;
        enum aspt_run_option option;
    } names[] = {{"async-progress", ASPT_RUN_PROGRESS},
                 {"async-policy", ASPT_RUN_POLICY},
                 {"async-report", ASPT_RUN_REPORT}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct aspt_srun_option *option = aspt_srun_find(srun,
                                                               names[i].name);

        if (option)
            aspt_job_take(job, names[i].option, option->value);
    }
    aspt_job_settle(job);
}

static char *option_word(const char *name, const char *value)
{
    char *word = NULL;

    return asprintf(&word, "--%s=%s", name, value) < 0 ? NULL : word;
}

/* The site has the plugin: it does all of it, and two would be one too many. */
static int start_with_plugin(struct aspt_job *job, const struct aspt_srun *srun)
{
    const struct aspt_run_options *options = &job->options;
    struct aspt_slurm_change change = {.cpus = ""};
    char *none[] = {NULL};
    size_t n = 0;

    fprintf(stderr, "aspen: this site has Aspen's plugin, so srun does it\n");
    if (job->settled.progress)
        change.added[n++] = option_word("async-progress",
                                        job->settled.progress);
    if (options->policy)
        change.added[n++] = option_word("async-policy", options->policy);
    if (options->report)
        change.added[n++] = option_word("async-report", options->report);
    return aspt_job_start(job, aspt_slurm_make(srun, &change, none));
}

static int start_srun(struct aspt_job *job, const struct aspt_srun *srun,
                      struct aspt_slurm_words *words, struct asp_err *err)
{
    struct aspt_slurm_change change;
    char **before;

    if (aspt_check_program(srun->program[0], err) < 0 ||
        aspt_slurm_expand(&job->settled, words, &job->answer, &change, err) < 0)
        return aspt_job_refuse(err);
    aspt_answer_remark(&job->answer);
    job->arguments.launcher = "srun";
    job->arguments.spec = job->answer.spec;
    job->arguments.report = job->settled.report;
    job->arguments.partition = words->facts.partition ? words->partition : "";
    job->arguments.account = words->facts.account ? words->facts.account : "";
    job->arguments.qos = words->facts.qos ? words->facts.qos : "";
    job->arguments.cpu_bind = aspt_slurm_cpu_bind(srun);
    job->arguments.cpus = change.cpus;
    before = aspt_task_words(&job->arguments);
    if (before && aspt_job_is_plain(job))
        *before = NULL;
    return aspt_job_start(job, before ? aspt_slurm_make(srun, &change, before)
                                      : NULL);
}

/* srun --help and the like start nothing. */
static bool informs(const struct aspt_srun *srun)
{
    return aspt_srun_find(srun, "help") || aspt_srun_find(srun, "usage") ||
           aspt_srun_find(srun, "version");
}

static int check_srun(const struct aspt_job *job, const struct aspt_srun *srun,
                      struct asp_err *err)
{
    const struct aspt_srun_option *chdir = aspt_srun_find(srun, "chdir");

    if (aspt_check_installation(err) < 0 || aspt_slurm_check(srun, err) < 0)
        return -1;
    return aspt_check_report(job->settled.report, chdir ? chdir->value : NULL,
                             false, err);
}

int aspt_run_srun(struct aspt_job *job, struct asp_err *err)
{
    const struct aspt_slurm_change none = {.cpus = ""};
    char *nothing[] = {NULL};
    struct aspt_slurm_words words;
    struct aspt_srun srun;

    if (aspt_srun_parse(job->options.command, &srun) < 0) {
        asp_errf(err, ENOMEM, "out of memory");
        return aspt_job_refuse(err);
    }
    if (informs(&srun))
        return aspt_job_start(job, job->options.command);
    take_from_srun(&srun, job);
    if (aspt_slurm_has_plugin(srun.command))
        return start_with_plugin(job, &srun);
    if (aspt_job_is_asked_plain(job))
        return aspt_job_start(job, aspt_slurm_make(&srun, &none, nothing));
    if (check_srun(job, &srun, err) < 0)
        return aspt_job_refuse(err);
    aspt_slurm_find_program(&srun);
    if (aspt_slurm_describe(&srun, &words, err) < 0)
        return aspt_job_refuse(err);
    return start_srun(job, &srun, &words, err);
}
