/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds of the job along the tree of leaders: see sample_tree.h.
 *
 *   state     | until                             | meanwhile
 *   WAITING   | an order comes from above         |
 *   SETTLING  | it holds everywhere               |
 *   COUNTING  | its time is over                  | reports come from below
 *   COUNTED   | all reports from below have come  | likewise */
#include "config.h"

#include "sample_tree.h"

#include "runtime/adapt/decide/job_controller.h"
#include "node_stats.h"
#include "leaders.h"

#include "runtime/base/log.h"
#include "runtime/mpi/real.h"

#include <stdlib.h>
#include <string.h>

/* Time after a new order in which nothing is counted: until all leaders have
 * heard of it, and operations on the old way have ended. */
static const double SETTLE_S = 12e-3;
/* The same after a second without a new order: leaders whose ghosts nobody
 * wants may be in a nap of 20 ms more. */
static const double STEADY_S = 1, SETTLE_STEADY_S = 32e-3;
/* An order lapses if no other follows for so long after its round: the leader
 * above has left, or has no CPU. */
static const double LAPSE_S = 1;
/* A round's count of how long users are outside MPI is made of so many looks at
 * least: some percent of it. */
enum { LOOKS_PER_ROUND = 16 };
/* How long a leader that leaves waits for its neighbours to say that they do.
 */
static const double GOODBYE_S = 1;
/* The number of a round that says that its sender leaves. Messages of both
 * kinds begin with the number. */
static const uint32_t GOODBYE = UINT32_MAX;

struct round_message {
    uint32_t round;
    int16_t order, help; /* enum aspx_order, enum aspx_help */
    double seconds;
};

struct report_message {
    uint32_t round, unused;
    struct aspx_workload workload;
};

/* A leader below. */
struct child {
    int rank;
    MPI_Request receive, send;
    struct report_message in;
    struct round_message out;
    bool in_hand; /* its report of this round has come */
};

struct aspx_sample_tree {
    MPI_Comm comm;
    struct aspx_node_status_page *page;
    struct aspx_node_stats *stats;
    struct aspx_job_controller *job; /* at the root */
    int parent;
    MPI_Request receive, send;
    struct round_message in;           /* from the parent */
    struct round_message round;        /* in force */
    struct report_message report, out; /* so far; as it was sent */
    enum { WAITING, SETTLING, COUNTING, COUNTED } state;
    uint64_t next, lapses; /* ticks */
    uint64_t changed; /* when the last order came that was not the one before */
    int came;         /* messages in this step */
    uint32_t nchildren;
    struct child child[ASPX_LEADER_CHILDREN];
};

static int open_receives(struct aspx_sample_tree *tree,
                         const struct aspx_leader_tree *leaders)
{
    tree->parent = leaders->parent;
    if (leaders->parent >= 0 &&
        aspx_real.MPI_Irecv(&tree->in, sizeof(tree->in), MPI_BYTE,
                            leaders->parent, ASPX_ORDER_TAG, tree->comm,
                            &tree->receive) != MPI_SUCCESS)
        return -1;
    for (uint32_t c = 0; c < leaders->nchildren; c++) {
        struct child *child = &tree->child[tree->nchildren++];

        child->rank = leaders->child[c];
        child->receive = child->send = MPI_REQUEST_NULL;
        if (aspx_real.MPI_Irecv(&child->in, sizeof(child->in), MPI_BYTE,
                                child->rank, ASPX_REPORT_TAG, tree->comm,
                                &child->receive) != MPI_SUCCESS)
            return -1;
    }
    return 0;
}

/* Ranks with offload threads need no progress threads. */
static enum asp_threads threads_mode(const struct asp_layout *layout)
{
    return asp_layout_offloads(layout) ? ASP_THREADS_OFF
                                       : layout->knobs.adapt_threads;
}

struct aspx_sample_tree *aspx_sample_tree_create(
    const struct aspx_engine *engine, struct aspx_node_status_page *page)
{
    const struct aspx_world *world = engine->world;
    struct aspx_sample_tree *tree = calloc(1, sizeof(*tree));
    struct aspx_leader_tree leaders;
    uint32_t root = 0;

    if (!tree)
        return NULL;
    tree->comm = engine->locks;
    tree->page = page;
    tree->parent = -1;
    tree->receive = tree->send = MPI_REQUEST_NULL;
    tree->stats = aspx_node_stats_create(engine, page);
    for (int r = 0; r < world->size_all; r++)
        if (world->peers[r].rank_user == 0)
            root = world->peers[r].node;
    if (!tree->stats || aspx_leader_tree_build(engine, root, &leaders) != 0 ||
        open_receives(tree, &leaders) != 0)
        goto err;
    if (leaders.parent < 0) {
        tree->job = malloc(sizeof(*tree->job));
        if (!tree->job)
            goto err;
        aspx_job_controller_begin(tree->job,
                                  aspx_clock_seconds(aspx_clock_ticks()),
                                  threads_mode(world->layout));
    }
    return tree;
err:
    aspx_sample_tree_destroy(tree);
    return NULL;
}

