/* SPDX-License-Identifier: BSD-3-Clause */
/* `aspen compare`: run a job's command with Aspen and without it, on the same
 * cores, again and again, and say whether it helps. Options and order of the
 * work are here; compare.h says who does the rest. */
#include "config.h"

#include "compare.h"
#include "run.h"
#include "tools/base/command.h"
#include "tools/base/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RUNS = 7, RUNS_UNTIL = 30, WARMUPS_MAX = 100 };

enum {
    OPT_RUNS = 1,
    OPT_UNTIL,
    OPT_WARMUP,
    OPT_METRIC,
    OPT_FILL,
    OPT_BARE,
    OPT_WITHOUT,
    OPT_PROGRESS,
    OPT_JSON,
    OPT_KEEP,
};

static const struct option longopts[] = {
    {"runs", required_argument, NULL, OPT_RUNS},
    {"until", required_argument, NULL, OPT_UNTIL},
    {"warmup", required_argument, NULL, OPT_WARMUP},
    {"metric", required_argument, NULL, OPT_METRIC},
    {"fill", no_argument, NULL, OPT_FILL},
    {"bare", no_argument, NULL, OPT_BARE},
    {"without", required_argument, NULL, OPT_WITHOUT},
    {"async-progress", optional_argument, NULL, OPT_PROGRESS},
    {"json", required_argument, NULL, OPT_JSON},
    {"keep", required_argument, NULL, OPT_KEEP},
    {"help", no_argument, NULL, ASPT_OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "usage: aspen compare [options] -- srun [options] PROGRAM...\n"
    "       aspen compare --async-progress=SPEC [options] -- SCRIPT...\n"
    "\n"
    "Runs the command with Aspen and without it, in turn, on the cores\n"
    "of one allocation, and says whether Aspen helps.\n\n"
    "  --runs N          runs of each kind (7; at least 4)\n"
    "  --until PERCENT   stop when the effect is known as well as this;\n"
    "                    --runs (30) is then the most\n"
    "  --warmup N        runs of each kind that do not count (1)\n"
    "  --metric REGEX    compare not times but a number that the\n"
    "                    program prints, in the regex's first "
    "parenthesis;\n"
    "                    less is better: --metric 'Time: ([0-9.]+)'\n"
    "  --fill            without ghosts (or progress threads) use their\n"
    "                    CPUs for more ranks (the default: they are "
    "idle)\n"
    "  --bare            do not measure the time in MPI\n"
    "  --without COMMAND what to run, by sh, as the run without Aspen\n"
    "  --async-progress[=SPEC]\n"
    "                    as for srun, where the command does not say it\n"
    "  --json FILE       write the result and all times (-: stdout)\n"
    "  --keep DIR        keep output and record of each run\n\n"
    "stdout is that of the first run with Aspen; all else is on stderr.\n"
    "Exit status: 0 a verdict, 1 none, 2 nothing was run.\n";

static int parse_count(const char *what, const char *text, long least,
                       long most, long *out_p, struct asp_err *err)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < least || value > most)
        return asp_errf(err, EINVAL,
                        "%s \"%.40s\" is no number from %ld to "
                        "%ld%s",
                        what, text, least, most,
                        least == ASPT_RUNS_MIN
                            ? " (fewer runs cannot give a verdict)"
                            : "");
    *out_p = value;
    return 0;
}

static int parse_until(const char *text, double *out_p, struct asp_err *err)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || (*end && strcmp(end, "%") != 0) || !(value > 0) ||
        value > 100)
        return asp_errf(err, EINVAL,
                        "--until \"%.40s\" is no percentage above 0", text);
    *out_p = value;
    return 0;
}

static int parse_metric(const char *text, struct aspt_compare *compare,
                        struct asp_err *err)
{
    char why[200];
    int rc;

    if (compare->metric)
        regfree(&compare->regex);
    compare->metric = NULL;
    rc = regcomp(&compare->regex, text, REG_EXTENDED | REG_NEWLINE);
    if (rc != 0) {
        regerror(rc, &compare->regex, why, sizeof(why));
        return asp_errf(err, EINVAL, "--metric \"%.200s\": %s", text, why);
    }
    compare->metric = text;
    if (compare->regex.re_nsub == 0)
        return asp_errf(err, EINVAL,
                        "--metric \"%.200s\" has no parenthesis around the "
                        "number",
                        text);
    return 0;
}

