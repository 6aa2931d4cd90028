/* SPDX-License-Identifier: BSD-3-Clause */
/* Called in slurmstepd on values from the step's environment, which the user
 * can write: every number is bounded before it is used, and what it costs is
 * bounded by what Slurm itself says of the step. */
#include "config.h"

#include "counts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Decimal digits; moves *text_p past them. Returns -1 unless 1..max. */
static int take_number(const char **text_p, uint32_t max, uint32_t *out_p)
{
    uint64_t value = 0;
    const char *text = *text_p;

    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (uint64_t) (*text - '0');
        if (value > max)
            return -1;
    }
    if (text == *text_p || value == 0)
        return -1;
    *text_p = text;
    *out_p = (uint32_t) value;
    return 0;
}

/* One "3(x2)" or "3", and the comma behind it. */
static int take_run(const char **text_p, uint32_t *count_p, uint32_t *times_p)
{
    const char *text = *text_p;

    *times_p = 1;
    if (take_number(&text, ASPS_STEP_TASKS_MAX, count_p) < 0)
        return -1;
    if (strncmp(text, "(x", 2) == 0) {
        text += 2;
        if (take_number(&text, ASPS_NODES_MAX, times_p) < 0 || *text++ != ')')
            return -1;
    }
    if (*text == ',' && text[1] != '\0')
        text++;
    else if (*text != '\0')
        return -1;
    *text_p = text;
    return 0;
}

int asps_counts_parse(const char *text, uint32_t *counts, uint32_t max)
{
    uint32_t n = 0, count, times;

    while (*text) {
        if (take_run(&text, &count, &times) < 0) {
            errno = EINVAL;
            return -1;
        }
        if (times > max - n) {
            errno = ENOSPC;
            return -1;
        }
        while (times--)
            counts[n++] = count;
    }
    if (n == 0) {
        errno = EINVAL;
        return -1;
    }
    return (int) n;
}

int asps_counts_less(const char *text, uint32_t less, char *buf, size_t size)
{
    size_t used = 0;
    uint32_t count, times;

    if (*text == '\0') {
        errno = EINVAL;
        return -1;
    }
    while (*text) {
        int n;

        if (take_run(&text, &count, &times) < 0 || count <= less) {
            errno = EINVAL;
            return -1;
        }
        count -= less;
        if (times == 1)
            n = snprintf(buf + used, size - used, "%s%" PRIu32, used ? "," : "",
                         count);
        else
            n = snprintf(buf + used, size - used, "%s%" PRIu32 "(x%" PRIu32 ")",
                         used ? "," : "", count, times);
        if (n < 0 || (size_t) n >= size - used) {
            errno = ENOSPC;
            return -1;
        }
        used += (size_t) n;
    }
    return (int) used;
}

/* What dealing needs to remember. */
struct deal {
    const struct asps_step_map *map;
    const uint32_t *ranks_world;
    uint32_t *ranks_user;
    uint32_t *dealt; /* by node: tasks that have their id */
    uint32_t *open;  /* the nodes that still lack tasks, in their order */
    uint32_t next_world;
    uint32_t next_user;
    uint64_t looks; /* at nodes and tasks, in all ways together */
};

/* The next global id goes to this node. Returns -1 when Slurm gave it another:
 * the way of dealing is not Slurm's. */
static int deal_one(struct deal *deal, uint32_t node)
{
    const struct asps_step_map *map = deal->map;
    uint32_t local = deal->dealt[node]++, rank_user = ASPS_RANK_NONE;

    deal->looks++;
    if (local + map->ghosts < map->counts[node])
        rank_user = deal->next_user++;
    if (node == map->node) {
        if (deal->ranks_world[local] != deal->next_world)
            return -1;
        deal->ranks_user[local] = rank_user;
    }
    deal->next_world++;
    return 0;
}

/* Give `step` ids, or as many as it lacks. Returns as deal_one(). */
static int deal_turn(struct deal *deal, uint32_t node, uint32_t step)
{
    uint32_t left = deal->map->counts[node] - deal->dealt[node];

    deal->looks++;
    for (uint32_t i = 0; i < step && i < left; i++)
        if (deal_one(deal, node) < 0)
            return -1;
    return 0;
}

/* Deal `step` ids at a time to each node in turn until this one has all of its
 * tasks; with a step as large as any count that is the block dealing. Nodes
 * that have theirs are not looked at again, so that it ends after as many looks
 * as there are tasks, times two. Returns whether this node gets just
 * ranks_world. */
static bool deal_all(struct deal *deal, uint32_t step)
{
    const struct asps_step_map *map = deal->map;
    uint32_t nopen = map->nnodes;

    deal->next_world = deal->next_user = 0;
    for (uint32_t node = 0; node < map->nnodes; node++) {
        deal->dealt[node] = 0;
        deal->open[node] = node;
    }
    while (nopen > 0) {
        uint32_t still = 0;

        for (uint32_t i = 0; i < nopen; i++) {
            uint32_t node = deal->open[i];

            if (deal_turn(deal, node, step) < 0)
                return false;
            if (deal->dealt[node] < map->counts[node])
                deal->open[still++] = node;
            else if (node == map->node)
                return true;
        }
        nopen = still;
    }
    return false;
}

/* The way the environment names comes first; where two ways agree about this
 * node they may still differ about others. */
static bool deal_any(struct deal *deal)
{
    const char *name = deal->map->distribution;
    const uint32_t block = ASPS_NODE_TASKS_MAX;
    uint32_t plane = deal->map->plane_size ? deal->map->plane_size : block;
    uint32_t steps[] = {block, 1, plane};

    if (strncmp(name, "cyclic", 6) == 0) {
        steps[0] = 1;
        steps[1] = block;
    } else if (strncmp(name, "plane", 5) == 0) {
        steps[0] = plane;
        steps[1] = block;
        steps[2] = 1;
    }
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (deal_all(deal, steps[i]))
            return true;
    return false;
}

/* Are these the counts of the step that Slurm speaks of? */
static bool counts_add_up(const struct asps_step_map *map)
{
    uint64_t sum = 0;

    if (map->nnodes > ASPS_NODES_MAX || map->node >= map->nnodes)
        return false;
    for (uint32_t node = 0; node < map->nnodes; node++) {
        if (map->counts[node] == 0 || map->counts[node] > ASPS_NODE_TASKS_MAX)
            return false;
        sum += map->counts[node];
    }
    return sum == map->ntasks;
}

int asps_user_ranks(const struct asps_step_map *map,
                    const uint32_t *ranks_world, uint32_t *ranks_user)
{
    struct deal deal = {
        .map = map, .ranks_world = ranks_world, .ranks_user = ranks_user};
    bool found;

    if (!counts_add_up(map)) {
        errno = EINVAL;
        return -1;
    }
    deal.dealt = calloc(map->nnodes, sizeof(*deal.dealt));
    deal.open = calloc(map->nnodes, sizeof(*deal.open));
    if (deal.dealt == NULL || deal.open == NULL) {
        free(deal.dealt);
        free(deal.open);
        errno = ENOMEM;
        return -1;
    }
    found = deal_any(&deal);
    free(deal.dealt);
    free(deal.open);
    if (map->looks_p != NULL)
        *map->looks_p = deal.looks;
    if (!found) {
        errno = ENOENT;
        return -1;
    }
    return 0;
}
