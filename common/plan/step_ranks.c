/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of all nodes of a step, from base/taskmap, and held against those
 * that Slurm says this node has; see step_ranks.h. */
#include "step_ranks.h"

#include "common/base/strbuf.h"
#include "common/base/taskmap.h"
#include "common/base/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Tasks by node, ASP_NODES_MAX of them. Returns the number of nodes, or -1. */
static int read_counts(const char *text, uint32_t *counts, uint32_t *ntasks_p,
                       struct asp_err *err)
{
    int nnodes = asp_counts_parse(text, 1, ASP_TASKS_MAX, counts,
                                  ASP_NODES_MAX);
    uint64_t sum = 0;

    if (nnodes < 0 && errno == EINVAL)
        return asp_errf(err, EINVAL, "tasks per node \"%.80s\" is no such list",
                        text);
    for (int n = 0; n < nnodes; n++)
        sum += counts[n];
    if (nnodes < 0 || sum > ASP_RANKS_MAX)
        return asp_errf(err, E2BIG, "more than %d nodes or %d tasks",
                        ASP_NODES_MAX, ASP_RANKS_MAX);
    *ntasks_p = (uint32_t) sum;
    return nnodes;
}

/* Nodes whose ranks are yet to be dealt; NULL: no memory. */
static struct asp_step_ranks *make_nodes(const uint32_t *counts,
                                         uint32_t nnodes, uint32_t ntasks)
{
    struct asp_step_ranks *steps = calloc(1, sizeof(*steps));

    if (!steps)
        return NULL;
    steps->ntasks = ntasks;
    steps->nodes = calloc(nnodes, sizeof(steps->nodes[0]));
    while (steps->nodes && steps->nnodes < nnodes) {
        uint32_t count = counts[steps->nnodes];
        uint32_t *ranks = calloc(count, sizeof(*ranks));

        if (!ranks)
            break;
        steps->nodes[steps->nnodes++] = (struct asp_layout_node){
            .ntasks = count, .ranks_world = ranks};
    }
    if (steps->nnodes == nnodes)
        return steps;
    asp_step_ranks_destroy(steps);
    return NULL;
}

static bool give_rank(void *context, uint32_t node, uint32_t local, uint32_t id)
{
    struct asp_step_ranks *steps = context;

    steps->nodes[node].ranks_world[local] = id;
    return true;
}

/* The ranks of all nodes with so many ids per turn. */
static int compute(const char *tasks_per_node, uint32_t turn,
                   struct asp_step_ranks **out_p, struct asp_err *err)
{
    uint32_t *counts = calloc(ASP_NODES_MAX, sizeof(*counts)), ntasks = 0;
    struct asp_deal deal = {.counts = counts, .give = give_rank};
    struct asp_step_ranks *steps = NULL;
    int nnodes = -1;

    if (!counts)
        asp_errf(err, ENOMEM, "out of memory");
    else
        nnodes = read_counts(tasks_per_node, counts, &ntasks, err);
    if (nnodes > 0) {
        deal.nnodes = (uint32_t) nnodes;
        deal.context = steps = make_nodes(counts, deal.nnodes, ntasks);
        if (!steps || asp_taskmap_deal(&deal, turn) < 0) {
            asp_step_ranks_destroy(steps);
            steps = NULL;
            asp_errf(err, ENOMEM, "out of memory");
        }
    }
    free(counts);
    *out_p = steps;
    return steps ? 0 : -1;
}

int asp_step_ranks_compute(const char *tasks_per_node, const char *distribution,
                           uint32_t plane_size, struct asp_step_ranks **out_p,
                           struct asp_err *err)
{
    uint32_t turn = asp_taskmap_turn(distribution, plane_size, err);

    return turn ? compute(tasks_per_node, turn, out_p, err) : -1;
}

/* "0,1,2,..." of the first few. Returns buf. */
static const char *print_ranks(const uint32_t *ranks, uint32_t nranks,
                               char *buf, size_t size)
{
    struct asp_strbuf list = asp_strbuf_on(buf, size);

    for (uint32_t i = 0; i < nranks && list.len + 16 < size; i++)
        asp_strbuf_add(&list, "%s%" PRIu32, i ? "," : "", ranks[i]);
    return buf;
}

int asp_step_ranks_verify(const struct asp_step_ranks *steps, uint32_t node,
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

int asp_step_ranks_find(const char *tasks_per_node, const char *distribution,
                        uint32_t plane_size, uint32_t node,
                        const uint32_t *ranks, uint32_t nranks,
                        struct asp_step_ranks **out_p, struct asp_err *err)
{
    struct asp_err first = {.text = ""};
    uint32_t turns[ASP_TURNS];
    int first_errno = EINVAL;

    asp_taskmap_turns(distribution, plane_size, turns, &first);
    if (turns[0] == 0)
        first_errno = errno;
    for (size_t i = 0; i < ASP_TURNS; i++) {
        struct asp_step_ranks *steps = NULL;
        struct asp_err why = {.text = ""};

        if (turns[i] == 0)
            continue;
        if (!compute(tasks_per_node, turns[i], &steps, &why) &&
            !asp_step_ranks_verify(steps, node, ranks, nranks, &why)) {
            *out_p = steps;
            return 0;
        }
        if (i == 0) {
            first = why;
            first_errno = errno;
        }
        asp_step_ranks_destroy(steps);
    }
    return asp_errf(err, first_errno, "%s", first.text);
}

int asp_ranks_parse(const char *text, uint32_t *ranks, uint32_t *count_p)
{
    uint32_t count = 0, first, last;

    while (*text) {
        if (asp_take_range(&text, ASP_RANKS_MAX - 1, &first, &last) < 0 ||
            (count && first <= ranks[count - 1]))
            goto bad;
        for (; first <= last; first++) {
            if (count == *count_p)
                goto bad;
            ranks[count++] = first;
        }
        if (*text == ',' ? *++text == '\0' : *text != '\0')
            goto bad;
    }
    *count_p = count;
    return 0;
bad:
    errno = EINVAL;
    return -1;
}

bool *asp_step_ranks_ghosts(const struct asp_step_ranks *steps, uint32_t ghosts)
{
    bool *marks = calloc(steps->ntasks, sizeof(*marks));

    for (uint32_t n = 0; marks && n < steps->nnodes; n++) {
        const struct asp_layout_node *node = &steps->nodes[n];

        for (uint32_t i = node->ntasks > ghosts ? node->ntasks - ghosts : 0;
             i < node->ntasks; i++)
            marks[node->ranks_world[i]] = true;
    }
    return marks;
}

void asp_step_ranks_destroy(struct asp_step_ranks *steps)
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
