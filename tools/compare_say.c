/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict, for people on a terminal and for programs as JSON. */
#include "config.h"

#include "compare.h"

#include <errno.h>
#include <string.h>

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

/* Smallest and largest. */
static void find_ends(const double *values, size_t n, double *least_p,
                      double *most_p)
{
    *least_p = *most_p = values[0];
    for (size_t i = 1; i < n; i++) {
        if (values[i] < *least_p)
            *least_p = values[i];
        if (values[i] > *most_p)
            *most_p = values[i];
    }
}

static void print_side(FILE *to, const struct aspt_compare *compare, int which)
{
    const struct aspt_side *side = &compare->side[which];
    double least, most, wall;

    if (!side->n)
        return;
    find_ends(side->figure, side->n, &least, &most);
    wall = aspt_median(side->wall_s, side->n);
    fprintf(to, "  %-7s %5zu %10.4g %10.4g %10.4g", side->name, side->n,
            aspt_median(side->figure, side->n), least, most);
    if (compare->metric)
        fprintf(to, " %10.4g", wall);
    if (compare->cpus)
        fprintf(to, " %7ld %13.4g", compare->cpus,
                wall * (double)compare->cpus);
    fputc('\n', to);
}

static void print_table(FILE *to, const struct aspt_compare *compare)
{
    fprintf(to, "\n  %-7s %5s %10s %10s %10s", compare->metric ? "metric"
                                                               : "seconds",
            "runs", "median", "least", "most");
    if (compare->metric)
        fprintf(to, " %10s", "wall s");
    if (compare->cpus)
        fprintf(to, " %7s %13s", "CPUs", "core-seconds");
    fputc('\n', to);
    print_side(to, compare, ASPT_WITH);
    print_side(to, compare, ASPT_WITHOUT);
    fputc('\n', to);
}

static void print_count(FILE *to, long n, const char *what)
{
    fprintf(to, "%ld %s%s", n, what, n == 1 ? "" : "s");
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
    fprintf(to, "  with: ");
    print_count(to, facts->users, "rank");
    if (facts->ghosts > 0) {
        fprintf(to, " and ");
        print_count(to, facts->ghosts, "ghost");
    } else
        fprintf(to, ", mode %s,", facts->mode);
    fprintf(to, " on ");
    print_count(to, facts->nodes, "node");
    fprintf(to, "; without: ");
    if (compare->without)
        fprintf(to, "the command of --without\n");
    else if (!compare->is_srun)
        fprintf(to, "the same command\n");
    else {
        print_count(to, facts->users + (compare->fill ? facts->ghosts : 0),
                    "rank");
        fprintf(to, "%s\n", compare->fill ? " (--fill)"
                            : strcmp(facts->mode, "thread") == 0
                                ? ""
                                : ", the helpers' CPUs idle");
    }
    if (strcmp(facts->mode, "ghost") == 0 && facts->redirected == 0)
        fprintf(to, "  Nothing was redirected to the ghosts; --async-report "
                    "says why.\n");
}

static void print_meaning(FILE *to, const struct aspt_compare *compare)
{
    const struct aspt_effect *effect = &compare->effect;

    if (compare->metric)
        fprintf(to, "  Compared: the figure that the program prints; less is "
                    "better.\n");
    else
        fprintf(to, "  Compared: the wall time of the whole command, with its "
                    "start by Slurm.\n");
    if (effect->verdict == ASPT_TOO_FEW)
        return;
    fprintf(to,
            "  With Aspen it takes %.3g times as long; with %.0f %% confidence "
            "between %.3g and %.3g.\n",
            effect->ratio, 100 * effect->confidence - 0.5, effect->low,
            effect->high);
}

void aspt_compare_print(FILE *to, const struct aspt_compare *compare)
{
    char verdict[128];

    if (compare->side[ASPT_WITH].n + compare->side[ASPT_WITHOUT].n == 0)
        return;
    print_table(to, compare);
    print_shape(to, compare);
    print_meaning(to, compare);
    fprintf(to, "\naspen: %s\n",
            aspt_effect_print(&compare->effect, verdict, sizeof(verdict)));
}

static void put_string(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', to);
        if ((unsigned char)*text < ' ')
            fprintf(to, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, to);
    }
    fputc('"', to);
}

static void put_numbers(FILE *to, const char *key, const double *values,
                        size_t n)
{
    fprintf(to, ", \"%s\": [", key);
    for (size_t i = 0; i < n; i++)
        fprintf(to, "%s%.6g", i ? ", " : "", values[i]);
    fputc(']', to);
}

static void put_side(FILE *to, const struct aspt_compare *compare, int which)
{
    const struct aspt_side *side = &compare->side[which];

    fprintf(to, ",\n  \"%s\": {\"command\": [", side->name);
    for (size_t i = 0; side->argv && side->argv[i]; i++) {
        fputs(i ? ", " : "", to);
        put_string(to, side->argv[i]);
    }
    fputc(']', to);
    put_numbers(to, "wall_s", side->wall_s, side->n);
    if (compare->metric)
        put_numbers(to, "metric", side->figure, side->n);
    fputc('}', to);
}

static void put_facts(FILE *to, const struct aspt_compare *compare)
{
    const struct aspt_facts *facts = &compare->facts;

    if (compare->has_facts)
        fprintf(to,
                ",\n  \"mode\": \"%s\",\n  \"users\": %ld,\n  \"ghosts\": %ld"
                ",\n  \"nodes\": %ld,\n  \"redirected\": %ld",
                facts->mode, facts->users, facts->ghosts, facts->nodes,
                facts->redirected);
    if (compare->has_facts && facts->mpi_s >= 0)
        fprintf(to, ",\n  \"mpi_s\": %.6g", facts->mpi_s);
}

int aspt_compare_json(const struct aspt_compare *compare, struct asp_err *err)
{
    const struct aspt_effect *effect = &compare->effect;
    FILE *to;

    if (!compare->json)
        return 0;
    to = strcmp(compare->json, "-") ? fopen(compare->json, "we") : stdout;
    if (!to)
        return asp_errf(err, errno, "cannot write %s: %s", compare->json,
                        strerror(errno));
    fprintf(to,
            "{\n  \"aspen_compare\": 1,\n  \"version\": \"%s\",\n"
            "  \"verdict\": \"%s\"",
            PACKAGE_VERSION, aspt_verdict_name(effect->verdict));
    if (effect->ratio > 0)
        fprintf(to, ",\n  \"ratio\": %.6g", effect->ratio);
    if (effect->verdict != ASPT_TOO_FEW)
        fprintf(to,
                ",\n  \"low\": %.6g,\n  \"high\": %.6g,\n"
                "  \"confidence\": %.4f",
                effect->low, effect->high, effect->confidence);
    if (compare->metric) {
        fprintf(to, ",\n  \"metric\": ");
        put_string(to, compare->metric);
    }
    fprintf(to, ",\n  \"cpus\": %ld,\n  \"fill\": %s", compare->cpus,
            compare->fill ? "true" : "false");
    put_facts(to, compare);
    put_side(to, compare, ASPT_WITH);
    put_side(to, compare, ASPT_WITHOUT);
    fprintf(to, "\n}\n");
    if ((to == stdout ? fflush(to) : fclose(to)) != 0)
        return asp_errf(err, errno, "cannot write %s: %s", compare->json,
                        strerror(errno));
    return 0;
}
