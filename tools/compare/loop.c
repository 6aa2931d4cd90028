/* SPDX-License-Identifier: BSD-3-Clause */
/* The runs: a warm-up of each side, then pairs, whose order alternates so that
 * what slowly changes on the machine weighs on both sides alike. */
#include "config.h"

#include "compare.h"
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Slurm takes a moment to see that a step is over; a next one that comes too
 * early waits for a second or more. */
enum { PAUSE_MS = 500, TAIL_BYTES = 2000, PRELOAD_MAX = 16384 };

enum file { FILE_OUT, FILE_ERR, FILE_RECORD, FILE_CLOCK, FILES };

/* One run and the names of its files. */
struct attempt {
    int side;
    long number; /* of its side, from 1; 0: a warm-up */
    char file[FILES][PATH_MAX + 64];
    struct aspt_run_end end;
    double program_s, metric;
    struct aspt_facts facts; /* with is_timed */
};

static void name_files(const struct aspt_compare *compare,
                       struct attempt *attempt)
{
    static const char *const ends[FILES] = {"out", "err", "json", "clock"};

    for (int i = 0; i < FILES; i++)
        snprintf(attempt->file[i], sizeof(attempt->file[i]), "%s/%s-%ld.%s",
                 compare->dir, compare->side[attempt->side].name,
                 attempt->number, ends[i]);
}

static void copy_to(const char *path, FILE *to)
{
    FILE *in = fopen(path, "re");
    char buf[8192];
    size_t got;

    while (in && (got = fread(buf, 1, sizeof(buf), in)) > 0)
        fwrite(buf, 1, got, to);
    if (in)
        fclose(in);
    fflush(to);
}

/* The end of what a run wrote to stderr, from the start of a line on. */
static void print_tail(const char *path)
{
    FILE *in = fopen(path, "re");
    char buf[TAIL_BYTES + 1];
    const char *text = buf;
    size_t got;
    long skip;

    if (!in)
        return;
    fseek(in, 0, SEEK_END);
    skip = ftell(in) > TAIL_BYTES ? ftell(in) - TAIL_BYTES : 0;
    fseek(in, skip, SEEK_SET);
    got = fread(buf, 1, TAIL_BYTES, in);
    fclose(in);
    buf[got] = '\0';
    if (skip && strchr(buf, '\n'))
        text = strchr(buf, '\n') + 1;
    if (*text)
        fprintf(stderr, "aspen: the end of its stderr:\n%s%s", text,
                text[strlen(text) - 1] == '\n' ? "" : "\n");
}

static void set_env(struct aspt_run *run, int *n, const char *name,
                    const char *value)
{
    run->env[*n].name = name;
    run->env[(*n)++].value = value;
}

/* Records tell the time in MPI, of both kinds of run in the same way. With
 * --bare the first one is enough, and of runs without Aspen it only tells
 * whether a script had it after all. */
static bool needs_record(const struct aspt_compare *compare,
                         const struct attempt *attempt)
{
    if (!compare->bare)
        return true;
    if (attempt->side == ASPT_WITHOUT)
        return !compare->is_srun;
    return compare->keep || !compare->has_facts;
}

/* For the clock, srun itself must not look like a task, as it would in a batch
 * script. */
static void set_environment(const struct aspt_compare *compare,
                            const struct attempt *attempt, char *preload,
                            size_t preload_size, struct aspt_run *run)
{
    const char *others = getenv("LD_PRELOAD");
    int n = 0;

    set_env(run, &n, "ASPEN_REPORT",
            needs_record(compare, attempt) ? attempt->file[FILE_RECORD] : NULL);
    if (attempt->side == ASPT_WITHOUT)
        set_env(run, &n, "ASPEN_PROGRESS", "off");
    else if (compare->progress && !compare->is_srun)
        set_env(run, &n, "ASPEN_PROGRESS", compare->progress);
    if (!compare->is_clocked)
        return;
    snprintf(preload, preload_size, "%s%s%s", compare->clock,
             others && *others ? ":" : "", others ? others : "");
    set_env(run, &n, "LD_PRELOAD", preload);
    set_env(run, &n, "ASPEN_CLOCK", attempt->file[FILE_CLOCK]);
    set_env(run, &n, "ASPEN_CLOCK_BEGIN", NULL);
    set_env(run, &n, "SLURM_PROCID", NULL);
}

