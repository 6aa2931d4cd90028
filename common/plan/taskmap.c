/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of all nodes of a step; see taskmap.h. Slurm deals task ids in one of a
 * few ways, and every one of them is "so many ids to each node in turn". */
#include "taskmap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A decimal number 1..max; moves *text_p past it. */
static int take_number(const char **text_p, uint32_t max, uint32_t *out_p)
{
    const char *text = *text_p;
    uint64_t value = 0;

    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (uint64_t) (*text - '0');
        if (value > max)
            return -1;
    }
    if (!value)
        return -1;
    *text_p = text;
    *out_p = (uint32_t) value;
    return 0;
}

/* Append count nodes of ntasks each. */
static int add_nodes(struct asp_steps *steps, uint32_t ntasks, uint32_t count,
                     struct asp_err *err)
{
    void *nodes;

    if (count > ASP_NODES_MAX - steps->nnodes ||
        (uint64_t) ntasks * count > ASP_RANKS_MAX - steps->ntasks)
        return asp_errf(err, E2BIG, "more than %d nodes or %d tasks",
                        ASP_NODES_MAX, ASP_RANKS_MAX);
    nodes = realloc(steps->nodes,
                    (steps->nnodes + count) * sizeof(steps->nodes[0]));
    if (!nodes)
        return asp_errf(err, ENOMEM, "out of memory");
    steps->nodes = nodes;
    while (count--) {
        struct asp_layout_node *node = &steps->nodes[steps->nnodes];

        memset(node, 0, sizeof(*node));
        node->ranks_world = calloc(ntasks, sizeof(node->ranks_world[0]));
        if (!node->ranks_world)
            return asp_errf(err, ENOMEM, "out of memory");
        node->ntasks = ntasks;
        steps->nnodes++;
        steps->ntasks += ntasks;
    }
    return 0;
}

static int parse_counts(const char *text, struct asp_steps *steps,
                        struct asp_err *err)
{
    const char *at = text;

    for (;;) {
        uint32_t ntasks, count = 1;

        if (take_number(&at, ASP_TASKS_MAX, &ntasks))
            break;
        if (!strncmp(at, "(x", 2)) {
            at += 2;
            if (take_number(&at, ASP_NODES_MAX, &count) || *at++ != ')')
                break;
        }
        if (add_nodes(steps, ntasks, count, err))
            return -1;
        if (!*at)
            return 0;
        if (*at++ != ',')
            break;
    }
    return asp_errf(err, EINVAL, "tasks per node \"%.80s\" is no such list",
                    text);
}

/* How many ids each node gets per turn; 0 when it cannot be known. */
static int parse_dealing(const char *text, uint32_t plane_size,
                         uint32_t *turn_p, struct asp_err *err)
{
    size_t len = text ? strcspn(text, ":,=") : 0;

    *turn_p = ASP_TASKS_MAX;
    if (!len || (len == 5 && !strncmp(text, "block", len)) || *text == '*')
        return 0;
    if (len == 6 && !strncmp(text, "cyclic", len)) {
        *turn_p = 1;
        return 0;
    }
    if (len == 5 && !strncmp(text, "plane", len)) {
        const char *size = text + len;

        *turn_p = plane_size;
        if (!plane_size &&
            (*size++ != '=' || take_number(&size, ASP_RANKS_MAX, turn_p)))
            return asp_errf(err, EINVAL, "distribution \"%.40s\" lacks a size",
                            text);
        return 0;
    }
    if (!strncmp(text, "arbitrary", 9))
        return asp_errf(err, ENOTSUP,
                        "distribution arbitrary: the ranks of other nodes "
                        "cannot be computed");
    return asp_errf(err, EINVAL, "unknown distribution \"%.40s\"", text);
}

/* Deal all ids, turn by turn. */
static int deal(struct asp_steps *steps, uint32_t turn, struct asp_err *err)
{
    uint32_t *dealt = calloc(steps->nnodes, sizeof(*dealt)), rank = 0;

    if (!dealt)
        return asp_errf(err, ENOMEM, "out of memory");
    while (rank < steps->ntasks) {
        for (uint32_t n = 0; n < steps->nnodes; n++) {
            struct asp_layout_node *node = &steps->nodes[n];

            for (uint32_t i = 0; i < turn && dealt[n] < node->ntasks; i++)
                node->ranks_world[dealt[n]++] = rank++;
        }
    }
    free(dealt);
    return 0;
}

