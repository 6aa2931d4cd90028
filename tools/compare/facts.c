/* SPDX-License-Identifier: BSD-3-Clause */
/* What runs left behind: the record of Aspen, a figure in the output. */
#include "config.h"

#include "compare.h"
#include "tools/report/report.h"

#include <math.h>
#include <stdlib.h>

/* Mode thread: on all nodes, as many as on the first. */
static long spare_ranks(const struct aspt_record *record)
{
    int each = record->ntasks ? (int) asp_cpuset_count(&record->tasks[0].cpus)
                              : 0;
    int service = (int) asp_cpuset_count(&record->service);

    return each ? service / each * (long) record->nodes : 0;
}

int aspt_facts_read(const char *path, struct aspt_facts *out_p)
{
    struct aspt_facts facts = {.mpi_s = -1};
    struct aspt_record *record;

    if (aspt_record_read(path, &record, NULL) < 0)
        return -1;
    snprintf(facts.mode, sizeof(facts.mode), "%s", record->mode);
    facts.users = (long) record->users;
    facts.ghosts = (long) record->ghosts;
    facts.nodes = (long) record->nodes;
    facts.redirected = record->has_calls ? (long) record->redirected : -1;
    facts.spare = spare_ranks(record);
    facts.helpers_s = aspt_helpers_s(record, &facts.holds_cores);
    facts.has_time = record->has_time;
    if (record->has_time) {
        facts.mpi_s = record->time.wall_s;
        facts.ranks_s = aspt_ranks_s(record);
        facts.inside_s = record->time.mpi_s;
        facts.wait_s = record->time.wait_s;
    }
    aspt_record_free(record);
    *out_p = facts;
    return 0;
}

int aspt_clock_read(const char *path, double *seconds_p)
{
    FILE *in = fopen(path, "re");
    double seconds = 0;
    int got;

    if (!in)
        return -1;
    got = fscanf(in, "%lf", &seconds);
    fclose(in);
    if (got != 1 || seconds <= 0)
        return -1;
    *seconds_p = seconds;
    return 0;
}

static int figure_in(const regex_t *regex, const char *path, double *figure_p)
{
    FILE *in = fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0;
    double last = 0;

    if (!in)
        return -1;
    while (getline(&line, &capacity, in) >= 0) {
        regmatch_t match[2];

        if (regexec(regex, line, 2, match, 0) != 0 || match[1].rm_so < 0)
            continue;
        line[match[1].rm_eo] = '\0'; /* of no more than the parenthesis */
        last = strtod(line + match[1].rm_so, NULL);
    }
    free(line);
    fclose(in);
    if (!isfinite(last) || last <= 0)
        return -1;
    *figure_p = last;
    return 0;
}

int aspt_figure_read(const regex_t *regex, const char *out, const char *err,
                     double *figure_p)
{
    if (figure_in(regex, out, figure_p) == 0)
        return 0;
    return figure_in(regex, err, figure_p);
}
