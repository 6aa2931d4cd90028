/* SPDX-License-Identifier: BSD-3-Clause */
/* docs/design/run.md has the cases. */
#include "config.h"

#include "hosts.h"

#include "common/base/strbuf.h"
#include "common/base/taskmap.h"
#include "common/base/words.h"
#include "common/plan/hostlist.h"
#include "common/plan/step_ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- hosts -------------------------------------------------------------------- */

/* The same host twice in a row is one with the cores of both. */
static int add_host(struct aspt_hosts *hosts, const char *name, size_t len,
                    uint32_t cores, struct asp_err *err)
{
    struct aspt_host *last = hosts->n ? &hosts->list[hosts->n - 1] : NULL;
    struct aspt_host *list;

    if (len == 0 || len >= ASP_NAME_MAX || cores == 0 ||
        hosts->n == ASP_NODES_MAX)
        return asp_errf(err, EINVAL,
                        "\"%.*s\" is no host with a number of "
                        "ranks, or there are too many",
                        (int) (len < 80 ? len : 80), name);
    if (last && strlen(last->name) == len &&
        strncmp(last->name, name, len) == 0) {
        last->cores += cores;
        return 0;
    }
    list = realloc(hosts->list, (hosts->n + 1) * sizeof(*list));
    if (!list)
        return asp_errf(err, ENOMEM, "out of memory");
    hosts->list = list;
    snprintf(list[hosts->n].name, ASP_NAME_MAX, "%.*s", (int) len, name);
    list[hosts->n++].cores = cores;
    return 0;
}

/* "host" or "host:2", of len bytes. */
static int add_word(struct aspt_hosts *hosts, const char *word, size_t len,
                    struct asp_err *err)
{
    const char *colon = memchr(word, ':', len), *number;
    uint32_t cores = 1;

    if (!colon)
        return add_host(hosts, word, len, cores, err);
    number = colon + 1;
    if (asp_take_number(&number, ASP_RANKS_MAX, &cores) < 0 ||
        number != word + len)
        cores = 0;
    return add_host(hosts, word, (size_t) (colon - word), cores, err);
}

int aspt_hosts_add_list(struct aspt_hosts *hosts, const char *text,
                        struct asp_err *err)
{
    do {
        size_t len = strcspn(text, ",");

        if (add_word(hosts, text, len, err) < 0)
            return -1;
        text += len + (text[len] == ',');
    } while (*text);
    return 0;
}

static int add_line(struct aspt_hosts *hosts, const char *line,
                    const char *path, struct asp_err *err)
{
    static const char blanks[] = " \t\r\n", ends[] = " \t\r\n#";
    const char *more;
    size_t len;

    line += strspn(line, blanks);
    if (*line == '#' || *line == '\0')
        return 0;
    len = strcspn(line, ends);
    more = line + len + strspn(line + len, blanks);
    if (*more != '\0' && *more != '#')
        return asp_errf(err, EINVAL,
                        "host file %.200s has \"%.*s\" behind a host, which "
                        "aspen run cannot pass on",
                        path, (int) strcspn(more, blanks), more);
    return add_word(hosts, line, len, err);
}

int aspt_hosts_add_file(struct aspt_hosts *hosts, const char *path,
                        struct asp_err *err)
{
    FILE *file = fopen(path, "re");
    char line[1024];
    int rc = 0;

    if (!file)
        return asp_errf(err, errno, "cannot open host file %.200s: %s", path,
                        strerror(errno));
    while (rc == 0 && fgets(line, sizeof(line), file))
        rc = add_line(hosts, line, path, err);
    fclose(file);
    if (rc == 0 && hosts->n == 0)
        rc = asp_errf(err, EINVAL, "host file %.200s names no host", path);
    return rc;
}

/* Names and counts, one for each other. */
static int add_counted(struct aspt_hosts *hosts, const char *names,
                       const uint32_t *counts, uint32_t n, struct asp_err *err)
{
    struct asp_layout_node *nodes = calloc(n, sizeof(*nodes));
    int rc = nodes ? asp_hostlist_name(names, nodes, n, err)
                   : asp_errf(err, ENOMEM, "out of memory");

    for (uint32_t i = 0; rc == 0 && i < n; i++)
        rc = add_host(hosts, nodes[i].name, strlen(nodes[i].name), counts[i],
                      err);
    free(nodes);
    return rc;
}

int aspt_hosts_add_slurm(struct aspt_hosts *hosts, const char *names,
                         const char *counts, struct asp_err *err)
{
    uint32_t *list = calloc(ASP_NODES_MAX, sizeof(*list));
    int n, rc;

    if (!list)
        return asp_errf(err, ENOMEM, "out of memory");
    n = asp_counts_parse(counts, 1, ASP_RANKS_MAX, list, ASP_NODES_MAX);
    if (n > 0)
        rc = add_counted(hosts, names, list, (uint32_t) n, err);
    else
        rc = asp_errf(err, EINVAL, "SLURM_TASKS_PER_NODE is \"%.60s\"", counts);
    free(list);
    return rc;
}

uint32_t aspt_hosts_cores(const struct aspt_hosts *hosts)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < hosts->n; i++)
        sum += hosts->list[i].cores;
    return sum < ASP_RANKS_MAX ? (uint32_t) sum : ASP_RANKS_MAX;
}

bool aspt_hosts_twice(const struct aspt_hosts *hosts)
{
    for (uint32_t i = 1; i < hosts->n; i++)
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(hosts->list[i].name, hosts->list[j].name) == 0)
                return true;
    return false;
}

void aspt_hosts_clear(struct aspt_hosts *hosts)
{
    free(hosts->list);
    *hosts = (struct aspt_hosts){.list = NULL};
}

