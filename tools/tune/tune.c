/* SPDX-License-Identifier: BSD-3-Clause */
/* The program that is measured with is aspen-coll-sweep (runtime/coll/sweep.c);
 * the library that it is run with searches and writes the table. This only puts
 * the two behind a launcher, as `aspen run` does it for any program:
 *
 *   aspen tune --out site.coll -- srun -N4 -n64
 *   aspen run --async-progress=off,coll=tune,... -- srun -N4 -n64 SWEEP ... */
#include "config.h"

#include "tune.h"

#include "tools/base/command.h"
#include "tools/base/installed.h"
#include "tools/base/options.h"
#include "tools/run/run.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MOST = 16, SPEC_MOST = 1024 };

/* Kinds of calls differ by powers of two; so many of a job's seconds each. */
static const char default_budget[] = "1000";

/* For the links, before anything else: hundreds of rounds, so that what the
 * system does now and then is in none of the best. */
#define PROBE_MS "1000"

enum {
    OPT_OUT = 1,
    OPT_OPS,
    OPT_FROM,
    OPT_TO,
    OPT_BUDGET,
    OPT_MODE,
    OPT_PROBE
};

static const struct option longopts[] = {
    {"out", required_argument, NULL, OPT_OUT},
    {"ops", required_argument, NULL, OPT_OPS},
    {"from", required_argument, NULL, OPT_FROM},
    {"to", required_argument, NULL, OPT_TO},
    {"budget-ms", required_argument, NULL, OPT_BUDGET},
    {"mode", required_argument, NULL, OPT_MODE},
    {"probe", no_argument, NULL, OPT_PROBE},
    {"help", no_argument, NULL, ASPT_OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "usage: aspen tune --out FILE [OPTION...] -- LAUNCHER [OPTION...]\n"
    "\n"
    "Measures algorithms of collective operations on the nodes and\n"
    "ranks that the launcher (srun, mpiexec) gives, and writes a table for\n"
    "--async-progress=...,coll=table,coll.table=FILE. A table that is there\n"
    "is continued: what it has is not measured again, other numbers of nodes\n"
    "and ranks are added.\n\n"
    "  --out FILE      the table, which all of its users can read\n"
    "  --ops LIST      only these: barrier,bcast,reduce,allreduce,allgather,\n"
    "                  alltoall,scatter,gather,reduce_scatter_block,scan,\n"
    "                  exscan\n"
    "  --from BYTES    the smallest size (8)\n"
    "  --to BYTES      the greatest (1048576)\n"
    "  --budget-ms N   time for each operation and size (1000)\n"
    "  --mode SPEC     the mode to measure in: off, ghost:1, offload, thread\n"
    "                  (off)\n"
    "  --probe         only the links inside nodes and between them, in two\n"
    "                  seconds; a sweep begins with that\n\n"
    "    aspen tune --out site.coll -- srun -N4 -n64\n"
    "    aspen tune --probe --out site.coll -- srun -N2 -n4\n"
    "    aspen explain table site.coll\n";

struct tune {
    const char *out, *budget, *mode;
    char *sweep[WORDS_MOST]; /* options for it */
    int nsweep;
    bool probe; /* and nothing else */
};

/* An option that is given too often is the last one's. */
static int hand_on(struct tune *tune, const char *option, const char *value)
{
    if (tune->nsweep + 2 > WORDS_MOST)
        tune->nsweep = 0;
    tune->sweep[tune->nsweep++] = (char *) (uintptr_t) option;
    tune->sweep[tune->nsweep++] = (char *) (uintptr_t) value;
    return 0;
}

static int refuse_commas(const char *what, const char *value,
                         struct asp_err *err)
{
    return strpbrk(value, ",= \t\n")
               ? asp_errf(err, EINVAL,
                          "%s \"%.100s\": no commas, blanks or =", what, value)
               : 0;
}

static int set_option(int option, const char *value, void *data,
                      struct asp_err *err)
{
    struct tune *tune = data;

    switch (option) {
    case OPT_OUT:
        tune->out = value;
        return refuse_commas("--out", value, err);
    case OPT_BUDGET:
        tune->budget = value;
        return refuse_commas("--budget-ms", value, err);
    case OPT_MODE:
        tune->mode = value;
        return 0;
    case OPT_PROBE:
        tune->probe = true;
        return 0;
    case OPT_OPS:
        return hand_on(tune, "--ops", value);
    case OPT_FROM:
        return hand_on(tune, "--from", value);
    default:
        return hand_on(tune, "--to", value);
    }
}

/* Rank 0 may write elsewhere; but mostly it sees what is seen here, and a sweep
 * takes minutes. */
static int check_file(const char *path, struct asp_err *err)
{
    bool is_new = access(path, F_OK) != 0;
    FILE *file = fopen(path, "ae"); /* changes nothing of one that is there */

    if (!file)
        return asp_errf(err, errno, "cannot write to --out %.200s: %s", path,
                        strerror(errno));
    fclose(file);
    if (is_new)
        (void) unlink(path);
    return 0;
}

static int check(const struct tune *tune, char **launcher, struct asp_err *err)
{
    if (!tune->out)
        return asp_errf(err, EINVAL,
                        "where to? aspen tune --out site.coll "
                        "-- srun -N4 -n64");
    if (!*launcher)
        return asp_errf(err, EINVAL,
                        "on what? aspen tune --out %.100s -- srun -N4 -n64",
                        tune->out);
    return check_file(tune->out, err);
}

/* The words of `aspen run`, ended by NULL; of static memory. NULL: none. */
static char **make_words(const struct tune *tune, char **launcher)
{
    static char spec[SPEC_MOST], run[] = "run", rule[] = "--";
    static char probe[] = "--probe";
    static char sweep[] = ASPEN_LIBEXECDIR "/aspen-coll-sweep";
    size_t n = 0, nlauncher = 0;
    char **words;

    while (launcher[nlauncher])
        nlauncher++;
    words = calloc(nlauncher + WORDS_MOST + 8, sizeof(*words));
    if (!words)
        return NULL;
    snprintf(spec, sizeof(spec),
             "--async-progress=%s,coll=tune,coll.effort=all,coll.table=%s,"
             "coll.save=%s,coll.budget_ms=%s,coll.probe_ms=" PROBE_MS,
             tune->mode, tune->out, tune->out, tune->budget);
    words[n++] = run;
    words[n++] = spec;
    words[n++] = rule;
    memcpy(words + n, launcher, nlauncher * sizeof(*words));
    n += nlauncher;
    words[n++] = sweep;
    if (tune->probe)
        words[n++] = probe;
    memcpy(words + n, tune->sweep, (size_t) tune->nsweep * sizeof(*words));
    return words;
}

int aspt_tune(int argc, char **argv)
{
    static const struct aspt_options options = {"aspen tune", "+:", longopts,
                                                usage, set_option};
    struct tune tune = {.budget = default_budget, .mode = "off"};
    int rc = aspt_options_read(&options, argc, argv, &tune), n = 0;
    struct asp_err err;
    char **words;

    if (rc >= 0)
        return rc;
    if (check(&tune, argv + optind, &err) < 0)
        return aspt_complain(&err);
    words = make_words(&tune, argv + optind);
    if (!words) {
        asp_errf(&err, ENOMEM, "out of memory");
        return aspt_complain(&err);
    }
    while (words[n])
        n++;
    optind = 0; /* the options of `aspen run` are read from their start */
    return aspt_run_job(n, words);
}