static int set_option(int opt, const char *arg, void *data, struct asp_err *err)
{
    struct aspt_compare *compare = data;

    switch (opt) {
    case OPT_RUNS:
        return parse_count("--runs", arg, ASPT_RUNS_MIN, ASPT_RUNS_MAX,
                           &compare->runs, err);
    case OPT_WARMUP:
        return parse_count("--warmup", arg, 0, WARMUPS_MAX, &compare->warmups,
                           err);
    case OPT_UNTIL:
        return parse_until(arg, &compare->until, err);
    case OPT_METRIC:
        return parse_metric(arg, compare, err);
    case OPT_FILL:
        compare->fill = true;
        return 0;
    case OPT_BARE:
        compare->bare = true;
        return 0;
    case OPT_WITHOUT:
        compare->without = arg;
        return 0;
    case OPT_PROGRESS:
        compare->progress = arg && *arg ? arg : "on";
        return 0;
    case OPT_JSON:
        compare->json = arg;
        return 0;
    case OPT_KEEP:
        compare->keep = arg;
        return 0;
    }
    return 0;
}

/* What the words behind the options are. */
static int take_command(char **command, struct aspt_compare *compare,
                        struct asp_err *err)
{
    if (!compare->runs)
        compare->runs = compare->until > 0 ? RUNS_UNTIL : RUNS;
    compare->command = command;
    if (!*compare->command)
        return asp_errf(err, EINVAL,
                        "what shall be compared? aspen compare -- srun -N2 "
                        "-n8 --async-progress=ghost:1 ./app");
    compare->is_srun = aspt_is_srun(compare->command);
    if (compare->is_srun &&
        aspt_srun_parse(compare->command, &compare->srun) < 0)
        return asp_errf(err, ENOMEM, "out of memory");
    return aspt_sides_check(compare, err);
}

/* The clock is for one step: a script may have several, one after the other or
 * side by side. */
static void find_clock(struct aspt_compare *compare)
{
    static const char path[] = ASPEN_LIBDIR "/libaspenclock.so";

    if (compare->is_srun && !compare->without && access(path, R_OK) == 0)
        compare->clock = path;
    compare->is_clocked = compare->clock != NULL;
    compare->is_timed = !compare->bare;
}

static int refuse_place(const char *place, struct asp_err *err)
{
    return asp_errf(err, errno,
                    "cannot write to %s: %s (go to a directory that you can "
                    "write to and that all nodes see, or name one with --keep)",
                    place, strerror(errno));
}

/* Where the runs write. Records come from the nodes, so it has to be a place
 * that they see: below the current directory, not in /tmp. */
static int make_dir(struct aspt_compare *compare, struct asp_err *err)
{
    char name[PATH_MAX] = ".aspen-compare-XXXXXX";
    const char *made = name;

    if (compare->keep) {
        snprintf(name, sizeof(name), "%s", compare->keep);
        if (mkdir(name, 0777) < 0 && errno != EEXIST)
            made = NULL;
    } else
        made = mkdtemp(name);
    if (!made || !realpath(name, compare->dir) ||
        access(compare->dir, W_OK | X_OK) < 0)
        return refuse_place(compare->keep ? name : "the current directory",
                            err);
    compare->dir_is_ours = !compare->keep;
    return 0;
}

static int finish(struct aspt_compare *compare, int rc,
                  const struct asp_err *failed)
{
    struct asp_err err;
    bool none = compare->side[ASPT_WITH].n + compare->side[ASPT_WITHOUT].n == 0;

    if (compare->dir_is_ours)
        rmdir(compare->dir);
    aspt_compare_print(stderr, compare);
    if (rc < 0)
        aspt_complain(failed);
    if (!none && aspt_compare_json(compare, &err) < 0)
        return aspt_complain(&err);
    if (rc < 0 || compare->effect.verdict == ASPT_UNCLEAR ||
        compare->effect.verdict == ASPT_TOO_FEW)
        return ASPT_NO;
    return ASPT_OK;
}

int aspt_compare(int argc, char **argv)
{
    static struct aspt_compare compare = {
        .warmups = 1,
        .side = {{.name = "with"}, {.name = "without"}},
    };
    static const struct aspt_options options = {"aspen compare", "+:", longopts,
                                                usage, set_option};
    const char *cpus = getenv("SLURM_JOB_CPUS_PER_NODE");
    struct asp_err err;
    int rc = aspt_options_read(&options, argc, argv, &compare);

    if (rc >= 0)
        return rc;
    if (take_command(argv + optind, &compare, &err) < 0)
        return aspt_complain(&err);
    if (!getenv("SLURM_JOB_ID") && !aspt_srun_find(&compare.srun, "jobid")) {
        if (!compare.keep && access(".", W_OK | X_OK) < 0)
            refuse_place("the current directory", &err); /* without a queue */
        else
            aspt_sides_allocate(&compare, argv, &err);
        return aspt_complain(&err);
    }
    compare.cpus = cpus ? aspt_srun_cpus(cpus) : 0;
    if (make_dir(&compare, &err) < 0)
        return aspt_complain(&err);
    find_clock(&compare);
    aspt_run_prepare();
    rc = aspt_compare_all(&compare, &err);
    return finish(&compare, rc, &err);
}
