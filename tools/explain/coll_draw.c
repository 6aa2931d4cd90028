/* SPDX-License-Identifier: BSD-3-Clause */
/* A configuration as text: its tree, and its messages by rounds. A round holds
 * the messages that have as many messages before them in their longest chain.
 */
#include "config.h"

#include "tools/explain/coll.h"
#include "tools/base/command.h"

#include "common/coll/schedule/match.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Ranks that are drawn as a tree, and rounds. */
enum { TREE_MAX = 64, ROUNDS_MAX = 40, LINES_OF_ROUND = 6 };

/* The parent of a rank: whom it has its data from, or gives it to. NONE: the
 * root, or a rank with several. */
static const uint32_t NONE = UINT32_MAX;

static uint32_t parent_of(const struct asp_coll_schedule *s, uint8_t action)
{
    uint32_t parent = NONE;

    for (uint32_t i = 0; i < s->nsteps; i++) {
        if (s->steps[i].action != action || s->steps[i].peer == parent)
            continue;
        if (parent != NONE)
            return NONE;
        parent = s->steps[i].peer;
    }
    return parent;
}

static void draw_children(FILE *to, const uint32_t *parents, uint32_t n,
                          uint32_t rank, char *indent)
{
    size_t len = strlen(indent);
    uint32_t last = NONE;

    for (uint32_t r = 0; r < n; r++)
        last = parents[r] == rank && r != rank ? r : last;
    for (uint32_t r = 0; r < n; r++) {
        if (parents[r] != rank)
            continue;
        fprintf(to, "  %s%s%" PRIu32 "\n", indent, r == last ? "`- " : "|- ",
                r);
        strcpy(indent + len, r == last ? "   " : "|  ");
        draw_children(to, parents, n, r, indent);
        indent[len] = '\0';
    }
}

static void draw_tree(FILE *to, const struct aspt_coll *coll)
{
    const struct asp_coll_problem *p = coll->problem;
    const struct asp_coll_form *form = &asp_coll_forms[p->op];
    uint8_t action = form->root == ASP_COLL_ROOT_GETS ? ASP_COLL_SEND
                                                      : ASP_COLL_RECV;
    uint32_t parents[TREE_MAX];
    char indent[3 * TREE_MAX + 4] = "";

    if (p->ranks > TREE_MAX || !form->root)
        return;
    for (uint32_t r = 0; r < p->ranks; r++) {
        parents[r] = parent_of(&coll->schedules[r], action);
        if (r != p->root && parents[r] == NONE)
            return; /* it is no tree */
    }
    parents[p->root] = NONE;
    fprintf(to, "\ntree\n  %" PRIu32 "\n", p->root);
    draw_children(to, parents, p->ranks, p->root, indent);
}

/* Depths of all steps, in the order in which they can be. */
static uint32_t *find_depths(struct asp_coll_graph *g)
{
    uint32_t *depth = calloc(g->nsteps + 1, sizeof(*depth));
    uint32_t *queue = malloc((g->nsteps + 1) * sizeof(*queue)), n = 0;

    for (uint32_t r = 0; r < g->ranks && depth; r++)
        for (uint32_t i = g->base[r]; i < g->base[r + 1]; i++)
            g->waits[i] += g->schedules[r].steps[i - g->base[r]].action ==
                           ASP_COLL_RECV;
    for (uint32_t i = 0; i < g->nsteps && depth && queue; i++)
        if (!g->waits[i])
            queue[n++] = i;
    for (uint32_t q = 0; q < n; q++) {
        uint32_t step = queue[q], partner = g->partner[step];

        for (uint32_t f = g->first[step]; f < g->first[step + 1]; f++) {
            uint32_t next = g->followers[f];

            depth[next] = depth[next] < depth[step] ? depth[step] : depth[next];
            if (--g->waits[next] == 0)
                queue[n++] = next;
        }
        if (partner == step || !g->waits[partner])
            continue; /* no message, or its RECV is behind us */
        if (depth[partner] < depth[step] + 1)
            depth[partner] = depth[step] + 1;
        if (--g->waits[partner] == 0)
            queue[n++] = partner;
    }
    free(queue);
    return depth;
}

/* A line that breaks before it gets too long. */
struct line {
    FILE *to;
    int column, lines;
    uint32_t left_out;
};

static void put_message(struct line *line, const struct aspt_coll *coll,
                        uint32_t from, uint32_t peer, uint32_t count)
{
    const uint32_t *node = coll->problem->node;
    char text[64], times[16] = "";
    int len;

    if (count > 1)
        snprintf(times, sizeof(times), "(x%" PRIu32 ")", count);
    len = snprintf(text, sizeof(text), " %" PRIu32 "%s%" PRIu32 "%s", from,
                   node[from] == node[peer] ? ">" : "=>", peer, times);
    if (line->column + len > ASPT_WIDTH) {
        line->lines++;
        line->column = 5;
        if (line->lines < LINES_OF_ROUND)
            fprintf(line->to, "\n     ");
    }
    if (line->lines >= LINES_OF_ROUND) {
        line->left_out++;
        return;
    }
    fputs(text, line->to);
    line->column += len;
}

/* Messages of rank from in a round; depth begins with its first step. Those to
 * one peer are told once. */
static void put_rank(struct line *line, const struct aspt_coll *coll,
                     uint32_t from, const uint32_t *depth, uint32_t round)
{
    const struct asp_coll_schedule *s = &coll->schedules[from];

    for (uint32_t i = 0; i < s->nsteps; i++) {
        uint32_t before = 0, count = 0;

        if (s->steps[i].action != ASP_COLL_SEND || depth[i] + 1 != round)
            continue;
        for (uint32_t j = 0; j < s->nsteps; j++) {
            bool same = s->steps[j].action == ASP_COLL_SEND &&
                        s->steps[j].peer == s->steps[i].peer &&
                        depth[j] + 1 == round;

            count += same;
            before += same && j < i;
        }
        if (!before)
            put_message(line, coll, from, s->steps[i].peer, count);
    }
}

static void draw_round(FILE *to, const struct aspt_coll *coll,
                       const struct asp_coll_graph *g, const uint32_t *depth,
                       uint32_t round)
{
    struct line line = {.to = to, .column = 5};

    fprintf(to, "%4" PRIu32 " ", round);
    for (uint32_t r = 0; r < g->ranks; r++)
        put_rank(&line, coll, r, depth + g->base[r], round);
    if (line.left_out)
        fprintf(to, "\n      and %" PRIu32 " more", line.left_out);
    fputc('\n', to);
}

int aspt_coll_draw(FILE *to, const struct aspt_coll *coll, struct asp_err *err)
{
    struct asp_coll_graph g;
    uint32_t rounds = 0, *depth;

    if (asp_coll_graph_make(coll->schedules, coll->problem->ranks, &g, err) < 0)
        return -1;
    depth = find_depths(&g);
    if (!depth) {
        asp_coll_graph_destroy(&g);
        return asp_errf(err, ENOMEM, "out of memory");
    }
    draw_tree(to, coll);
    for (uint32_t i = 0; i < g.nsteps; i++)
        rounds = depth[i] > rounds ? depth[i] : rounds;
    fprintf(to, "\nrounds (> inside of a node, => between nodes)\n");
    for (uint32_t round = 1; round <= rounds && round <= ROUNDS_MAX; round++)
        draw_round(to, coll, &g, depth, round);
    if (rounds > ROUNDS_MAX)
        fprintf(to, "     and %" PRIu32 " rounds more\n", rounds - ROUNDS_MAX);
    free(depth);
    asp_coll_graph_destroy(&g);
    return 0;
}
