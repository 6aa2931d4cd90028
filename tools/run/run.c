/* SPDX-License-Identifier: BSD-3-Clause */
/* aspen run: the options, what is in force of them, and the start. */
#include "config.h"

#include "job.h"

#include "launcher.h"

#include "tools/base/command.h"
#include "tools/base/options.h"
#include "tools/explain/explain.h"

#include "common/base/words.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As a shell says it of what it cannot start. */
enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

static const char usage[] =
    "usage: aspen run [OPTION...] -- srun [OPTION...] PROGRAM [ARGUMENT...]\n"
    "       aspen run [OPTION...] -- mpiexec [OPTION...] PROGRAM ...\n\n"
    "  --async-progress[=SPEC]  off, auto, ghost[:N], offload, thread, and\n"
    "                           key=value items; without SPEC: what policies\n"
    "                           say, else auto; =help lists the keys\n"
    "  --async-policy=FILE      job policy (YAML)\n"
    "  --async-report[=FILE]    at the end, say what was done, or write FILE;\n"
    "                           =trace says each decision when it is made, "
    "too\n"
    "  --dry-run                print the command instead of running it\n\n"
    "For sites without Aspen's plugin; see aspen-run(1). ASPEN_PROGRESS,\n"
    "ASPEN_POLICY and ASPEN_REPORT stand in for options that are not given.\n";

/* ---- options ---------------------------------------------------------------- */

static const struct option longopts[] = {
    {"async-progress", optional_argument, NULL, ASPT_RUN_PROGRESS},
    {"async-policy", required_argument, NULL, ASPT_RUN_POLICY},
    {"async-report", optional_argument, NULL, ASPT_RUN_REPORT},
    {"dry-run", no_argument, NULL, ASPT_RUN_DRY_RUN},
    {"help", no_argument, NULL, ASPT_OPTION_HELP},
    {NULL, 0, NULL, 0},
};

void aspt_job_take(struct aspt_job *job, enum aspt_run_option option,
                   const char *value)
{
    struct aspt_run_options *options = &job->options;

    if (option == ASPT_RUN_PROGRESS)
        options->progress = value && *value ? value : "on";
    else if (option == ASPT_RUN_POLICY)
        options->policy = value;
    else if (option == ASPT_RUN_REPORT)
        options->report = value && *value ? value : "1";
    else if (option == ASPT_RUN_DRY_RUN)
        options->dry_run = true;
}

static int take_option(int option, const char *value, void *job,
                       struct asp_err *err)
{
    (void) err;
    aspt_job_take(job, (enum aspt_run_option) option, value);
    return 0;
}

/* Returns -1 to go on, or the exit status. */
static int read_options(int argc, char **argv, struct aspt_job *job)
{
    static const struct aspt_options known = {"aspen run", "+:", longopts,
                                              usage, take_option};
    struct aspt_run_options *options = &job->options;
    int status = aspt_options_read(&known, argc, argv, job);

    if (status >= 0)
        return status;
    if (options->progress && strcmp(options->progress, "help") == 0) {
        aspt_print_knobs(stdout);
        return ASPT_OK;
    }
    options->command = argv + optind;
    if (*options->command)
        return -1;
    fputs(usage, stderr);
    return ASPT_REFUSED;
}

/* As the runtime reads ASPEN_REPORT. */
static bool is_report(const char *value)
{
    return value && *value && strcmp(value, "0") != 0 &&
           strcmp(value, "no") != 0;
}

/* What is in force. A report alone is one of plain MPI, as with srun; nothing
 * at all is taken for the bare option: whoever calls us wants Aspen. */
void aspt_job_settle(struct aspt_job *job)
{
    const struct aspt_run_options *options = &job->options;
    const char *progress = options->progress ? options->progress
                                             : asp_variable("ASPEN_PROGRESS");
    const char *policy = options->policy ? options->policy
                                         : asp_variable("ASPEN_POLICY");
    const char *report = options->report ? options->report
                                         : asp_variable("ASPEN_REPORT");
    struct aspt_settled settled = {.progress = options->progress,
                                   .policy = options->policy,
                                   .report = is_report(report) ? report : ""};

    if (!progress && !policy)
        settled.progress = is_report(options->report) ? "off" : "on";
    progress = settled.progress ? settled.progress : progress;
    settled.off = progress && strcmp(progress, "off") == 0;
    job->settled = settled;
}