static void describe(const struct aspt_compare *compare,
                     const struct attempt *attempt, char *buf, size_t size)
{
    if (attempt->number)
        snprintf(buf, size, "run %ld %s Aspen", attempt->number,
                 compare->side[attempt->side].name);
    else
        snprintf(buf, size, "warm-up %s Aspen",
                 compare->side[attempt->side].name);
}

/* Was the run what it should be? Returns 0, or -1 with err. */
static int check_end(const struct aspt_compare *compare,
                     const struct attempt *attempt, struct asp_err *err)
{
    int status = attempt->end.status;
    char what[64];

    describe(compare, attempt, what, sizeof(what));
    if (attempt->end.interrupted)
        return asp_errf(err, EINTR, "%s: interrupted by signal %d (%s)", what,
                        attempt->end.interrupted,
                        strsignal(attempt->end.interrupted));
    if (status == 0)
        return 0;
    print_tail(attempt->file[FILE_ERR]);
    if (WIFSIGNALED(status))
        return asp_errf(err, ECHILD, "%s was ended by signal %d (%s)", what,
                        WTERMSIG(status), strsignal(WTERMSIG(status)));
    return asp_errf(err, ECHILD, "%s failed with exit status %d", what,
                    WEXITSTATUS(status));
}

static int read_figures(struct aspt_compare *compare, struct attempt *attempt,
                        struct asp_err *err)
{
    char what[64];

    if (compare->is_clocked)
        compare->is_clocked = aspt_clock_read(attempt->file[FILE_CLOCK],
                                              &attempt->program_s) == 0;
    if (!compare->metric ||
        aspt_figure_read(&compare->regex, attempt->file[FILE_OUT],
                         attempt->file[FILE_ERR], &attempt->metric) == 0)
        return 0;
    describe(compare, attempt, what, sizeof(what));
    return asp_errf(err, EINVAL,
                    "%s printed no line that matches \"%.200s\" with a number "
                    "above 0 in its parenthesis",
                    what, compare->metric);
}

/* The first run with Aspen tells what ran; one without has mode off. */
static int look_at_record(struct aspt_compare *compare, struct attempt *attempt,
                          struct asp_err *err)
{
    struct aspt_facts *facts = &attempt->facts;
    bool is_there = aspt_facts_read(attempt->file[FILE_RECORD], facts) == 0;

    compare->is_timed = compare->is_timed && is_there && facts->has_time;
    if (!is_there ||
        (attempt->side == ASPT_WITHOUT && strcmp(facts->mode, "off") == 0))
        return 0;
    if (attempt->side == ASPT_WITHOUT)
        return asp_errf(err, EINVAL,
                        "the run without Aspen had it: the command's own "
                        "--async-progress wins over the environment; take it "
                        "out of there and give it to aspen compare");
    if (!compare->has_facts)
        compare->facts = *facts;
    compare->has_facts = true;
    return 0;
}

static void print_result(const struct aspt_compare *compare,
                         const struct attempt *attempt)
{
    char what[64];

    describe(compare, attempt, what, sizeof(what));
    fprintf(stderr, "aspen: %s: %.3f s", what, attempt->end.seconds);
    if (compare->is_clocked)
        fprintf(stderr, ", the program %.3f s", attempt->program_s);
    if (compare->is_timed)
        fprintf(stderr, ", waiting in MPI %.3g s", attempt->facts.wait_s);
    if (compare->metric)
        fprintf(stderr, ", metric %g", attempt->metric);
    fputc('\n', stderr);
}

/* Nodes write the record and the clock: both are there, empty, beforehand, for
 * a network file system may remember for long that a file was not. */
