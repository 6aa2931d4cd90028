/* SPDX-License-Identifier: BSD-3-Clause */
/* aspen run: the options, and the two roads, to srun and to mpiexec. */
#include "config.h"

#include "run.h"

#include "hydra.h"
#include "launcher.h"
#include "slurm.h"

#include "tools/base/command.h"
#include "tools/base/installed.h"
#include "tools/base/program.h"
#include "tools/explain/explain.h"

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
    "  --async-report[=FILE]    at the end, say what was done, or write FILE\n"
    "  --dry-run                print the command instead of running it\n\n"
    "For sites without Aspen's plugin; see aspen-run(1). ASPEN_PROGRESS,\n"
    "ASPEN_POLICY and ASPEN_REPORT stand in for options that are not given.\n";

struct options {
    const char *progress; /* NULL: not given */
    const char *policy;
    const char *report;
    bool dry_run;
    char **command; /* the launcher and its words */
};

/* What has been found out, step by step. */
struct job {
    struct options options;
    struct aspt_wish wish;
    struct aspt_answer answer;
    struct aspt_handover handover;
};

/* ---- options ------------------------------------------------------------------------- */

enum { PROGRESS = 1, POLICY, REPORT, DRY_RUN, HELP };

static const struct option longopts[] = {
    {"async-progress", optional_argument, NULL, PROGRESS},
    {"async-policy", required_argument, NULL, POLICY},
    {"async-report", optional_argument, NULL, REPORT},
    {"dry-run", no_argument, NULL, DRY_RUN},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

static int refuse(const struct asp_err *err)
{
    char text[ASP_ERR_TEXT_MAX + ASP_ERR_PLACE_MAX];

    fprintf(stderr, "aspen: %s\n", asp_err_print(err, text, sizeof(text)));
    return ASPT_REFUSED;
}

static void take_option(int option, const char *value, struct options *options)
{
    if (option == PROGRESS)
        options->progress = value && *value ? value : "on";
    else if (option == POLICY)
        options->policy = value;
    else if (option == REPORT)
        options->report = value && *value ? value : "1";
    else if (option == DRY_RUN)
        options->dry_run = true;
}

/* Returns -1 to go on, or the exit status. */
static int read_options(int argc, char **argv, struct options *options)
{
    int option;

    optind = 1;
    while ((option = getopt_long(argc, argv, "+", longopts, NULL)) != -1) {
        if (option == '?') {
            fputs("see aspen run --help\n", stderr);
            return ASPT_REFUSED;
        }
        if (option == HELP) {
            fputs(usage, stdout);
            return ASPT_OK;
        }
        take_option(option, optarg, options);
    }
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

static const char *twin(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* As the runtime reads ASPEN_REPORT. */
static bool is_report(const char *value)
{
    return value && *value && strcmp(value, "0") != 0 &&
           strcmp(value, "no") != 0;
}

/* What is in force. A report alone is one of plain MPI, as with srun; nothing
 * at all is taken for the bare option: whoever calls us wants Aspen. */
static struct aspt_wish find_wish(const struct options *options)
{
    const char *progress = options->progress ? options->progress
                                             : twin("ASPEN_PROGRESS");
    const char *policy = options->policy ? options->policy
                                         : twin("ASPEN_POLICY");
    const char *report = options->report ? options->report
                                         : twin("ASPEN_REPORT");
    struct aspt_wish wish = {.progress = options->progress,
                             .policy = options->policy,
                             .report = is_report(report) ? report : ""};

    if (!progress && !policy)
        wish.progress = is_report(options->report) ? "off" : "on";
    progress = wish.progress ? wish.progress : progress;
    wish.off = progress && strcmp(progress, "off") == 0;
    return wish;
}

/* ---- the end ---------------------------------------------------------------------------- */

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
    static const char *const names[] = {
        "ASPEN_LAYOUT",    "ASPEN_ROLE", "ASPEN_LOCAL", "ASPEN_BOARD_FD",
        "ASPEN_STDOUT_FD", "ASPEN_PMIX", "ASPEN_PICK"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
}

static void print_command(char **argv)
{
    for (; *argv; argv++) {
        print_word(*argv);
        putchar(argv[1] ? ' ' : '\n');
    }
}

/* Become the launcher. */
static int start(const struct job *job, char **argv)
{
    struct asp_err err;
    int status;

    if (!argv) {
        asp_errf(&err, ENOMEM, "out of memory");
        return refuse(&err);
    }
    if (job->options.dry_run) {
        print_command(argv);
        return ASPT_OK;
    }
    leave_outer_step();
    execvp(argv[0], argv);
    status = errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
    asp_errf(&err, errno, "cannot run %.200s: %s", argv[0], strerror(errno));
    refuse(&err);
    return status;
}

/* Off, and no report of the time in MPI is asked for. */
static bool is_plain(const struct job *job)
{
    return strcmp(job->answer.spec, asp_mode_name(ASP_MODE_OFF)) == 0 &&
           job->wish.report[0] == '\0';
}

/* The same by the user's own word: whatever the command is, it is left alone.
 */
static bool is_asked_plain(const struct job *job)
{
    return job->wish.off && job->wish.report[0] == '\0';
}

/* A program of Open MPI's runs as so many jobs of one rank each under MPICH's
 * launchers, and never meets a ghost. */
static int check_program(const char *program, struct asp_err *err)
{
    if (!aspt_program_needs(program, "libmpi.so.40"))
        return 0;
    return asp_errf(err, EINVAL,
                    "%.200s is linked with Open MPI (libmpi.so.40), but Aspen "
                    "works with MPICH: compile it with mpicc.mpich",
                    program);
}

/* ---- mpiexec ------------------------------------------------------------------------------ */

/* Users of each part: -n, or without one for each core of the hosts. */
static uint32_t count_users(const struct aspt_hydra *hydra,
                            const struct aspt_hosts *hosts, uint32_t *users)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < hydra->nparts; i++) {
        users[i] = hydra->parts[i].count ? hydra->parts[i].count
                                         : aspt_hosts_cores(hosts);
        sum += users[i];
    }
    return sum < ASP_RANKS_MAX ? (uint32_t) sum : ASP_RANKS_MAX;
}

/* Ghosts run what hydra gives every process. */
static int check_hydra(const struct aspt_hydra *hydra, uint32_t ghosts,
                       struct asp_err *err)
{
    if (ghosts > 0 && hydra->per_device)
        return asp_errf(err, ERANGE,
                        "-gpus-per-proc would give ghosts devices, too, which "
                        "they have no use for: let the program choose one by "
                        "MPI_LOCALRANKID, or use --async-progress=offload");
    for (uint32_t i = 0; i < hydra->nparts; i++)
        if (check_program(hydra->parts[i].program[0], err) < 0)
            return -1;
    return 0;
}

/* The first program that has MPI linked in decides for all. */
static const char *telling_program(const struct aspt_hydra *hydra)
{
    for (uint32_t i = 1; i < hydra->nparts; i++)
        if (aspt_program_has_mpich(hydra->parts[i].program[0]))
            return hydra->parts[i].program[0];
    return hydra->parts[0].program[0];
}

static int ask_for_hydra(struct job *job, const struct aspt_hydra *hydra,
                         const struct aspt_hosts *hosts, uint32_t users,
                         struct asp_request_spec *spec, struct asp_err *err)
{
    struct aspt_dealing plain;
    struct asp_facts facts = {.program = telling_program(hydra)};
    int rc = aspt_hosts_deal(hosts, users, 0, &plain, err);

    facts.nodes = plain.nnodes;
    facts.tasks_per_node = plain.users_most;
    aspt_dealing_clear(&plain);
    if (rc < 0 || aspt_wish_ask(&job->wish, &facts, &job->answer, err) < 0)
        return -1;
    if (asp_request_spec_parse(job->answer.spec, spec) < 0)
        return asp_errf(err, EINVAL,
                        "the request is too long: put it into a policy file "
                        "(--async-policy)");
    return check_hydra(hydra, spec->ghosts, err);
}

/* The command with ghosts in it. NULL with errno and err. */
static char **make_hydra(struct job *job, const struct aspt_hydra *hydra,
                         const struct aspt_hosts *hosts,
                         const struct aspt_dealing *dealing, uint32_t ghosts,
                         const uint32_t *users, struct asp_err *err)
{
    uint32_t *ranks = calloc(hydra->nparts, sizeof(*ranks));
    char name[ASP_NAME_MAX], **argv = NULL, **before;
    bool named = hydra->hosts || hydra->file || hosts->n > 1;

    snprintf(name, sizeof(name), "%d.0", (int) getpid());
    job->handover.launcher = "mpiexec";
    job->handover.job = name;
    job->handover.tasks_per_node = dealing->counts;
    job->handover.distribution = dealing->distribution;
    job->handover.names = dealing->names;
    job->handover.unbound = aspt_hydra_binding(hydra);
    before = aspt_task_words(&job->handover);
    if (!ranks || !before)
        asp_errf(err, ENOMEM, "out of memory");
    else if (aspt_dealing_split(dealing, ghosts, users, hydra->nparts, ranks,
                                err) == 0)
        argv = aspt_hydra_make(hydra, ranks, named ? dealing->hosts : NULL,
                               before);
    free(ranks);
    return argv;
}

static int start_hydra(struct job *job, const struct aspt_hydra *hydra,
                       const struct aspt_hosts *hosts, uint32_t *users,
                       struct asp_err *err)
{
    uint32_t nusers = count_users(hydra, hosts, users);
    struct aspt_dealing dealing;
    struct asp_request_spec spec;
    char **argv;

    if (ask_for_hydra(job, hydra, hosts, nusers, &spec, err) < 0)
        return refuse(err);
    aspt_wish_remark(&job->answer);
    if (is_plain(job))
        return start(job, job->options.command);
    if (aspt_hosts_deal(hosts, nusers, spec.ghosts, &dealing, err) < 0)
        return refuse(err);
    if (dealing.users_most + spec.ghosts > ASP_TASKS_MAX) {
        asp_errf(err, ERANGE,
                 "%u ranks and ghosts on one host, but %d are the most: use "
                 "more hosts",
                 (unsigned) (dealing.users_most + spec.ghosts), ASP_TASKS_MAX);
        return refuse(err);
    }
    if (dealing.moved)
        fprintf(stderr, "aspen: user ranks come to each host one after the "
                        "other, and not in turns: ghosts leave no other way\n");
    job->handover.spec = job->answer.spec;
    job->handover.report = job->wish.report;
    argv = make_hydra(job, hydra, hosts, &dealing, spec.ghosts, users, err);
    return argv ? start(job, argv) : refuse(err);
}

/* This process becomes mpiexec, or ends: what is left is not freed. */
static int run_hydra(struct job *job, struct asp_err *err)
{
    struct aspt_hydra hydra;
    struct aspt_hosts hosts;
    uint32_t *users;

    if (is_asked_plain(job))
        return start(job, job->options.command);
    if (aspt_hydra_check_files(err) < 0 ||
        aspt_hydra_parse(job->options.command, &hydra, err) < 0 ||
        aspt_hydra_hosts(&hydra, &hosts, err) < 0)
        return refuse(err);
    users = calloc(hydra.nparts, sizeof(*users));
    if (!users) {
        asp_errf(err, ENOMEM, "out of memory");
        return refuse(err);
    }
    return start_hydra(job, &hydra, &hosts, users, err);
}

/* ---- srun --------------------------------------------------------------------------------- */

/* Our options may stand among srun's, as users of the plugin write them. */
static void take_from_srun(const struct aspt_srun *srun, struct job *job)
{
    static const struct {
        const char *name;
        int option;
    } names[] = {{"async-progress", PROGRESS},
                 {"async-policy", POLICY},
                 {"async-report", REPORT}};
    struct options *options = &job->options;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct aspt_srun_option *option = aspt_srun_find(srun,
                                                               names[i].name);

        if (option)
            take_option(names[i].option, option->value, options);
    }
    job->wish = find_wish(options);
}

