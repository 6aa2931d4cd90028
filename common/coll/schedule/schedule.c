/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules: additions and tags. The needs are in needs.c. */
#include "common/coll/schedule/schedule.h"
#include "common/coll/schedule/needs.h"

#include <errno.h>
#include <stdlib.h>

enum { SCRATCH_ALIGN = 64, STEPS_FIRST = 16 };

static struct asp_coll_step *add(struct asp_coll_schedule *s,
                                 enum asp_coll_action action, size_t bytes)
{
    uint32_t capacity = s->steps_max ? 2 * s->steps_max : STEPS_FIRST;
    struct asp_coll_step *steps;

    if (!bytes || s->error)
        return NULL;
    if (s->nsteps == s->steps_max) {
        steps = realloc(s->steps, capacity * sizeof(*steps));
        if (!steps) {
            s->error = ENOMEM;
            return NULL;
        }
        s->steps = steps;
        s->steps_max = capacity;
    }
    s->steps[s->nsteps] = (struct asp_coll_step){
        .action = (uint8_t) action,
        .bytes = bytes,
    };
    return &s->steps[s->nsteps++];
}

void asp_coll_send(struct asp_coll_schedule *s, uint32_t peer, uint32_t round,
                   struct asp_coll_place from, size_t bytes)
{
    struct asp_coll_step *step = add(s, ASP_COLL_SEND, bytes);

    if (!step)
        return;
    step->peer = peer;
    step->round = round;
    step->from_buffer = (uint8_t) from.buffer;
    step->from = from.offset;
}

void asp_coll_recv(struct asp_coll_schedule *s, uint32_t peer, uint32_t round,
                   struct asp_coll_place to, size_t bytes)
{
    struct asp_coll_step *step = add(s, ASP_COLL_RECV, bytes);

    if (!step)
        return;
    step->peer = peer;
    step->round = round;
    step->to_buffer = (uint8_t) to.buffer;
    step->to = to.offset;
}

static void add_local(struct asp_coll_schedule *s, enum asp_coll_action action,
                      struct asp_coll_place from, struct asp_coll_place to,
                      size_t bytes)
{
    struct asp_coll_step *step = add(s, action, bytes);

    if (!step)
        return;
    step->from_buffer = (uint8_t) from.buffer;
    step->from = from.offset;
    step->to_buffer = (uint8_t) to.buffer;
    step->to = to.offset;
}

void asp_coll_copy(struct asp_coll_schedule *s, struct asp_coll_place from,
                   struct asp_coll_place to, size_t bytes)
{
    add_local(s, ASP_COLL_COPY, from, to, bytes);
}

void asp_coll_reduce_local(struct asp_coll_schedule *s,
                           struct asp_coll_place from, struct asp_coll_place to,
                           size_t bytes)
{
    add_local(s, ASP_COLL_REDUCE_LOCAL, from, to, bytes);
}

void asp_coll_behind(struct asp_coll_schedule *s, uint32_t earlier)
{
    uint32_t steps = s->error || !s->nsteps ? 0 : s->nsteps - 1 - earlier;

    if (steps > 0 && steps <= UINT8_MAX)
        s->steps[s->nsteps - 1].behind = (uint8_t) steps;
}

struct asp_coll_place asp_coll_scratch(struct asp_coll_schedule *s,
                                       size_t bytes)
{
    size_t offset = s->scratch;

    s->scratch += (bytes + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
    return asp_coll_at(ASP_COLL_SCRATCH, offset);
}

struct asp_coll_place asp_coll_signals(struct asp_coll_schedule *s,
                                       uint32_t cells)
{
    uint32_t first = s->signals;

    s->signals += cells;
    return asp_coll_at(ASP_COLL_SIGNAL, first);
}

/* A message, for sorting. */
struct message {
    uint32_t peer, round, step;
    uint8_t action;
};

static int compare(const void *one, const void *other)
{
    const struct message *a = one, *b = other;

    if (a->action != b->action)
        return a->action < b->action ? -1 : 1;
    if (a->peer != b->peer)
        return a->peer < b->peer ? -1 : 1;
    return (a->round > b->round) - (a->round < b->round);
}

static int number(struct asp_coll_schedule *s, struct message *messages,
                  uint32_t n)
{
    uint32_t tag = 0;

    qsort(messages, n, sizeof(*messages), compare);
    for (uint32_t i = 0; i < n; i++) {
        bool same = i && messages[i].action == messages[i - 1].action &&
                    messages[i].peer == messages[i - 1].peer;

        if (same && messages[i].round == messages[i - 1].round) {
            errno = EINVAL;
            return -1;
        }
        tag = same ? tag + 1 : 0;
        if (tag >= ASP_COLL_TAGS) {
            errno = ERANGE;
            return -1;
        }
        s->steps[messages[i].step].tag = tag;
    }
    return 0;
}

static int set_tags(struct asp_coll_schedule *s)
{
    struct message *messages = malloc((s->nsteps + 1) * sizeof(*messages));
    uint32_t n = 0;
    int rc;

    if (!messages)
        return -1;
    for (uint32_t i = 0; i < s->nsteps; i++) {
        const struct asp_coll_step *step = &s->steps[i];

        if (step->action == ASP_COLL_SEND || step->action == ASP_COLL_RECV)
            messages[n++] = (struct message){step->peer, step->round, i,
                                             step->action};
    }
    rc = number(s, messages, n);
    free(messages);
    return rc;
}

int asp_coll_finish(struct asp_coll_schedule *s)
{
    if (s->error) {
        errno = s->error;
        return -1;
    }
    return set_tags(s) < 0 ? -1 : asp_coll_needs(s);
}

void asp_coll_reset(struct asp_coll_schedule *s)
{
    s->nsteps = s->nneeds = s->signals = 0;
    s->scratch = 0;
    s->error = 0;
}

void asp_coll_destroy(struct asp_coll_schedule *s)
{
    free(s->steps);
    free(s->needs);
    *s = (struct asp_coll_schedule){0};
}
