/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of tuned choices in memory: rows in order, and whether they hold
 * here. Their text is in table_read.c and table_write.c, their index in
 * table_index.c. */
#include "table.h"

#include "common/base/printable.h"
#include "common/base/strbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void asp_tune_table_clear(struct asp_tune_table *table)
{
    free(table->rows);
    free(table->configs);
    free(table->shapes);
    free(table->slots);
    memset(table, 0, sizeof(*table));
}

/* Room for one more of an array that doubles. Returns 0 or -1 (ENOMEM). */
static int make_room(void *array_p, uint32_t n, size_t size)
{
    void *array, *old;

    memcpy(&old, array_p, sizeof(old));
    /* Full at 0, 16, 32, 64, ... */
    if (n != 0 && (n < 16 || (n & (n - 1))))
        return 0;
    array = realloc(old, (n ? (size_t) n * 2 : 16) * size);
    if (!array)
        return -1;
    memcpy(array_p, &array, sizeof(array));
    return 0;
}

static int check_config(const char *config, struct asp_err *err)
{
    if (!config[0] || strlen(config) >= ASP_TUNE_CONFIG_MAX)
        return asp_errf(err, EINVAL, "a configuration has 1 to %d bytes",
                        ASP_TUNE_CONFIG_MAX - 1);
    for (const char *c = config; *c; c++)
        if (*c == ' ' || asp_control(c))
            return asp_errf(
                err, EINVAL,
                "a configuration has no blanks or control characters");
    return 0;
}

/* The number of a configuration, which is added if it is new. */
static int intern(struct asp_tune_table *table, const char *config,
                  uint32_t *config_p, struct asp_err *err)
{
    uint32_t i = 0;

    if (check_config(config, err) < 0)
        return -1;
    while (i < table->nconfigs && strcmp(table->configs[i], config) != 0)
        i++;
    if (i == table->nconfigs) {
        if (i == ASP_TUNE_CONFIGS_MAX)
            return asp_errf(err, EFBIG, "more than %d different configurations",
                            ASP_TUNE_CONFIGS_MAX);
        if (make_room(&table->configs, i, sizeof(*table->configs)) < 0)
            return asp_errf(err, ENOMEM, "out of memory");
        memcpy(table->configs[i], config, strlen(config) + 1);
        table->nconfigs++;
    }
    *config_p = i;
    return 0;
}

/* Where a key is, or would be. */
static uint32_t place_of(const struct asp_tune_table *table,
                         const struct asp_tune_key *key)
{
    uint32_t low = 0, high = table->nrows;

    /* Files are in order: look at the end first. */
    if (high > 0 && asp_tune_key_compare(&table->rows[high - 1].key, key) < 0)
        return high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (asp_tune_key_compare(&table->rows[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int asp_tune_table_add(struct asp_tune_table *table,
                       const struct asp_tune_row *row, const char *config,
                       struct asp_err *err)
{
    uint32_t at = place_of(table, &row->key), number = 0;

    if (intern(table, config, &number, err) < 0)
        return -1;
    if (at == table->nrows ||
        asp_tune_key_compare(&table->rows[at].key, &row->key) != 0) {
        if (table->nrows == ASP_TUNE_ROWS_MAX)
            return asp_errf(err, EFBIG, "more than %d rows", ASP_TUNE_ROWS_MAX);
        if (make_room(&table->rows, table->nrows, sizeof(*row)) < 0)
            return asp_errf(err, ENOMEM, "out of memory");
        memmove(table->rows + at + 1, table->rows + at,
                (table->nrows - at) * sizeof(*row));
        table->nrows++;
    }
    table->rows[at] = *row;
    table->rows[at].config = number;
    return 0;
}

static bool same_job(const struct asp_tune_job *a, const struct asp_tune_job *b)
{
    return a->nodes == b->nodes && a->ppn == b->ppn;
}

int asp_tune_table_add_job(struct asp_tune_table *table,
                           const struct asp_tune_job *job, struct asp_err *err)
{
    uint32_t at = 0;

    while (at < table->njobs && (table->jobs[at].nodes < job->nodes ||
                                 (table->jobs[at].nodes == job->nodes &&
                                  table->jobs[at].ppn < job->ppn)))
        at++;
    if (at < table->njobs && same_job(&table->jobs[at], job))
        return 0;
    if (table->njobs == ASP_TUNE_JOBS_MAX)
        return asp_errf(err, EFBIG, "more than %d shapes of jobs",
                        ASP_TUNE_JOBS_MAX);
    memmove(table->jobs + at + 1, table->jobs + at,
            (table->njobs - at) * sizeof(*job));
    table->jobs[at] = *job;
    table->njobs++;
    return 0;
}

void asp_tune_links_merge(struct asp_tune_links *links,
                          const struct asp_tune_links *newer)
{
    if (newer->has_inside)
        links->inside = newer->inside;
    if (newer->has_between)
        links->between = newer->between;
    if (newer->has_core)
        links->core = newer->core;
    links->has_inside |= newer->has_inside;
    links->has_between |= newer->has_between;
    links->has_core |= newer->has_core;
}

int asp_tune_table_merge(struct asp_tune_table *table,
                         const struct asp_tune_table *newer,
                         struct asp_err *err)
{
    if (asp_tune_table_fits(table, &newer->machine, NULL, err) < 0)
        return -1;
    asp_tune_links_merge(&table->links, &newer->links);
    for (uint32_t i = 0; i < newer->njobs; i++)
        if (asp_tune_table_add_job(table, &newer->jobs[i], err) < 0)
            return -1;
    for (uint32_t i = 0; i < newer->nrows; i++)
        if (asp_tune_table_add(table, &newer->rows[i],
                               newer->configs[newer->rows[i].config], err) < 0)
            return -1;
    return 0;
}

/* ---- does it hold here? ---- */

static int ignored(struct asp_err *err, const char *what, const char *then,
                   const char *now)
{
    return asp_errf(err, ENOEXEC, "table ignored: built for %s%s, this is %s",
                    what, then, now);
}

static int fits_job(const struct asp_tune_table *table,
                    const struct asp_tune_job *job, struct asp_err *err)
{
    char then[256] = "", now[32] = "";
    struct asp_strbuf jobs = ASP_STRBUF(then), here = ASP_STRBUF(now);

    for (uint32_t i = 0; i < table->njobs; i++)
        if (same_job(&table->jobs[i], job))
            return 0;
    for (uint32_t i = 0; i < table->njobs; i++)
        asp_strbuf_add(&jobs, "%s%ux%u", i ? "," : "", table->jobs[i].nodes,
                       table->jobs[i].ppn);
    asp_strbuf_add(&here, "%ux%u", job->nodes, job->ppn);
    return ignored(err, "nodes x ranks per node of ", then, now);
}

int asp_tune_table_fits(const struct asp_tune_table *table,
                        const struct asp_tune_machine *here,
                        const struct asp_tune_job *job, struct asp_err *err)
{
    const struct asp_tune_machine *made = &table->machine;
    const char *const facts[][3] = {
        {"MPICH ", made->mpi, here->mpi},
        {"MPICH's ", made->build, here->build},
        {"UCX ", made->ucx, here->ucx},
        {"fabric ", made->fabric, here->fabric},
    };

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
        if (strcmp(facts[i][1], facts[i][2]) != 0)
            return ignored(err, facts[i][0], facts[i][1], facts[i][2]);
    if (made->cpus != here->cpus)
        return asp_errf(err, ENOEXEC,
                        "table ignored: built for %u CPUs per node, this has "
                        "%u",
                        made->cpus, here->cpus);
    return job ? fits_job(table, job, err) : 0;
}
