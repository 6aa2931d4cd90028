/* SPDX-License-Identifier: BSD-3-Clause */
/* A processor or a port serves one step at a time: all that get ready at t or
 * later end no earlier than t plus their sum. The bound is the largest. */
#include "common/coll/model/busy_period.h"

#include <stdlib.h>

/* A thing to serve: from when on, and for how long, ps. */
struct asp_coll_item {
    int64_t from, length;
};

/* Who serves: the processor, and the ports out and in, for both classes. */
enum server { CPU, OUT, IN };

bool asp_coll_crosses(const struct asp_coll_busy_periods *busy, uint32_t rank,
                      const struct asp_coll_step *step)
{
    bool message = step->action == ASP_COLL_SEND ||
                   step->action == ASP_COLL_RECV;

    return message && busy->nodes->of[rank] != busy->nodes->of[step->peer];
}

const struct asp_coll_link *asp_coll_link_of(
    const struct asp_coll_busy_periods *busy, bool between)
{
    return between ? &busy->machine->between : &busy->machine->inside;
}

int64_t asp_coll_work(const struct asp_coll_busy_periods *busy, uint32_t rank,
                      const struct asp_coll_step *step)
{
    if (step->action == ASP_COLL_COPY)
        return asp_coll_ps_times(busy->machine->copy, step->bytes);
    if (step->action == ASP_COLL_REDUCE_LOCAL)
        return asp_coll_ps_times(busy->machine->reduce, step->bytes);
    return asp_coll_link_of(busy, asp_coll_crosses(busy, rank, step))->overhead;
}

static void add(struct asp_coll_busy_periods *busy, int64_t from,
                int64_t length)
{
    uint32_t capacity = busy->capacity ? 2 * busy->capacity : 64;
    struct asp_coll_item *items = busy->items;

    if (busy->nitems == busy->capacity) {
        items = realloc(items, capacity * sizeof(*items));
        if (!items)
            return;
        busy->items = items;
        busy->capacity = capacity;
    }
    busy->items[busy->nitems++] = (struct asp_coll_item){from, length};
}

/* Step i, if it is for this server. */
static void add_step(struct asp_coll_busy_periods *busy,
                     const struct asp_coll_visited *visited, uint32_t i,
                     enum server server, bool between)
{
    static const uint8_t actions[] = {
        [OUT] = ASP_COLL_SEND,
        [IN] = ASP_COLL_RECV,
    };
    const struct asp_coll_step *step = &visited->s.steps[i];
    const struct asp_coll_mark *mark = &visited->marks[i];
    const struct asp_coll_link *l = asp_coll_link_of(busy, between);

    if (server == CPU)
        add(busy, mark->ready, asp_coll_work(busy, visited->rank, step));
    else if (step->action == actions[server] &&
             asp_coll_crosses(busy, visited->rank, step) == between)
        add(busy, server == OUT ? mark->cpu : mark->port,
            asp_coll_ps_add(
                l->gap, asp_coll_ps_times(l->byte, asp_coll_payload(step))));
}

static int later(const void *one, const void *other)
{
    const struct asp_coll_item *a = one, *b = other;

    return (a->from < b->from) - (a->from > b->from);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The end of the busy period; the list is empty again. */
static int64_t sum_up(struct asp_coll_busy_periods *busy)
{
    int64_t sum = 0, end = 0;

    if (busy->nitems > 1)
        qsort(busy->items, busy->nitems, sizeof(*busy->items), later);
    for (uint32_t i = 0; i < busy->nitems; i++) {
        sum = asp_coll_ps_add(sum, busy->items[i].length);
        end = larger(end, asp_coll_ps_add(busy->items[i].from, sum));
    }
    busy->nitems = 0;
    return end;
}

/* From when a port is free again to what follows its last message at least: the
 * port was not needed for the gap, and a message that came is received; one
 * that goes has to arrive, if that is asked for. */
static int64_t after(const struct asp_coll_link *l, enum server server,
                     bool arrives)
{
    if (server == CPU)
        return 0;
    if (server == OUT && !arrives)
        return -l->gap;
    return -l->gap + l->overhead + (server == OUT ? l->latency : 0);
}

static int64_t end_of(struct asp_coll_busy_periods *busy, enum server server,
                      bool between, bool arrives)
{
    bool any = busy->nitems > 0;
    int64_t end = sum_up(busy);

    return any ? asp_coll_ps_add(end, after(asp_coll_link_of(busy, between),
                                            server, arrives))
               : 0;
}

int64_t asp_coll_busy_needs(struct asp_coll_busy_periods *busy,
                            const struct asp_coll_visited *visited,
                            const struct asp_coll_step *step)
{
    const uint32_t *needs;
    int64_t end = 0;

    if (step->nneeds == 0)
        return 0; /* and there may be no array of needs */
    needs = visited->s.needs + step->needs_first;
    for (uint32_t k = 0; k < step->nneeds; k++)
        end = larger(end, visited->marks[needs[k]].end);
    for (int server = CPU; server <= IN && step->nneeds > 1; server++)
        for (int between = 0; between < (server == CPU ? 1 : 2); between++) {
            for (uint32_t k = 0; k < step->nneeds; k++)
                add_step(busy, visited, needs[k], (enum server) server,
                         between);
            end = larger(end,
                         end_of(busy, (enum server) server, between, false));
        }
    return end;
}

int64_t asp_coll_busy_rank(struct asp_coll_busy_periods *busy,
                           const struct asp_coll_visited *visited)
{
    int64_t end = 0;

    for (uint32_t i = 0; i < visited->s.nsteps; i++) {
        const struct asp_coll_step *step = &visited->s.steps[i];
        const struct asp_coll_link *l = asp_coll_link_of(
            busy, asp_coll_crosses(busy, visited->rank, step));
        bool sends = step->action == ASP_COLL_SEND;

        if (visited->marks[i].state == ASP_COLL_KNOWN)
            end = larger(end,
                         asp_coll_ps_add(visited->marks[i].end,
                                         sends ? l->latency + l->overhead : 0));
    }
    for (int server = CPU; server <= IN; server++)
        for (int between = 0; between < (server == CPU ? 1 : 2); between++) {
            for (uint32_t i = 0; i < visited->s.nsteps; i++)
                add_step(busy, visited, i, (enum server) server, between);
            end = larger(end,
                         end_of(busy, (enum server) server, between, true));
        }
    return end;
}

int64_t asp_coll_busy_node(struct asp_coll_busy_periods *busy,
                           const struct asp_coll_visited *visits,
                           uint32_t nvisits, uint32_t node)
{
    int64_t end = 0;

    for (int server = OUT; server <= IN; server++) {
        for (uint32_t r = 0; r < nvisits; r++)
            for (uint32_t i = 0; busy->nodes->of[visits[r].rank] == node &&
                                 i < visits[r].s.nsteps;
                 i++)
                add_step(busy, &visits[r], i, (enum server) server, true);
        end = larger(end, end_of(busy, (enum server) server, true, true));
    }
    return end;
}

void asp_coll_busy_destroy(struct asp_coll_busy_periods *busy)
{
    free(busy->items);
    busy->items = NULL;
    busy->nitems = busy->capacity = 0;
}
