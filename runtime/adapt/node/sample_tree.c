/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "sample_tree.h"

#include "runtime/adapt/decide/job_controller.h"
#include "node_stats.h"
#include "leaders.h"

#include "runtime/mpi/real.h"

#include <stdlib.h>
#include <string.h>

/* Operations under way in the old direction, and the time until all have heard
 * of the new one, are not counted. */
static const double SETTLE_S = 12e-3;
/* Who has heard of no new order for so long may be asleep when one comes, for
 * as long as a leader that nobody wants naps. */
static const double CALM_S = 1, SETTLE_CALM_S = 32e-3;
/* Whoever is so late has left, or his node has no CPU for him. */
static const double LAPSE_S = 1;
/* Neighbours that leave say so, and wait to hear it from us, but no longer. */
static const double PART_S = 1;
/* In the place of a round, with which messages of both kinds begin. */
static const uint32_t GOODBYE = UINT32_MAX;

struct order_message {
    uint32_t round;
    int16_t force, help; /* enum aspx_force, enum aspx_help */
    double seconds;
};

struct report_message {
    uint32_t round, unused;
    struct aspx_demand demand;
};

/* A leader below. */
struct child {
    int rank;
    MPI_Request receive, send;
    struct report_message in;
    struct order_message out;
    bool in_hand; /* its report of this round has come */
};

struct aspx_rounds {
    MPI_Comm comm;
    struct aspx_notes *notes;
    struct aspx_gauge *gauge;
    struct aspx_chief *chief; /* at the root */
    int parent;
    MPI_Request receive, send;
    struct order_message in;           /* from the parent */
    struct order_message order;        /* in force */
    struct report_message report, out; /* so far; as it was sent */
    enum { WAITING, SETTLING, COUNTING, COUNTED } state;
    uint64_t next, lapses; /* ticks */
    uint64_t changed; /* when the last order came that was not the one before */
    int came;         /* messages in this step */
    uint32_t nchildren;
    struct child child[ASPX_CHILDREN];
};

static int open_ears(struct aspx_rounds *rounds, const struct aspx_tree *tree)
{
    rounds->parent = tree->parent;
    if (tree->parent >= 0 &&
        aspx_real.MPI_Irecv(&rounds->in, sizeof(rounds->in), MPI_BYTE,
                            tree->parent, ASPX_ORDER_TAG, rounds->comm,
                            &rounds->receive) != MPI_SUCCESS)
        return -1;
    for (uint32_t c = 0; c < tree->nchildren; c++) {
        struct child *child = &rounds->child[rounds->nchildren++];

        child->rank = tree->child[c];
        child->receive = child->send = MPI_REQUEST_NULL;
        if (aspx_real.MPI_Irecv(&child->in, sizeof(child->in), MPI_BYTE,
                                child->rank, ASPX_REPORT_TAG, rounds->comm,
                                &child->receive) != MPI_SUCCESS)
            return -1;
    }
    return 0;
}

/* Ranks with offload threads have what makes progress. */
static enum aspx_messages_mode messages_mode(const struct asp_layout *layout)
{
    const char *knob = asp_layout_knob(layout, "adapt.threads", "auto");

    return asp_layout_offloads(layout) || strcmp(knob, "off") == 0
               ? ASPX_MESSAGES_OFF
           : strcmp(knob, "on") == 0 ? ASPX_MESSAGES_ON
                                     : ASPX_MESSAGES_AUTO;
}

struct aspx_rounds *aspx_rounds_create(const struct aspx_engine *engine,
                                       struct aspx_notes *notes)
{
    const struct aspx_world *world = engine->world;
    struct aspx_rounds *rounds = calloc(1, sizeof(*rounds));
    struct aspx_tree tree;
    uint32_t root = 0;