static char *option_word(const char *name, const char *value)
{
    char *word = NULL;

    return asprintf(&word, "--%s=%s", name, value) < 0 ? NULL : word;
}

/* The site has the plugin: it does all of it, and two would be one too many. */
static int start_with_plugin(struct job *job, const struct aspt_srun *srun)
{
    const struct options *options = &job->options;
    struct aspt_slurm_change change = {.cpus = ""};
    char *none[] = {NULL};
    size_t n = 0;

    fprintf(stderr, "aspen: this site has Aspen's plugin, so srun does it\n");
    if (job->wish.progress)
        change.added[n++] = option_word("async-progress", job->wish.progress);
    if (options->policy)
        change.added[n++] = option_word("async-policy", options->policy);
    if (options->report)
        change.added[n++] = option_word("async-report", options->report);
    return start(job, aspt_slurm_make(srun, &change, none));
}

static int start_srun(struct job *job, const struct aspt_srun *srun,
                      struct aspt_slurm_words *words, struct asp_err *err)
{
    struct aspt_slurm_change change;
    char **before;

    if (check_program(srun->program[0], err) < 0 ||
        aspt_slurm_expand(&job->wish, words, &job->answer, &change, err) < 0)
        return refuse(err);
    aspt_wish_remark(&job->answer);
    job->handover.launcher = "srun";
    job->handover.spec = job->answer.spec;
    job->handover.report = job->wish.report;
    job->handover.partition = words->facts.partition ? words->partition : "";
    job->handover.account = words->facts.account ? words->facts.account : "";
    job->handover.qos = words->facts.qos ? words->facts.qos : "";
    job->handover.cpu_bind = aspt_slurm_cpu_bind(srun);
    job->handover.cpus = change.cpus;
    before = aspt_task_words(&job->handover);
    if (before && is_plain(job))
        *before = NULL;
    return start(job, before ? aspt_slurm_make(srun, &change, before) : NULL);
}

