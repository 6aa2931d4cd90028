/* SPDX-License-Identifier: BSD-3-Clause */
/* aspen explain table: what was chosen where, how much better it is than MPI's
 * own choice, when it was measured, and for which machine. */
#include "config.h"

#include "coll_table.h"

#include "tools/base/command.h"
#include "tools/base/options.h"

#include "common/base/strbuf.h"
#include "common/coll/build/index.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char usage[] =
    "usage: aspen explain table FILE [--svg OUT]\n\n"
    "Prints a table of tuned collectives, aspen-coll-table(5): for which\n"
    "machine it holds, and for each communicator, operation and size the "
    "algorithm\n"
    "that was chosen, its time, and how much faster it is than MPI's own\n"
    "choice; under it, if the algorithm cannot do what it is for, why (the "
    "exit\n"
    "status is then 1). --svg also draws it into a file, - for standard "
    "output.\n";

static const char *const reductions[] = {"", "a built-in operation",
                                         "a user's operation",
                                         "a user's operation in order"};
static const char *const patterns[] = {"strict", "loose", "nonblocking"};

const char *aspt_coll_use(uint32_t call, char buf[ASPT_USE_MAX])
{
    struct asp_strbuf sb = asp_strbuf_on(buf, ASPT_USE_MAX);
    struct asp_tune_args args;

    asp_tune_call_args(call, &args);
    asp_strbuf_add(&sb, "%s", asp_coll_op_name(args.op));
    if (args.reduction)
        asp_strbuf_add(&sb, ", %s%s", reductions[args.reduction],
                       args.floating ? " on floating-point numbers" : "");
    if (args.in_place)
        asp_strbuf_add(&sb, ", in place");
    if (asp_tune_ops[args.op].rules & ASP_TUNE_ROOT)
        asp_strbuf_add(&sb, args.root ? ", another root than 0" : ", root 0");
    asp_strbuf_add(&sb, ", %s", patterns[args.pattern]);
    return buf;
}

const char *aspt_coll_size(uint32_t call, char buf[ASPT_SIZE_MAX])
{
    static const char *const units[] = {"",     " KiB", " MiB", " GiB",
                                        " TiB", " PiB", " EiB"};
    struct asp_tune_args args;
    uint64_t bytes;
    size_t unit = 0;

    asp_tune_call_args(call, &args);
    if (!(asp_tune_ops[args.op].rules & (ASP_TUNE_BYTES | ASP_TUNE_AGREED))) {
        snprintf(buf, ASPT_SIZE_MAX, "any");
        return buf;
    }
    for (bytes = args.bytes; bytes >= 1024; bytes /= 1024)
        unit++;
    snprintf(buf, ASPT_SIZE_MAX, "%" PRIu64 "%s", bytes, units[unit]);
    return buf;
}

/* ---- as text ---- */

static double gain(const struct asp_tune_row *row)
{
    return row->best_ns ? (double) row->default_ns / (double) row->best_ns : 1;
}

static void print_link(const char *where, bool has,
                       const struct asp_coll_link *link)
{
    if (has)
        printf("Links %s: L %.3g us, o %.3g us, g %.3g us, G %.3g ns a byte.\n",
               where, 1e-6 * (double) link->latency,
               1e-6 * (double) link->overhead, 1e-6 * (double) link->gap,
               1e-3 * (double) link->byte);
}

static void print_machine(const char *path, const struct asp_tune_table *table)
{
    const struct asp_tune_machine *m = &table->machine;

    printf("%s holds for MPICH %s (%s), UCX %s over %s,\n"
           "%u CPUs per node, in jobs of ",
           path, m->mpi, m->build, m->ucx, m->fabric, m->cpus);
    for (uint32_t i = 0; i < table->njobs; i++)
        printf("%s%u x %u", i ? ", " : "", table->jobs[i].nodes,
               table->jobs[i].ppn);
    printf(" (nodes x ranks per node).\n");
    print_link("inside nodes", table->links.has_inside, &table->links.inside);
    print_link("between nodes", table->links.has_between,
               &table->links.between);
}

/* How many rows are better than the default, and by how much. */
static void print_sum(const struct asp_tune_table *table)
{
    const struct asp_tune_row *most = NULL;
    uint32_t better = 0;
    double logs = 0;

    for (uint32_t i = 0; i < table->nrows; i++) {
        const struct asp_tune_row *row = &table->rows[i];

        if (row->best_ns >= row->default_ns)
            continue;
        better++;
        logs += log(gain(row));
        if (!most || gain(row) > gain(most))
            most = row;
    }
    printf("%u choices for %u kinds of communicators; %u beat MPI's own",
           table->nrows, table->nshapes, better);
    if (most)
        printf(", by %.2f x on average (geometric), at most %.2f x",
               exp(logs / better), gain(most));
    printf(".\n");
}