int asp_steps_compute(const char *tasks_per_node, const char *distribution,
                      uint32_t plane_size, struct asp_steps **out_p,
                      struct asp_err *err)
{
    struct asp_steps *steps = calloc(1, sizeof(*steps));
    uint32_t turn;

    if (!steps)
        return asp_errf(err, ENOMEM, "out of memory");
    if (parse_counts(tasks_per_node, steps, err) ||
        parse_dealing(distribution, plane_size, &turn, err) ||
        deal(steps, turn, err)) {
        asp_steps_destroy(steps);
        return -1;
    }
    *out_p = steps;
    return 0;
}

/* "0,1,2,..." of the first few. Returns buf. */
static const char *print_ranks(const uint32_t *ranks, uint32_t nranks,
                               char *buf, size_t size)
{
    size_t used = 0;

    buf[0] = '\0';
    for (uint32_t i = 0; i < nranks && used + 16 < size; i++)
        used += (size_t) snprintf(buf + used, size - used, "%s%" PRIu32,
                                  i ? "," : "", ranks[i]);
    return buf;
}

int asp_steps_verify(const struct asp_steps *steps, uint32_t node,
                     const uint32_t *ranks, uint32_t nranks,
                     struct asp_err *err)
{
    const struct asp_layout_node *have;
    char want_text[80], have_text[80];

    if (node >= steps->nnodes)
        return asp_errf(err, EINVAL, "node %" PRIu32 " of %" PRIu32, node,
                        steps->nnodes);
    have = &steps->nodes[node];
    if (have->ntasks == nranks &&
        !memcmp(have->ranks_world, ranks, nranks * sizeof(ranks[0])))
        return 0;
    return asp_errf(
        err, EINVAL,
        "node %" PRIu32 " has ranks %s but its distribution "
        "gives %s",
        node, print_ranks(ranks, nranks, want_text, 80),
        print_ranks(have->ranks_world, have->ntasks, have_text, 80));
}

int asp_steps_find(const char *tasks_per_node, const char *distribution,
                   uint32_t plane_size, uint32_t node, const uint32_t *ranks,
                   uint32_t nranks, struct asp_steps **out_p,
                   struct asp_err *err)
{
    const char *const tries[] = {distribution, "block", "cyclic", "plane"};
    struct asp_err first = {.text = ""};
    int first_errno = EINVAL;

    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        struct asp_steps *steps = NULL;
        struct asp_err why = {.text = ""};

        if (!strcmp(tries[i] ? tries[i] : "", "plane") && !plane_size)
            continue;
        if (!asp_steps_compute(tasks_per_node, tries[i], plane_size, &steps,
                               &why) &&
            !asp_steps_verify(steps, node, ranks, nranks, &why)) {
            *out_p = steps;
            return 0;
        }
        if (i == 0) {
            first = why;
            first_errno = errno;
        }
        asp_steps_destroy(steps);
        /* Told that it is arbitrary, a pattern that fits this node by
         * chance would be wrong about the others. */
        if (i == 0 && first_errno == ENOTSUP)
            break;
    }
    return asp_errf(err, first_errno, "%s", first.text);
}

int asp_steps_parse_ranks(const char *text, uint32_t *ranks, uint32_t *count_p)
{
    uint32_t count = 0;

    while (*text) {
        char *end;
        unsigned long first, last;

        if (*text < '0' || *text > '9')
            goto bad;
        first = last = strtoul(text, &end, 10);
        if (*end == '-' && end[1] >= '0' && end[1] <= '9')
            last = strtoul(end + 1, &end, 10);
        if (last >= ASP_RANKS_MAX || last < first ||
            (count && first <= ranks[count - 1]))
            goto bad;
        for (; first <= last; first++) {
            if (count == *count_p)
                goto bad;
            ranks[count++] = (uint32_t) first;
        }
        text = end;
        if (*text == ',' && !*++text)
            goto bad;
    }
    *count_p = count;
    return 0;
bad:
    errno = EINVAL;
    return -1;
}

void asp_steps_destroy(struct asp_steps *steps)
{
    int saved = errno;

    if (!steps)
        return;
    for (uint32_t n = 0; n < steps->nnodes; n++)
        free(steps->nodes[n].ranks_world);
    free(steps->nodes);
    free(steps);
    errno = saved;
}