static int run_srun(struct job *job, struct asp_err *err)
{
    const struct aspt_slurm_change none = {.cpus = ""};
    char *nothing[] = {NULL};
    struct aspt_slurm_words words;
    struct aspt_srun srun;

    if (aspt_srun_parse(job->options.command, &srun) < 0) {
        asp_errf(err, ENOMEM, "out of memory");
        return refuse(err);
    }
    take_from_srun(&srun, job);
    if (aspt_slurm_has_plugin(srun.command))
        return start_with_plugin(job, &srun);
    if (is_asked_plain(job))
        return start(job, aspt_slurm_make(&srun, &none, nothing));
    if (aspt_slurm_check(&srun, err) < 0)
        return refuse(err);
    aspt_slurm_find_program(&srun);
    if (aspt_slurm_describe(&srun, &words, err) < 0)
        return refuse(err);
    return start_srun(job, &srun, &words, err);
}

/* LD_PRELOAD is a list. Of such a path the dynamic linker would make several:
 * the program would run without the library, and meet the ghosts as ranks. */
static int check_installation(struct asp_err *err)
{
    char path[PATH_MAX];

    aspt_installed(ASPT_FILE_RUNTIME, path);
    if (!strpbrk(path, " :$"))
        return 0;
    return asp_errf(err, EINVAL,
                    "%.300s cannot be preloaded, for its path has a space, "
                    "\":\" or \"$\": move the installation",
                    path);
}

/* As the argument of an option that takes its own behind "=". */
static const char *value_apart(const struct options *options)
{
    static const char *const names[] = {"--async-progress", "--async-report"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(options->command[-1], names[i]) == 0)
            return names[i];
    return NULL;
}

static int find_launcher(const struct options *options,
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
    struct job job = {.options = {.dry_run = false}};
    enum aspt_launcher launcher;
    struct asp_err err;
    int status = read_options(argc, argv, &job.options);

    if (status >= 0)
        return status;
    job.wish = find_wish(&job.options);
    aspt_handover_init(&job.handover);
    if (find_launcher(&job.options, &launcher, &err) < 0 ||
        (!is_asked_plain(&job) && check_installation(&err) < 0))
        return refuse(&err);
    return launcher == ASPT_LAUNCHER_SRUN ? run_srun(&job, &err)
                                          : run_hydra(&job, &err);
}
