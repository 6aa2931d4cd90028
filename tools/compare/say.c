/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict, for people on a terminal. */
#include "config.h"

#include "compare.h"

#include <string.h>

enum { SHORT_S = 10 }; /* below this the start of helpers is seen */

static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=.,:/%@^";

    return *word && word[strspn(word, plain)] == '\0';
}

void aspt_print_command(FILE *to, char *const *argv)
{
    for (char *const *word = argv; *word; word++) {
        if (word != argv)
            fputc(' ', to);
        if (is_plain(*word)) {
            fputs(*word, to);
            continue;
        }
        fputc('\'', to);
        for (const char *c = *word; *c; c++)
            if (*c == '\'')
                fputs("'\\''", to);
            else
                fputc(*c, to);
        fputc('\'', to);
    }
    fputc('\n', to);
}

/* Is something else compared than the time of the command? */
static bool has_wall(const struct aspt_compare *compare)
{
    return compare->metric || compare->is_clocked;
}

static void print_side(FILE *to, const struct aspt_compare *compare, int which)
{
    const struct aspt_side *side = &compare->side[which];
    const double *values = aspt_compared(compare, which);
    double least, most, wall;

    if (!side->n)
        return;
    aspt_ends(values, side->n, &least, &most);
    wall = aspt_median(side->wall_s, side->n);
    fprintf(to, "  %-7s %5zu %9.4g %9.4g %9.4g", side->name, side->n,
            aspt_median(values, side->n), least, most);
    if (has_wall(compare))
        fprintf(to, " %9.4g", wall);
    if (compare->cpus)
        fprintf(to, " %6ld %13.4g", compare->cpus,
                wall * (double) compare->cpus);
    fputc('\n', to);
}

static void print_table(FILE *to, const struct aspt_compare *compare)
{
    fprintf(to, "\n  %-7s %5s %9s %9s %9s",
            compare->metric ? "metric" : "seconds", "runs", "median", "least",
            "most");
    if (has_wall(compare))
        fprintf(to, " %9s", "whole job");
    if (compare->cpus)
        fprintf(to, " %6s %13s", "CPUs", "core-seconds");
    fputc('\n', to);
    print_side(to, compare, ASPT_WITH);
    print_side(to, compare, ASPT_WITHOUT);
    fputc('\n', to);
}

static void print_count(FILE *to, long n, const char *what)
{
    fprintf(to, "%ld %s%s", n, what, n == 1 ? "" : "s");
}

static void print_without(FILE *to, const struct aspt_compare *compare)
{
    const struct aspt_facts *facts = &compare->facts;

    if (compare->without || !compare->is_srun) {
        fprintf(to, "%s\n",
                compare->without ? "the command of --without"
                                 : "the same command");
        return;
    }
    print_count(to, facts->users + aspt_fill_ranks(compare), "rank");
    if (compare->fill)
        fprintf(to, " (--fill)");
    else if (strcmp(facts->mode, "thread") != 0)
        fprintf(to, ", the helpers' CPUs idle");
    fputc('\n', to);
}

/* What had which cores. */
static void print_shape(FILE *to, const struct aspt_compare *compare)
{
    const struct aspt_facts *facts = &compare->facts;

    if (!compare->has_facts) {
        fprintf(to,
                "  No run with Aspen left a record: was it at work? Is the "
                "program an MPI program\n  that ends with MPI_Finalize? Look "
                "with --async-report.\n");
        return;
    }
    fprintf(to, "  with:    ");
    print_count(to, facts->users, "rank");
    if (facts->ghosts > 0) {
        fprintf(to, " and ");
        print_count(to, facts->ghosts, "ghost");
    } else
        fprintf(to, ", mode %s,", facts->mode);
    fprintf(to, " on ");
    print_count(to, facts->nodes, "node");
    fprintf(to, "\n  without: ");
    print_without(to, compare);
    if (strcmp(facts->mode, "ghost") == 0 && facts->redirected == 0)
        fprintf(to, "  Nothing was redirected to the ghosts; --async-report "
                    "says why.\n");
}

/* What the job takes beside its program, in the median. */
static double rest_of(const struct aspt_side *side)
{
    double rest[ASPT_RUNS_MAX];

    for (size_t i = 0; i < side->n; i++)
        rest[i] = side->wall_s[i] - side->program_s[i];
    return aspt_median(rest, side->n);
}

static void print_compared(FILE *to, const struct aspt_compare *compare)
{
    const struct aspt_side *with = &compare->side[ASPT_WITH],
                           *without = &compare->side[ASPT_WITHOUT];

    if (compare->metric) {
        fprintf(to, "  Compared: the figure that the program prints; less is "
                    "better.\n");
        return;
    }
    if (compare->is_clocked)
        fprintf(to, "  Compared: the time of the program, from the start of "
                    "rank 0 to its end.\n");
    else
        fprintf(to, "  Compared: the time of the whole job, with its start by "
                    "Slurm.\n");
    if (!with->n || !without->n)
        return;
    if (compare->is_clocked)
        fprintf(to,
                "  The rest of the job, its start by Slurm: %.2g s with, "
                "%.2g s without.\n",
                rest_of(with), rest_of(without));
    if (aspt_median(aspt_compared(compare, ASPT_WITHOUT), without->n) < SHORT_S)
        fprintf(to, "  The runs are short: that helpers take some tenths of a "
                    "second to start counts.\n");
}

static void print_interval(FILE *to, const struct aspt_effect *effect)
{
    if (effect->verdict != ASPT_TOO_FEW)
        fprintf(to,
                "  With Aspen it takes %.3g times as long: between %.3g and "
                "%.3g (%d %% sure).\n",
                effect->ratio, effect->low, effect->high,
                (int) (100 * effect->confidence));
}

void aspt_compare_print(FILE *to, const struct aspt_compare *compare)
{
    char verdict[128];

    if (compare->side[ASPT_WITH].n + compare->side[ASPT_WITHOUT].n == 0)
        return;
    print_table(to, compare);
    print_shape(to, compare);
    print_compared(to, compare);
    print_interval(to, &compare->effect);
    aspt_mpi_print(to, compare);
    fprintf(to, "\naspen: %s\n",
            aspt_effect_print(&compare->effect, verdict, sizeof(verdict)));
    if (aspt_mpi_verdict(compare, verdict, sizeof(verdict))[0])
        fprintf(to, "aspen: %s\n", verdict);
}