/* ---- the end ----------------------------------------------------------------- */

int aspt_job_refuse(const struct asp_err *err)
{
    char text[ASP_ERR_TEXT_MAX + ASP_ERR_PLACE_MAX];

    fprintf(stderr, "aspen: %s\n", asp_err_print(err, text, sizeof(text)));
    return ASPT_REFUSED;
}

static void print_word(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-_=./:,+%@";

    if (*word && word[strspn(word, plain)] == '\0') {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*word);
    putchar('\'');
}

/* A step that we are called in is not the one that we start. */
static void leave_outer_step(void)
{
    static const char *const names[] = {"ASPEN_LAYOUT",    "ASPEN_ROLE",
                                        "ASPEN_LOCAL",     "ASPEN_BOARD_FD",
                                        "ASPEN_STDOUT_FD", "ASPEN_PICK"};
    char **variable = environ;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    while (*variable) {
        char name[128];
        size_t len = strcspn(*variable, "=");

        if (!asp_after(*variable, "ASPEN_PMIX_") || len >= sizeof(name)) {
            variable++;
            continue;
        }
        memcpy(name, *variable, len);
        name[len] = '\0';
        unsetenv(name); /* moves the rest down to variable */
    }
}

static void print_command(char **argv)
{
    for (; *argv; argv++) {
        print_word(*argv);
        putchar(argv[1] ? ' ' : '\n');
    }
}

int aspt_job_start(const struct aspt_job *job, char **argv)
{
    struct asp_err err;
    int status;

    if (!argv) {
        asp_errf(&err, ENOMEM, "out of memory");
        return aspt_job_refuse(&err);
    }
    if (job->options.dry_run) {
        print_command(argv);
        return ASPT_OK;
    }
    leave_outer_step();
    execvp(argv[0], argv);
    status = errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
    asp_errf(&err, errno, "cannot run %.200s: %s", argv[0], strerror(errno));
    aspt_job_refuse(&err);
    return status;
}

bool aspt_job_is_plain(const struct aspt_job *job)
{
    return strcmp(job->answer.spec, asp_mode_name(ASP_MODE_OFF)) == 0 &&
           job->settled.report[0] == '\0';
}

bool aspt_job_is_asked_plain(const struct aspt_job *job)
{
    return job->settled.off && job->settled.report[0] == '\0';
}

/* ---- the launcher -------------------------------------------------------------- */

/* As the argument of an option that takes its own behind "=". */
static const char *value_apart(const struct aspt_run_options *options)
{
    static const char *const names[] = {"--async-progress", "--async-report"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(options->command[-1], names[i]) == 0)
            return names[i];
    return NULL;
}

static int find_launcher(const struct aspt_run_options *options,
                         enum aspt_launcher *out_p, struct asp_err *err)
{
    const char *name = *options->command, *option = value_apart(options);
    int rc = aspt_launcher_find(name, out_p, err);

    if (rc < 0 && errno == EINVAL && option)
        asp_errf(err, EINVAL,
                 "%.100s is no launcher that aspen run knows: if it is the "
                 "value of %s, write %s=%.100s",
                 name, option, option, name);
    return rc;
}

int aspt_run_job(int argc, char **argv)
{
    struct aspt_job job = {.options = {.dry_run = false}};
    enum aspt_launcher launcher;
    struct asp_err err;
    int status = read_options(argc, argv, &job);

    if (status >= 0)
        return status;
    aspt_job_settle(&job);
    aspt_task_arguments_init(&job.arguments);
    if (find_launcher(&job.options, &launcher, &err) < 0)
        return aspt_job_refuse(&err);
    return launcher == ASPT_LAUNCHER_SRUN ? aspt_run_srun(&job, &err)
                                          : aspt_run_hydra(&job, &err);
}