/* ---- assignment ---------------------------------------------------------------- */

/* Ranks of each host, in turns of its cores. Returns how many hosts get any. */
static uint32_t deal(const struct aspt_hosts *hosts, uint32_t ranks,
                     uint32_t *counts)
{
    uint32_t used = 0;

    memset(counts, 0, hosts->n * sizeof(*counts));
    while (ranks)
        for (uint32_t i = 0; i < hosts->n && ranks; i++) {
            uint32_t some = hosts->list[i].cores < ranks ? hosts->list[i].cores
                                                         : ranks;

            counts[i] += some;
            ranks -= some;
            used = i + 1 > used ? i + 1 : used;
        }
    return used;
}

/* With as many cores on each host and more than one turn, hydra may deal the
 * ghosts behind the users as they should come, without being told. */
static bool falls_right(const struct aspt_hosts *hosts, const uint32_t *users,
                        uint32_t used, uint32_t ghosts, uint32_t ntasks)
{
    uint32_t *counts = calloc(hosts->n, sizeof(*counts));
    bool right = counts != NULL;

    for (uint32_t i = 1; right && i < used; i++)
        right = hosts->list[i].cores == hosts->list[0].cores;
    if (right)
        right = deal(hosts, ntasks, counts) == used;
    for (uint32_t i = 0; right && i < used; i++)
        right = counts[i] == users[i] + ghosts;
    free(counts);
    return right;
}

/* What hydra is told, and what tasks are. */
static int write_assignment(const struct aspt_hosts *hosts,
                            const uint32_t *users, uint32_t ghosts,
                            bool in_turns, struct aspt_assignment *out)
{
    struct asp_strbuf counts = ASP_STRBUF_GROWING, names = ASP_STRBUF_GROWING,
                      told = ASP_STRBUF_GROWING;

    for (uint32_t i = 0; i < out->nnodes; i++) {
        const char *comma = i ? "," : "";
        const char *name = hosts->list[i].name;
        uint32_t all = users[i] + ghosts;

        asp_strbuf_add(&counts, "%s%" PRIu32, comma, all);
        asp_strbuf_add(&names, "%s%s", comma, name);
        asp_strbuf_add(&told, "%s%s:%" PRIu32, comma, name,
                       in_turns ? hosts->list[i].cores : all);
    }
    out->counts = asp_strbuf_take(&counts);
    out->names = asp_strbuf_take(&names);
    out->hosts = asp_strbuf_take(&told);
    snprintf(out->distribution, sizeof(out->distribution),
             in_turns ? "plane=%" PRIu32 : "block", hosts->list[0].cores);
    return out->counts && out->names && out->hosts ? 0 : -1;
}

static int deal_all(const struct aspt_hosts *hosts, uint32_t nusers,
                    uint32_t ghosts, uint32_t *users,
                    struct aspt_assignment *out, struct asp_err *err)
{
    uint64_t ntasks;
    bool wraps, in_turns;

    out->nnodes = deal(hosts, nusers, users);
    ntasks = nusers + (uint64_t) ghosts * out->nnodes;
    if (ntasks > ASP_RANKS_MAX)
        return asp_errf(err, EINVAL,
                        "%" PRIu32 " user tasks and their ghosts on %" PRIu32
                        " nodes are too many",
                        nusers, out->nnodes);
    out->ntasks = (uint32_t) ntasks;
    for (uint32_t i = 0; i < out->nnodes; i++)
        if (users[i] > out->users_most)
            out->users_most = users[i];
    wraps = out->nnodes > 1 && nusers > aspt_hosts_cores(hosts);
    in_turns = wraps &&
               falls_right(hosts, users, out->nnodes, ghosts, out->ntasks);
    out->moved = wraps && !in_turns;
    if (write_assignment(hosts, users, ghosts, in_turns, out) < 0)
        return asp_errf(err, ENOMEM, "out of memory");
    return 0;
}

int aspt_hosts_deal(const struct aspt_hosts *hosts, uint32_t users,
                    uint32_t ghosts, struct aspt_assignment *out_p,
                    struct asp_err *err)
{
    uint32_t *counts = calloc(hosts->n, sizeof(*counts));
    int rc;

    *out_p = (struct aspt_assignment){.nnodes = 0};
    if (!counts)
        return asp_errf(err, ENOMEM, "out of memory");
    rc = deal_all(hosts, users, ghosts, counts, out_p, err);
    free(counts);
    return rc;
}

void aspt_assignment_clear(struct aspt_assignment *assignment)
{
    free(assignment->counts);
    free(assignment->names);
    free(assignment->hosts);
    *assignment = (struct aspt_assignment){.nnodes = 0};
}

/* ---- parts of a command ---------------------------------------------------------- */

int aspt_assignment_split(const struct aspt_assignment *assignment,
                          uint32_t ghosts, const uint32_t *users,
                          uint32_t nparts, uint32_t *ranks, struct asp_err *err)
{
    struct asp_step_ranks *steps = NULL;
    uint32_t part = 0, seen = 0;
    bool *marks;

    if (asp_step_ranks_compute(assignment->counts, assignment->distribution, 0,
                               &steps, err) < 0)
        return -1;
    marks = asp_step_ranks_ghosts(steps, ghosts);
    memset(ranks, 0, nparts * sizeof(*ranks));
    for (uint32_t r = 0; marks && r < steps->ntasks; r++) {
        if (!marks[r] && seen == users[part] && part + 1 < nparts) {
            part++;
            seen = 0;
        }
        seen += !marks[r];
        ranks[part]++;
    }
    asp_step_ranks_destroy(steps);
    if (!marks)
        return asp_errf(err, ENOMEM, "out of memory");
    free(marks);
    return 0;
}