static bool same_shape(const struct asp_tune_shape *a,
                       const struct asp_tune_shape *b)
{
    return a->ranks == b->ranks && a->nodes == b->nodes && a->ppn == b->ppn &&
           a->map == b->map;
}

static void print_shape(const struct asp_tune_shape *shape)
{
    printf("\n%u rank%s on %u node%s, ", shape->ranks,
           shape->ranks == 1 ? "" : "s", shape->nodes,
           shape->nodes == 1 ? "" : "s");
    if (shape->map == 0)
        printf("%u each, node after node\n", shape->ppn);
    else
        printf("at most %u each, arranged as %016" PRIx64 "\n", shape->ppn,
               shape->map);
}

static void print_row(const struct asp_tune_table *table,
                      const struct asp_tune_row *row)
{
    static const char *const sources[] = {"measured", "searched", "predicted",
                                          "by hand"};
    char size[ASPT_SIZE_MAX];

    printf("  %8s %11.3f %11.3f %6.2f x %3u %-9s %s  %s\n",
           aspt_coll_size(row->key.call, size), (double) row->best_ns / 1e3,
           (double) row->default_ns / 1e3, gain(row), row->tried,
           sources[row->source], row->day, table->configs[row->config]);
}

/* Under a row whose configuration cannot be. True if it is one. */
static bool print_mistake(const struct asp_tune_table *table,
                          const struct asp_tune_row *row)
{
    struct asp_err err;

    if (aspt_coll_check_row(table, row, &err) == 0)
        return false;
    printf("      NOT USABLE: %s\n", err.text);
    return true;
}

/* Returns how many have a configuration that cannot be. */
static uint32_t print_rows(const struct asp_tune_table *table)
{
    const struct asp_tune_row *before = NULL;
    uint32_t mistakes = 0;
    char use[ASPT_USE_MAX];

    for (uint32_t i = 0; i < table->nrows; i++) {
        const struct asp_tune_row *row = &table->rows[i];
        bool shape = !before ||
                     !same_shape(&before->key.shape, &row->key.shape);

        if (shape)
            print_shape(&row->key.shape);
        if (shape || aspt_coll_use_of(before->key.call) !=
                         aspt_coll_use_of(row->key.call))
            printf("%s\n  %8s %11s %11s %8s %3s %-9s %-10s  configuration\n",
                   aspt_coll_use(row->key.call, use), "bytes", "us",
                   "default us", "gain", "of", "how", "when");
        print_row(table, row);
        mistakes += print_mistake(table, row);
        before = row;
    }
    if (mistakes)
        printf("\n%u of %u choices cannot be used, see above: a job refuses a "
               "table "
               "with\na configuration that it does not know, and leaves out "
               "one that does "
               "not fit.\n",
               mistakes, table->nrows);
    return mistakes;
}

/* ---- the command ---- */

static int draw(const struct asp_tune_table *table, const char *path,
                struct asp_err *err)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *to = standard ? stdout : fopen(path, "we");
    int failed;

    if (!to)
        return asp_err_in(err, errno, path, "%s", strerror(errno));
    aspt_coll_table_svg(to, table);
    failed = ferror(to);
    if ((standard ? fflush(to) : fclose(to)) != 0 || failed)
        return asp_err_in(err, errno, path, "cannot write: %s",
                          strerror(errno));
    return 0;
}

static int take_option(int option, const char *value, void *data,
                       struct asp_err *err)
{
    (void) option, (void) err;
    *(const char **) data = value;
    return 0;
}

int aspt_coll_table(int argc, char **argv)
{
    static const struct option longopts[] = {
        {"svg", required_argument, NULL, 's'},
        {"help", no_argument, NULL, ASPT_OPTION_HELP},
        {NULL, 0, NULL, 0},
    };
    static const struct aspt_options options = {"aspen explain table", ":",
                                                longopts, usage, take_option};
    const char *svg = NULL;
    int status = aspt_options_read(&options, argc, argv, &svg);
    int answer = ASPT_OK;
    struct asp_tune_table table;
    struct asp_err err = {.text = ""};

    if (status >= 0)
        return status;
    if (optind != argc - 1) {
        fputs(usage, stderr);
        return ASPT_REFUSED;
    }
    if (asp_tune_table_read(argv[optind], NULL, &table, &err) < 0)
        return aspt_complain(&err);
    if (!svg || strcmp(svg, "-") != 0) {
        print_machine(argv[optind], &table);
        print_sum(&table);
        if (print_rows(&table))
            answer = ASPT_NO;
    }
    status = svg && draw(&table, svg, &err) < 0 ? aspt_complain(&err) : answer;
    asp_tune_table_clear(&table);
    return status;
}