    if (!rounds)
        return NULL;
    rounds->comm = engine->locks;
    rounds->notes = notes;
    rounds->parent = -1;
    rounds->receive = rounds->send = MPI_REQUEST_NULL;
    rounds->gauge = aspx_gauge_create(engine, notes);
    for (int r = 0; r < world->size_all; r++)
        if (world->peers[r].rank_user == 0)
            root = world->peers[r].node;
    if (!rounds->gauge || aspx_leaders_tree(engine, root, &tree) != 0 ||
        open_ears(rounds, &tree) != 0)
        goto err;
    if (tree.parent < 0) {
        rounds->chief = malloc(sizeof(*rounds->chief));
        if (!rounds->chief)
            goto err;
        aspx_chief_begin(rounds->chief, aspx_clock_seconds(aspx_clock_ticks()),
                         messages_mode(world->layout));
    }
    return rounds;
err:
    aspx_rounds_destroy(rounds);
    return NULL;
}

enum aspx_force aspx_rounds_force(const struct aspx_rounds *rounds)
{
    return (enum aspx_force) rounds->order.force;
}

enum aspx_help aspx_rounds_help(const struct aspx_rounds *rounds)
{
    return (enum aspx_help) rounds->order.help;
}

/* A message of the round before has gone, or it is lost with its reader: then
 * nothing more is told. */