enum aspx_order aspx_sample_tree_order(const struct aspx_sample_tree *tree)
{
    return (enum aspx_order) tree->round.order;
}

enum aspx_help aspx_sample_tree_help(const struct aspx_sample_tree *tree)
{
    return (enum aspx_help) tree->round.help;
}

/* If the message of the round before has not gone, its reader has left: then
 * nothing more is sent. */
static int send(const struct aspx_sample_tree *tree, const void *what,
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
                               tree->comm, request) == MPI_SUCCESS
               ? 0
               : -1;
}

/* A new round: pass it on, and begin it. */
static int begin(struct aspx_sample_tree *tree, uint64_t ticks,
                 const struct round_message *round)
{
    bool changed = round->order != tree->round.order ||
                   round->help != tree->round.help;
    double steady_s = aspx_clock_seconds(
        aspx_clock_between(tree->changed, ticks));
    int rc = 0;

    tree->round = *round;
    tree->state = SETTLING;
    tree->next = ticks + aspx_clock_ticks_of(!changed ? 0
                                             : steady_s > STEADY_S
                                                 ? SETTLE_STEADY_S
                                                 : SETTLE_S);
    if (changed)
        tree->changed = ticks;
    tree->lapses = ticks + aspx_clock_ticks_of(round->seconds + LAPSE_S);
    for (uint32_t c = 0; rc == 0 && c < tree->nchildren; c++) {
        struct child *child = &tree->child[c];

        child->in_hand = false;
        rc = send(tree, round, &child->out, sizeof(child->out), child->rank,
                  ASPX_ORDER_TAG, &child->send);
    }
    return rc;
}

/* Let the first user read the decisions, for the record. */
static void publish_decisions(const struct aspx_sample_tree *tree)
{
    const struct aspx_decisions *all = &tree->job->decisions;
    struct aspx_shared_decisions *page = &tree->page->decisions;
    uint32_t n = atomic_load_explicit(&page->n, memory_order_relaxed);

    for (; n < all->n; n++) {
        page->list[n] = all->list[n];
        aspx_trace("all ranks, at %.3f s: %s: %s", all->list[n].t_s,
                   aspx_decision_name(all->list[n].to), all->list[n].why);
    }
    atomic_store_explicit(&page->more, all->more, memory_order_relaxed);
    atomic_store_explicit(&page->n, n, memory_order_release);
}

static int begin_next(struct aspx_sample_tree *tree, uint64_t ticks)
{
    struct aspx_round round = aspx_job_controller_next(tree->job);
    const struct round_message message = {
        .round = tree->round.round + 1,
        .order = (int16_t) round.order,
        .help = (int16_t) round.help,
        .seconds = round.seconds,
    };

    return begin(tree, ticks, &message);
}

