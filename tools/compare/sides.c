/* SPDX-License-Identifier: BSD-3-Clause */
/* The two command lines that are compared, and the allocation they share. Both
 * run in one allocation: on the same nodes and the same cores, and without the
 * time in the queue. */
#include "config.h"

#include "compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How sbatch and salloc hand an option down to srun. */
#define HANDED_DOWN "SLURM_SPANK__SLURM_SPANK_OPTION_aspen_async_"

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value && *value && strcmp(value, "off") != 0;
}

static bool environment_asks(void)
{
    const char *progress = getenv("ASPEN_PROGRESS");

    if (progress && strcmp(progress, "off") == 0)
        return false;
    return is_set("ASPEN_PROGRESS") || is_set("ASPEN_POLICY") ||
           is_set(HANDED_DOWN "progress") || is_set(HANDED_DOWN "policy");
}

static int check_progress(const char *value, struct asp_err *err)
{
    if (value && strcmp(value, "help") == 0)
        return asp_errf(err, EINVAL, "--async-progress=help runs nothing");
    if (value && strcmp(value, "off") == 0)
        return asp_errf(err, EINVAL,
                        "--async-progress=off: both runs would be without "
                        "Aspen");
    return 0;
}

static int check_srun(const struct aspt_compare *compare, struct asp_err *err)
{
    const struct aspt_srun *srun = &compare->srun;
    const struct aspt_srun_option *option = aspt_srun_find(srun,
                                                           "async-progress");

    if (!*srun->program)
        return asp_errf(err, EINVAL,
                        "srun has no program to run (options with a value "
                        "that aspen does not know: write --name=value)");
    if (compare->progress && option)
        return asp_errf(err, EINVAL,
                        "--async-progress is given twice, to aspen compare "
                        "and to srun: leave one out");
    if (option)
        return check_progress(option->value, err);
    if (!compare->progress && !aspt_srun_find(srun, "async-policy") &&
        !environment_asks())
        return asp_errf(err, EINVAL,
                        "nothing to compare: no --async-progress before the "
                        "program; try: aspen compare "
                        "--async-progress=ghost:1 -- srun ...");
    return 0;
}

static int check_script(const struct aspt_compare *compare, struct asp_err *err)
{
    const char *slash = strrchr(compare->command[0], '/');
    const char *name = slash ? slash + 1 : compare->command[0];

    if (strcmp(name, "sbatch") == 0 || strcmp(name, "salloc") == 0)
        return asp_errf(err, EINVAL,
                        "cannot compare %s, whose time is that of the queue: "
                        "call \"aspen compare -- srun ...\" in the script, or "
                        "under salloc",
                        name);
    if (compare->fill)
        return asp_errf(err, EINVAL,
                        "--fill changes the -n of an srun command; for other "
                        "commands give the second one with --without");
    if (!compare->progress && !environment_asks())
        return asp_errf(err, EINVAL,
                        "%s is not srun: it is switched by the environment, "
                        "so take --async-progress out of it and give it to "
                        "aspen compare --async-progress=SPEC -- %s ...",
                        compare->command[0], compare->command[0]);
    if (!getenv("SLURM_JOB_ID"))
        return asp_errf(err, EINVAL,
                        "not in an allocation: for a command that is not srun "
                        "call aspen compare under salloc or in a batch script, "
                        "so that both kinds of run have the same cores and do "
                        "not wait in the queue");
    return 0;
}

int aspt_sides_check(const struct aspt_compare *compare, struct asp_err *err)
{
    if (check_progress(compare->progress, err) < 0)
        return -1;
    if (compare->fill && compare->without)
        return asp_errf(err, EINVAL, "--fill and --without exclude each other");
    return compare->is_srun ? check_srun(compare, err)
                            : check_script(compare, err);
}

/* "--time" of an allocation for all the runs. */
static char *time_of_all(const struct aspt_compare *compare,
                         const struct aspt_srun_option *option)
{
    unsigned long minutes = aspt_srun_minutes(option->value);
    unsigned long runs = 2 * (unsigned long) (compare->runs + compare->warmups);
    char *word = NULL;

    if (!minutes)
        return option->words[0];
    return asprintf(&word, "--time=%lu", minutes * runs) < 0 ? NULL : word;
}

/* Words for salloc. Returns how many there are. */
static size_t allocation(const struct aspt_compare *compare, char **argv)
{
    const struct aspt_srun *srun = &compare->srun;
    size_t n = 0;

    for (size_t i = 0; i < srun->noptions; i++) {
        const struct aspt_srun_option *option = &srun->options[i];

        if (!option->allocates || strcmp(option->name, "time-min") == 0)
            continue;
        if (strcmp(option->name, "time") == 0 && option->value) {
            char *word = time_of_all(compare, option);

            argv[n++] = word ? word : option->words[0];
            if (word && word != option->words[0])
                continue;
        } else
            argv[n++] = option->words[0];
        if (option->words[1])
            argv[n++] = option->words[1];
    }
    return n;
}

