/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages are matched rank by rank: the RECVs of each are sorted by (peer,
 * tag) once, and each SEND is looked up among those of its receiver. */
#include "common/coll/schedule/match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t NONE = UINT32_MAX;

struct end {
    uint32_t peer, tag, number;
};

/* The RECVs of all ranks; those of rank r are at first[r] to first[r + 1]. */
struct inbox {
    struct end *ends;
    uint32_t *first;
};

static int compare(const void *one, const void *other)
{
    const struct end *a = one, *b = other;

    if (a->peer != b->peer)
        return a->peer < b->peer ? -1 : 1;
    return (a->tag > b->tag) - (a->tag < b->tag);
}

static void fill_inbox(const struct asp_coll_graph *graph, struct inbox *inbox)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < graph->ranks; r++) {
        const struct asp_coll_schedule *s = &graph->schedules[r];

        inbox->first[r] = n;
        for (uint32_t i = 0; i < s->nsteps; i++)
            if (s->steps[i].action == ASP_COLL_RECV)
                inbox->ends[n++] = (struct end){
                    s->steps[i].peer, s->steps[i].tag, graph->base[r] + i};
        qsort(inbox->ends + inbox->first[r], n - inbox->first[r],
              sizeof(*inbox->ends), compare);
    }
    inbox->first[graph->ranks] = n;
}

static int complain(uint32_t rank, uint32_t step, const char *what,
                    struct asp_err *err)
{
    return asp_errf(err, EINVAL, "rank %u, step %u: %s", (unsigned) rank,
                    (unsigned) step, what);
}

/* Find the other end of SEND i of rank r. */
static int match_send(struct asp_coll_graph *graph, const struct inbox *inbox,
                      uint32_t r, uint32_t i, struct asp_err *err)
{
    const struct asp_coll_step *send = &graph->schedules[r].steps[i], *recv;
    struct end key = {r, send->tag, 0}, *end = NULL;
    uint32_t to = send->peer;

    if (to < graph->ranks)
        end = bsearch(&key, inbox->ends + inbox->first[to],
                      inbox->first[to + 1] - inbox->first[to],
                      sizeof(*inbox->ends), compare);
    if (!end)
        return complain(r, i, "nobody receives this message", err);
    recv = &graph->schedules[to].steps[end->number - graph->base[to]];
    if (asp_coll_payload(send) != asp_coll_payload(recv) ||
        send->round != recv->round)
        return complain(r, i, "the receiver expects another message", err);
    graph->partner[graph->base[r] + i] = end->number;
    graph->partner[end->number] = graph->base[r] + i;
    return 0;
}

static int match_rank(struct asp_coll_graph *graph, const struct inbox *inbox,
                      uint32_t r, struct asp_err *err)
{
    const struct asp_coll_schedule *s = &graph->schedules[r];

    for (uint32_t i = 0; i < s->nsteps; i++) {
        uint32_t number = graph->base[r] + i;

        if (s->steps[i].action == ASP_COLL_SEND) {
            if (match_send(graph, inbox, r, i, err) < 0)
                return -1;
        } else if (s->steps[i].action != ASP_COLL_RECV)
            graph->partner[number] = number;
    }
    return 0;
}

/* A RECV that no SEND has found. */
static int find_lonely(const struct asp_coll_graph *graph, struct asp_err *err)
{
    for (uint32_t r = 0; r < graph->ranks; r++)
        for (uint32_t n = graph->base[r]; n < graph->base[r + 1]; n++)
            if (graph->partner[n] == NONE)
                return complain(r, n - graph->base[r],
                                "nobody sends this message", err);
    return 0;
}

static int match_all(struct asp_coll_graph *graph, struct asp_err *err)
{
    struct inbox inbox = {
        .ends = malloc((graph->nsteps + 1) * sizeof(*inbox.ends)),
        .first = malloc((graph->ranks + 1) * sizeof(*inbox.first)),
    };
    int rc = 0;

    if (!inbox.ends || !inbox.first) {
        rc = asp_errf(err, ENOMEM, "out of memory");
    } else {
        fill_inbox(graph, &inbox);
        memset(graph->partner, 0xff, graph->nsteps * sizeof(*graph->partner));
        for (uint32_t r = 0; r < graph->ranks && rc == 0; r++)
            rc = match_rank(graph, &inbox, r, err);
        if (rc == 0)
            rc = find_lonely(graph, err);
    }
    free(inbox.ends);
    free(inbox.first);
    return rc;
}

/* Turn the needs around. */
static void link_rank(struct asp_coll_graph *graph, uint32_t r, uint32_t *fill)
{
    const struct asp_coll_schedule *s = &graph->schedules[r];
    uint32_t base = graph->base[r];

    for (uint32_t i = 0; i < s->nsteps; i++) {
        const struct asp_coll_step *step = &s->steps[i];

        for (uint32_t k = 0; k < step->nneeds; k++) {
            uint32_t before = base + s->needs[step->needs_first + k];

            if (fill)
                graph->followers[fill[before]++] = base + i;
            else
                graph->first[before + 1]++;
        }
        graph->waits[base + i] = s->steps[i].nneeds;
    }
}

static int link_all(struct asp_coll_graph *graph)
{
    uint32_t *fill = malloc((graph->nsteps + 1) * sizeof(*fill));

    for (uint32_t r = 0; r < graph->ranks; r++)
        link_rank(graph, r, NULL);
    for (uint32_t n = 0; n < graph->nsteps; n++)
        graph->first[n + 1] += graph->first[n];
    graph->followers = malloc((graph->first[graph->nsteps] + 1) *
                              sizeof(*graph->followers));
    if (fill && graph->followers) {
        memcpy(fill, graph->first, graph->nsteps * sizeof(*fill));
        for (uint32_t r = 0; r < graph->ranks; r++)
            link_rank(graph, r, fill);
    }
    free(fill);
    return fill && graph->followers ? 0 : -1;
}

static int count_steps(struct asp_coll_graph *graph, struct asp_err *err)
{
    uint64_t total = 0;

    for (uint32_t r = 0; r < graph->ranks; r++) {
        graph->base[r] = (uint32_t) total;
        total += graph->schedules[r].nsteps;
        if (total >> 31)
            return asp_errf(err, E2BIG, "more than 2^31 steps");
    }
    graph->base[graph->ranks] = graph->nsteps = (uint32_t) total;
    return 0;
}

int asp_coll_graph_make(const struct asp_coll_schedule *schedules,
                        uint32_t ranks, struct asp_coll_graph *graph_p,
                        struct asp_err *err)
{
    struct asp_coll_graph g = {.ranks = ranks, .schedules = schedules};
    int rc = -1;

    g.base = malloc((ranks + 1) * sizeof(*g.base));
    if (!g.base || count_steps(&g, err) < 0)
        goto out;
    g.partner = malloc((g.nsteps + 1) * sizeof(*g.partner));
    g.waits = malloc((g.nsteps + 1) * sizeof(*g.waits));
    g.first = calloc(g.nsteps + 1, sizeof(*g.first));
    if (!g.partner || !g.waits || !g.first || link_all(&g) < 0)
        asp_errf(err, ENOMEM, "out of memory");
    else
        rc = match_all(&g, err);
out:
    if (rc < 0)
        asp_coll_graph_destroy(&g);
    *graph_p = g;
    return rc;
}

void asp_coll_graph_destroy(struct asp_coll_graph *graph)
{
    int error = errno;

    free(graph->base);
    free(graph->partner);
    free(graph->waits);
    free(graph->first);
    free(graph->followers);
    *graph = (struct asp_coll_graph){0};
    errno = error;
}