static int send(const struct aspx_rounds *rounds, const void *what,
                void *buffer, size_t bytes, int to, int tag,
                MPI_Request *request)
{
    int sent = 1;

    if (*request != MPI_REQUEST_NULL &&
        aspx_real.MPI_Test(request, &sent, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return -1;
    if (!sent)
        return 0;
    memcpy(buffer, what, bytes);
    return aspx_real.MPI_Isend(buffer, (int) bytes, MPI_BYTE, to, tag,
                               rounds->comm, request) == MPI_SUCCESS
               ? 0
               : -1;
}

/* A new order: pass it on and obey. */
static int begin(struct aspx_rounds *rounds, uint64_t ticks,
                 const struct order_message *order)
{
    bool changed = order->force != rounds->order.force ||
                   order->help != rounds->order.help;
    double calm_s = aspx_clock_seconds(
        aspx_clock_between(rounds->changed, ticks));
    int rc = 0;

    rounds->order = *order;
    rounds->state = SETTLING;
    rounds->next = ticks + aspx_clock_ticks_of(!changed          ? 0
                                               : calm_s > CALM_S ? SETTLE_CALM_S
                                                                 : SETTLE_S);
    if (changed)
        rounds->changed = ticks;
    rounds->lapses = ticks + aspx_clock_ticks_of(order->seconds + LAPSE_S);
    for (uint32_t c = 0; rc == 0 && c < rounds->nchildren; c++) {
        struct child *child = &rounds->child[c];

        child->in_hand = false;
        rc = send(rounds, order, &child->out, sizeof(child->out), child->rank,
                  ASPX_ORDER_TAG, &child->send);
    }
    return rc;
}

/* Let the first user see what is new. */
static void note(const struct aspx_rounds *rounds)
{
    const struct aspx_decisions *all = &rounds->chief->decisions;
    struct aspx_decided_notes *notes = &rounds->notes->decided;
    uint32_t n = atomic_load_explicit(&notes->n, memory_order_relaxed);

    for (; n < all->n; n++)
        notes->list[n] = all->list[n];
    atomic_store_explicit(&notes->more, all->more, memory_order_relaxed);
    atomic_store_explicit(&notes->n, n, memory_order_release);
}

static int begin_next(struct aspx_rounds *rounds, uint64_t ticks)
{
    struct aspx_order order = aspx_chief_order(rounds->chief);
    const struct order_message message = {
        .round = rounds->order.round + 1,
        .force = (int16_t) order.force,
        .help = (int16_t) order.help,
        .seconds = order.seconds,
    };

    return begin(rounds, ticks, &message);
}

/* Take what children have sent. Reports of another round are late. */
static int hear_children(struct aspx_rounds *rounds)
{
    for (uint32_t c = 0; c < rounds->nchildren; c++) {
        struct child *child = &rounds->child[c];
        int came = 0;

        if (child->receive == MPI_REQUEST_NULL)
            continue;
        if (aspx_real.MPI_Test(&child->receive, &came, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
            return -1;
        rounds->came += came;
        if (!came || child->in.round == GOODBYE)
            continue;
        if (child->in.round == rounds->order.round && !child->in_hand) {
            aspx_demand_add(&rounds->report.demand, &child->in.demand);
            child->in_hand = true;
        }
        if (aspx_real.MPI_Irecv(&child->in, sizeof(child->in), MPI_BYTE,
                                child->rank, ASPX_REPORT_TAG, rounds->comm,
                                &child->receive) != MPI_SUCCESS)
            return -1;
    }
    return 0;
}

static int hear_parent(struct aspx_rounds *rounds, uint64_t ticks)
{
    struct order_message order;
    int came = 0;

    if (rounds->receive == MPI_REQUEST_NULL)
        return 0;
    if (aspx_real.MPI_Test(&rounds->receive, &came, MPI_STATUS_IGNORE) !=
        MPI_SUCCESS)
        return -1;
    rounds->came += came;
    if (!came || rounds->in.round == GOODBYE)
        return 0;
    order = rounds->in;
    if (aspx_real.MPI_Irecv(&rounds->in, sizeof(rounds->in), MPI_BYTE,
                            rounds->parent, ASPX_ORDER_TAG, rounds->comm,
                            &rounds->receive) != MPI_SUCCESS)
        return -1;
    return begin(rounds, ticks, &order);
}

/* All have counted: up, or to the chief. */
static int finish(struct aspx_rounds *rounds, uint64_t ticks)
{
    for (uint32_t c = 0; c < rounds->nchildren; c++)
        if (!rounds->child[c].in_hand)
            return 0;
    rounds->state = WAITING;
    if (rounds->parent >= 0) {
        rounds->report.round = rounds->order.round;
        return send(rounds, &rounds->report, &rounds->out, sizeof(rounds->out),
                    rounds->parent, ASPX_REPORT_TAG, &rounds->send);
    }
    aspx_chief_round(rounds->chief, aspx_clock_seconds(ticks),
                     &rounds->report.demand);
    note(rounds);
    return begin_next(rounds, ticks);
}

static int step(struct aspx_rounds *rounds, uint64_t ticks, uint32_t wishing)
{
    struct aspx_demand unwanted;

    aspx_gauge_look(rounds->gauge, ticks, wishing);
    if (hear_parent(rounds, ticks) != 0)
        return -1;
    if (rounds->parent < 0 && rounds->order.round == 0 &&
        begin_next(rounds, ticks) != 0)
        return -1;
    if (rounds->state == SETTLING && ticks >= rounds->next) {
        aspx_gauge_take(rounds->gauge, ticks, &unwanted);
        rounds->report.demand = (struct aspx_demand){0};
        rounds->state = COUNTING;
        rounds->next = ticks + aspx_clock_ticks_of(rounds->order.seconds);
    }
    if (rounds->state >= COUNTING && hear_children(rounds) != 0)
        return -1;
    if (rounds->state == COUNTING && ticks >= rounds->next) {
        struct aspx_demand own;

        aspx_gauge_take(rounds->gauge, ticks, &own);
        aspx_demand_add(&rounds->report.demand, &own);
        rounds->state = COUNTED;
    }
    if (ticks > rounds->lapses) {
        rounds->order.force = ASPX_FORCE_NONE;
        rounds->order.help = ASPX_HELP_NONE;
    }
    return rounds->state == COUNTED ? finish(rounds, ticks) : 0;
}

int aspx_rounds_step(struct aspx_rounds *rounds, uint64_t ticks,
                     uint32_t wishing)
{
    rounds->came = 0;
    return step(rounds, ticks, wishing) == 0 ? rounds->came : -1;
}

/* One neighbour, when we part. */
struct line {
    int rank, hear_tag, tell_tag;
    MPI_Request *receive, *send;
    void *in, *out;
    size_t in_bytes, out_bytes;
    bool told;
};

static uint32_t find_lines(struct aspx_rounds *rounds, struct line *line)
{
    uint32_t n = 0;

    if (rounds->parent >= 0)
        line[n++] = (struct line){rounds->parent,      ASPX_ORDER_TAG,
                                  ASPX_REPORT_TAG,     &rounds->receive,
                                  &rounds->send,       &rounds->in,
                                  &rounds->out,        sizeof(rounds->in),
                                  sizeof(rounds->out), false};
    for (uint32_t c = 0; c < rounds->nchildren; c++) {
        struct child *child = &rounds->child[c];

        line[n++] = (struct line){child->rank,        ASPX_REPORT_TAG,
                                  ASPX_ORDER_TAG,     &child->receive,
                                  &child->send,       &child->in,
                                  &child->out,        sizeof(child->in),
                                  sizeof(child->out), false};
    }
    return n;
}

/* Returns whether all is said on this line, or nothing can be. */
static bool part_from(const struct aspx_rounds *rounds, struct line *line)
{
    int done = 1;

    if (*line->send != MPI_REQUEST_NULL &&
        aspx_real.MPI_Test(line->send, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return true;
    if (done && !line->told) {
        line->told = true;
        memset(line->out, 0, line->out_bytes);
        memcpy(line->out, &GOODBYE, sizeof(GOODBYE));
        if (aspx_real.MPI_Isend(line->out, (int) line->out_bytes, MPI_BYTE,
                                line->rank, line->tell_tag, rounds->comm,
                                line->send) != MPI_SUCCESS)
            return true;
        done = 0;
    }
    if (*line->receive == MPI_REQUEST_NULL)
        return done;
    if (aspx_real.MPI_Test(line->receive, &done, MPI_STATUS_IGNORE) !=
        MPI_SUCCESS)
        return true;
    if (done && memcmp(line->in, &GOODBYE, sizeof(GOODBYE)) != 0 &&
        aspx_real.MPI_Irecv(line->in, (int) line->in_bytes, MPI_BYTE,
                            line->rank, line->hear_tag, rounds->comm,
                            line->receive) != MPI_SUCCESS)
        return true;
    return false;
}

/* What neighbours have sent is taken before we go: MPI would complain of it. */
static void part(struct aspx_rounds *rounds)
{
    uint64_t until = aspx_clock_ticks() + aspx_clock_ticks_of(PART_S);
    struct line line[ASPX_CHILDREN + 1];
    uint32_t n = find_lines(rounds, line), left;

    do {
        left = 0;
        for (uint32_t i = 0; i < n; i++)
            left += !part_from(rounds, &line[i]);
    } while (left > 0 && aspx_clock_ticks() < until);
}

/* Returns whether nothing of it is under way any more. */
static bool hang_up(MPI_Request *receive, MPI_Request *out)
{
    int sent = 1;

    if (*receive != MPI_REQUEST_NULL) {
        aspx_real.MPI_Cancel(receive);
        aspx_real.MPI_Wait(receive, MPI_STATUS_IGNORE);
    }
    if (*out != MPI_REQUEST_NULL)
        aspx_real.MPI_Test(out, &sent, MPI_STATUS_IGNORE);
    if (!sent)
        aspx_real.MPI_Request_free(out);
    return sent;
}

/* A message that is still under way keeps its buffer. */
void aspx_rounds_destroy(struct aspx_rounds *rounds)
{
    bool sent;

    if (!rounds)
        return;
    part(rounds);
    sent = hang_up(&rounds->receive, &rounds->send);
    for (uint32_t c = 0; c < rounds->nchildren; c++)
        sent &= hang_up(&rounds->child[c].receive, &rounds->child[c].send);
    aspx_gauge_destroy(rounds->gauge);
    free(rounds->chief);
    if (sent)
        free(rounds);
}