int aspt_sides_allocate(const struct aspt_compare *compare, char **argv,
                        struct asp_err *err)
{
    static char salloc[] = "salloc", self[PATH_MAX], spec[PATH_MAX];
    char **words, **from;
    size_t n = 0, count = 0;
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    while (argv[count])
        count++;
    words = calloc(2 * count + 2 * compare->srun.noptions + 4, sizeof(*words));
    if (!words || length < 0)
        return asp_errf(err, errno, "cannot call salloc: %s", strerror(errno));
    words[n++] = salloc;
    if (compare->progress) {
        snprintf(spec, sizeof(spec), "--async-progress=%s", compare->progress);
        words[n++] = spec;
    }
    n += allocation(compare, words + n);
    words[n++] = self;
    for (from = argv; *from; from++)
        words[n++] = *from;
    fprintf(stderr, "aspen: not in an allocation, so all runs share one: ");
    aspt_print_command(stderr, words);
    execvp(words[0], words);
    return asp_errf(err, errno, "cannot run salloc: %s", strerror(errno));
}

long aspt_fill_ranks(const struct aspt_compare *compare)
{
    const struct aspt_facts *facts = &compare->facts;

    if (!compare->fill || !compare->has_facts)
        return 0;
    return facts->ghosts > 0 ? facts->ghosts : facts->spare;
}

static const char *why_not_filled(const struct aspt_compare *compare)
{
    if (!compare->has_facts)
        return "the run with Aspen left no record";
    if (strcmp(compare->facts.mode, "thread") == 0)
        return "those of the progress threads are no room for a rank";
    /* More ranks, or more threads in each (-c): the program's user knows. */
    return "those of offload threads are a part of each rank's";
}

/* Counts of the run without Aspen: its own as long as they are the same. */
static int make_without(struct aspt_compare *compare, struct asp_err *err)
{
    static char off[] = "--async-progress=off", nodes[32], tasks[32];
    static const char *const aspen[] = {"async-progress", "async-policy",
                                        "async-report", NULL};
    static const char *const counts[] = {"async-progress",
                                         "async-policy",
                                         "async-report",
                                         "nodes",
                                         "ntasks",
                                         "ntasks-per-node",
                                         NULL};
    char *plain[] = {off, NULL}, *counted[] = {off, nodes, tasks, NULL};
    const struct aspt_facts *facts = &compare->facts;
    const struct aspt_srun_option *option = aspt_srun_find(&compare->srun,
                                                           "ntasks");
    long more = aspt_fill_ranks(compare), users = facts->users + more;
    bool same = !compare->has_facts || users <= 0 || facts->nodes <= 0 ||
                (option && option->value && atol(option->value) == users);

    if (compare->fill && more == 0)
        return asp_errf(err, EINVAL,
                        "--fill gives CPUs of helpers to more ranks, but %s: "
                        "give the other command with --without",
                        why_not_filled(compare));
    snprintf(nodes, sizeof(nodes), "--nodes=%ld", facts->nodes);
    snprintf(tasks, sizeof(tasks), "--ntasks=%ld", users);
    compare->side[ASPT_WITHOUT].argv = same ? aspt_srun_make(&compare->srun,
                                                             plain, aspen)
                                            : aspt_srun_make(&compare->srun,
                                                             counted, counts);
    return 0;
}

static void make_with(struct aspt_compare *compare)
{
    static char spec[PATH_MAX];
    static const char *const report[] = {"async-report", NULL};
    char *added[] = {spec, NULL}, *none[] = {NULL};

    if (compare->progress)
        snprintf(spec, sizeof(spec), "--async-progress=%s", compare->progress);
    compare->side[ASPT_WITH].argv = aspt_srun_make(
        &compare->srun, compare->progress ? added : none, report);
}

int aspt_sides_make(struct aspt_compare *compare, int side, struct asp_err *err)
{
    static char sh[] = "/bin/sh", c[] = "-c";

    if (side == ASPT_WITHOUT && compare->without) {
        char **argv = calloc(4, sizeof(*argv));

        if (argv) {
            argv[0] = sh;
            argv[1] = c;
            argv[2] = strdup(compare->without);
        }
        compare->side[side].argv = argv;
    } else if (!compare->is_srun) {
        compare->side[side].argv = compare->command;
    } else if (side == ASPT_WITH) {
        make_with(compare);
    } else if (make_without(compare, err) < 0) {
        return -1;
    }
    if (!compare->side[side].argv)
        return asp_errf(err, ENOMEM, "out of memory");
    return 0;
}
