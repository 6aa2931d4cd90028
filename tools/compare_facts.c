/* SPDX-License-Identifier: BSD-3-Clause */
/* What runs left behind: the record of Aspen, a figure in the output. */
#include "config.h"

#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_HEAD_MAX = 256 * 1024 };

/* The first value of that name: those that matter are at the top of the record
 * and their names occur nowhere else. NULL if it is not there. */
static const char *value_of(const char *text, const char *name)
{
    char key[32];
    const char *found;

    snprintf(key, sizeof(key), "\"%s\": ", name);
    found = strstr(text, key);
    return found ? found + strlen(key) : NULL;
}

static long count_of(const char *text, const char *name)
{
    const char *value = value_of(text, name);

    return value ? strtol(value, NULL, 10) : -1;
}

int aspt_facts_read(const char *path, struct aspt_facts *out_p)
{
    FILE *in = fopen(path, "re");
    char *text = calloc(1, RECORD_HEAD_MAX);
    struct aspt_facts facts = {.mpi_s = -1};
    const char *value;

    if (in && text)
        text[fread(text, 1, RECORD_HEAD_MAX - 1, in)] = '\0';
    if (in)
        fclose(in);
    if (!in || !text || !value_of(text, "aspen_record")) {
        free(text);
        return -1;
    }
    value = value_of(text, "mode");
    if (value)
        sscanf(value, "\"%15[a-z]\"", facts.mode);
    facts.users = count_of(text, "users");
    facts.ghosts = count_of(text, "ghosts");
    facts.nodes = count_of(text, "nodes");
    facts.redirected = count_of(text, "redirected");
    value = value_of(text, "wall_s");
    if (value)
        facts.mpi_s = strtod(value, NULL);
    free(text);
    *out_p = facts;
    return 0;
}

static int figure_in(const regex_t *regex, const char *path, double *figure_p)
{
    FILE *in = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    double last = 0;

    if (!in)
        return -1;
    while (getline(&line, &room, in) >= 0) {
        regmatch_t match[2];

        if (regexec(regex, line, 2, match, 0) == 0 && match[1].rm_so >= 0)
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

long aspt_count_cpus(const char *text)
{
    long cpus = 0;

    while (*text) {
        char *end;
        long here = strtol(text, &end, 10), times = 1;

        if (end == text)
            return 0;
        if (strncmp(end, "(x", 2) == 0) {
            times = strtol(end + 2, &end, 10);
            if (*end++ != ')')
                return 0;
        }
        cpus += here * times;
        if (*end && *end != ',')
            return 0;
        text = end + (*end == ',');
    }
    return cpus;
}