static void make_files(const struct attempt *attempt)
{
    for (int i = FILE_RECORD; i <= FILE_CLOCK; i++) {
        int file = open(attempt->file[i],
                        O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

        if (file >= 0)
            close(file);
    }
}

/* Keep what is asked for and holds something. */
static void forget_files(const struct aspt_compare *compare,
                         const struct attempt *attempt)
{
    struct stat info;

    for (int i = 0; i < FILES; i++)
        if (!compare->keep || i == FILE_CLOCK ||
            (i == FILE_RECORD && stat(attempt->file[i], &info) == 0 &&
             info.st_size == 0))
            unlink(attempt->file[i]);
}

/* The command lines; what the user would have seen of the command. */
static int introduce(struct aspt_compare *compare,
                     const struct attempt *attempt, struct asp_err *err)
{
    if (attempt->side != ASPT_WITH || compare->side[ASPT_WITHOUT].argv != NULL)
        return 0;
    copy_to(attempt->file[FILE_OUT], stdout);
    copy_to(attempt->file[FILE_ERR], stderr);
    if (aspt_sides_make(compare, ASPT_WITHOUT, err) < 0)
        return -1;
    for (int i = 0; i < ASPT_SIDES; i++) {
        fprintf(stderr, "aspen: %s: ", compare->side[i].name);
        aspt_print_command(stderr, compare->side[i].argv);
    }
    return 0;
}

static void add_to_side(struct aspt_compare *compare,
                        const struct attempt *attempt)
{
    struct aspt_side *side = &compare->side[attempt->side];

    side->wall_s[side->n] = attempt->end.seconds;
    side->program_s[side->n] = attempt->program_s;
    side->metric[side->n] = attempt->metric;
    side->ranks_s[side->n] = attempt->facts.ranks_s;
    side->mpi_s[side->n] = attempt->facts.inside_s;
    side->wait_s[side->n] = attempt->facts.wait_s;
    side->helpers_s[side->n] = attempt->facts.helpers_s;
    side->n++;
}

static int try_once(struct aspt_compare *compare, struct attempt *attempt,
                    struct asp_err *err)
{
    static char preload[PRELOAD_MAX];
    struct aspt_run run = {.argv = compare->side[attempt->side].argv,
                           .out = attempt->file[FILE_OUT],
                           .err = attempt->file[FILE_ERR]};

    set_environment(compare, attempt, preload, sizeof(preload), &run);
    make_files(attempt);
    if (aspt_run(&run, &attempt->end, err) < 0 ||
        check_end(compare, attempt, err) < 0 ||
        read_figures(compare, attempt, err) < 0 ||
        look_at_record(compare, attempt, err) < 0 ||
        introduce(compare, attempt, err) < 0)
        return -1;
    print_result(compare, attempt);
    if (attempt->number)
        add_to_side(compare, attempt);
    return 0;
}

static int once(struct aspt_compare *compare, int side, long number,
                struct asp_err *err)
{
    struct attempt attempt = {.side = side, .number = number};
    int sig = aspt_run_pause(PAUSE_MS), rc;

    if (sig)
        return asp_errf(err, EINTR, "interrupted by signal %d (%s)", sig,
                        strsignal(sig));
    name_files(compare, &attempt);
    rc = try_once(compare, &attempt, err);
    forget_files(compare, &attempt);
    return rc;
}

const double *aspt_compared(const struct aspt_compare *compare, int which)
{
    const struct aspt_side *side = &compare->side[which];

    if (compare->metric)
        return side->metric;
    return compare->is_clocked ? side->program_s : side->wall_s;
}

static bool is_narrow(struct aspt_compare *compare)
{
    aspt_effect_of(aspt_compared(compare, ASPT_WITH),
                   compare->side[ASPT_WITH].n,
                   aspt_compared(compare, ASPT_WITHOUT),
                   compare->side[ASPT_WITHOUT].n, &compare->effect);
    return compare->until > 0 && compare->effect.verdict != ASPT_TOO_FEW &&
           aspt_effect_width(&compare->effect) <= compare->until;
}

int aspt_compare_all(struct aspt_compare *compare, struct asp_err *err)
{
    int rc = aspt_sides_make(compare, ASPT_WITH, err);

    for (long i = 0; rc == 0 && i < compare->warmups; i++)
        if ((rc = once(compare, ASPT_WITH, 0, err)) == 0)
            rc = once(compare, ASPT_WITHOUT, 0, err);
    for (long i = 1; rc == 0 && i <= compare->runs; i++) {
        int first = i % 2 ? ASPT_WITH : ASPT_WITHOUT;

        if ((rc = once(compare, first, i, err)) == 0)
            rc = once(compare, !first, i, err);
        if (is_narrow(compare))
            break;
    }
    is_narrow(compare); /* the effect of the runs that were done */
    return rc;
}