/* Add up reports of this round; those of another one come too late. */
static int receive_reports(struct aspx_sample_tree *tree)
{
    for (uint32_t c = 0; c < tree->nchildren; c++) {
        struct child *child = &tree->child[c];
        int came = 0;

        if (child->receive == MPI_REQUEST_NULL)
            continue;
        if (aspx_real.MPI_Test(&child->receive, &came, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
            return -1;
        tree->came += came;
        if (!came || child->in.round == GOODBYE)
            continue;
        if (child->in.round == tree->round.round && !child->in_hand) {
            aspx_workload_add(&tree->report.workload, &child->in.workload);
            child->in_hand = true;
        }
        if (aspx_real.MPI_Irecv(&child->in, sizeof(child->in), MPI_BYTE,
                                child->rank, ASPX_REPORT_TAG, tree->comm,
                                &child->receive) != MPI_SUCCESS)
            return -1;
    }
    return 0;
}

static int receive_order(struct aspx_sample_tree *tree, uint64_t ticks)
{
    struct round_message round;
    int came = 0;

    if (tree->receive == MPI_REQUEST_NULL)
        return 0;
    if (aspx_real.MPI_Test(&tree->receive, &came, MPI_STATUS_IGNORE) !=
        MPI_SUCCESS)
        return -1;
    tree->came += came;
    if (!came || tree->in.round == GOODBYE)
        return 0;
    round = tree->in;
    if (aspx_real.MPI_Irecv(&tree->in, sizeof(tree->in), MPI_BYTE, tree->parent,
                            ASPX_ORDER_TAG, tree->comm,
                            &tree->receive) != MPI_SUCCESS)
        return -1;
    return begin(tree, ticks, &round);
}

/* All below have reported: send the sum up, or ask the job controller. */
static int finish(struct aspx_sample_tree *tree, uint64_t ticks)
{
    for (uint32_t c = 0; c < tree->nchildren; c++)
        if (!tree->child[c].in_hand)
            return 0;
    tree->state = WAITING;
    if (tree->parent >= 0) {
        tree->report.round = tree->round.round;
        return send(tree, &tree->report, &tree->out, sizeof(tree->out),
                    tree->parent, ASPX_REPORT_TAG, &tree->send);
    }
    aspx_job_controller_round(tree->job, aspx_clock_seconds(ticks),
                              &tree->report.workload);
    publish_decisions(tree);
    return begin_next(tree, ticks);
}

static int step(struct aspx_sample_tree *tree, uint64_t ticks, uint32_t wishing)
{
    struct aspx_workload unwanted;

    aspx_node_stats_sample(tree->stats, ticks, wishing);
    if (receive_order(tree, ticks) != 0)
        return -1;
    if (tree->parent < 0 && tree->round.round == 0 &&
        begin_next(tree, ticks) != 0)
        return -1;
    if (tree->state == SETTLING && ticks >= tree->next) {
        aspx_node_stats_take(tree->stats, ticks, &unwanted);
        tree->report.workload = (struct aspx_workload){0};
        tree->state = COUNTING;
        tree->next = ticks + aspx_clock_ticks_of(tree->round.seconds);
    }
    if (tree->state >= COUNTING && receive_reports(tree) != 0)
        return -1;
    if (tree->state == COUNTING && ticks >= tree->next) {
        struct aspx_workload own;

        aspx_node_stats_take(tree->stats, ticks, &own);
        aspx_workload_add(&tree->report.workload, &own);
        tree->state = COUNTED;
    }
    if (ticks > tree->lapses) {
        tree->round.order = ASPX_ORDER_NONE;
        tree->round.help = ASPX_HELP_NONE;
    }
    return tree->state == COUNTED ? finish(tree, ticks) : 0;
}

uint64_t aspx_sample_tree_due(const struct aspx_sample_tree *tree,
                              uint64_t ticks)
{
    uint64_t look;

    if (tree->state == WAITING || tree->state == COUNTED)
        return tree->lapses > ticks ? tree->lapses : UINT64_MAX;
    look = ticks + aspx_clock_ticks_of(tree->round.seconds / LOOKS_PER_ROUND);
    return look < tree->next ? look : tree->next;
}

int aspx_sample_tree_step(struct aspx_sample_tree *tree, uint64_t ticks,
                          uint32_t wishing)
{
    tree->came = 0;
    return step(tree, ticks, wishing) == 0 ? tree->came : -1;
}

/* A neighbour, when this leader leaves. */
struct line {
    int rank, receive_tag, send_tag;
    MPI_Request *receive, *send;
    void *in, *out;
    size_t in_bytes, out_bytes;
    bool said;
};

static uint32_t find_lines(struct aspx_sample_tree *tree, struct line *line)
{
    uint32_t n = 0;

    if (tree->parent >= 0)
        line[n++] = (struct line){tree->parent,      ASPX_ORDER_TAG,
                                  ASPX_REPORT_TAG,   &tree->receive,
                                  &tree->send,       &tree->in,
                                  &tree->out,        sizeof(tree->in),
                                  sizeof(tree->out), false};
    for (uint32_t c = 0; c < tree->nchildren; c++) {
        struct child *child = &tree->child[c];

        line[n++] = (struct line){child->rank,        ASPX_REPORT_TAG,
                                  ASPX_ORDER_TAG,     &child->receive,
                                  &child->send,       &child->in,
                                  &child->out,        sizeof(child->in),
                                  sizeof(child->out), false};
    }
    return n;
}

/* Returns whether both sides have said goodbye, or MPI failed. */
static bool close_line(const struct aspx_sample_tree *tree, struct line *line)
{
    int done = 1;

    if (*line->send != MPI_REQUEST_NULL &&
        aspx_real.MPI_Test(line->send, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return true;
    if (done && !line->said) {
        line->said = true;
        memset(line->out, 0, line->out_bytes);
        memcpy(line->out, &GOODBYE, sizeof(GOODBYE));
        if (aspx_real.MPI_Isend(line->out, (int) line->out_bytes, MPI_BYTE,
                                line->rank, line->send_tag, tree->comm,
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
                            line->rank, line->receive_tag, tree->comm,
                            line->receive) != MPI_SUCCESS)
        return true;
    return false;
}

/* Takes what neighbours have sent, as MPI would report lost messages. */
static void say_goodbye(struct aspx_sample_tree *tree)
{
    uint64_t until = aspx_clock_ticks() + aspx_clock_ticks_of(GOODBYE_S);
    struct line line[ASPX_LEADER_CHILDREN + 1];
    uint32_t n = find_lines(tree, line), left;

    do {
        left = 0;
        for (uint32_t i = 0; i < n; i++)
            left += !close_line(tree, &line[i]);
    } while (left > 0 && aspx_clock_ticks() < until);
}

/* Without the memory: a message that is still under way is read from it. */
void aspx_sample_tree_destroy(struct aspx_sample_tree *tree)
{
    bool sent;

    if (!tree)
        return;
    say_goodbye(tree);
    sent = aspx_leader_hang_up(&tree->receive, &tree->send);
    for (uint32_t c = 0; c < tree->nchildren; c++)
        sent &= aspx_leader_hang_up(&tree->child[c].receive,
                                    &tree->child[c].send);
    aspx_node_stats_destroy(tree->stats);
    free(tree->job);
    if (sent)
        free(tree);
}
