/* SPDX-License-Identifier: BSD-3-Clause */
/* See balance.h. Counters are this process's own, but for the backlog, which
 * a ghost publishes in its arena and every flush of it fetches. */
#include "config.h"

#include "balance.h"
#include "runtime/casper/arena/ghost_scaling.h"
#include "runtime/casper/arena/contig_win.h"

#include "runtime/mpi/real.h"

#include <stddef.h>

static _Atomic uint32_t turn;

static enum asp_balance balance_of(const struct aspx_win *win)
{
    return (enum asp_balance) atomic_load_explicit(&win->balance,
                                                   memory_order_relaxed);
}

/* How much ghost g has to do, in the unit of the chosen way. */
static uint64_t weigh(enum asp_balance balance, int ghost)
{
    const struct aspx_load *load = &aspx_engine.loads[ghost];

    switch (balance) {
    case ASP_BALANCE_OPS:
        return atomic_load_explicit(&load->ops, memory_order_relaxed);
    case ASP_BALANCE_BYTES:
        return atomic_load_explicit(&load->bytes, memory_order_relaxed);
    case ASP_BALANCE_QUEUE:
        /* What was sent since the backlog came is part of it by now. */
        return load->backlog +
               atomic_load_explicit(&load->ops, memory_order_relaxed) -
               load->ops_asked;
    case ASP_BALANCE_NONE:
    case ASP_BALANCE_RANDOM:
        break;
    }
    return 0;
}

uint32_t aspx_balance_choose(struct aspx_win *win,
                             const struct aspx_target *target)
{
    const struct aspx_win_node *node = &win->nodes[target->node];
    enum asp_balance balance = balance_of(win);
    uint32_t first = node->first_ghost;
    uint32_t active = aspx_ghost_scaling_active(node->node, node->nghosts);
    uint32_t best = first + (target->ghost - first) % active;
    uint64_t least;

    if (balance == ASP_BALANCE_NONE || active == 1)
        return best;
    if (balance == ASP_BALANCE_RANDOM)
        return first +
               atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) %
                   active;
    least = weigh(balance, win->ghosts[best].rank_all);
    for (uint32_t g = first; g < first + active; g++) {
        uint64_t weight = weigh(balance, win->ghosts[g].rank_all);

        if (weight < least) {
            least = weight;
            best = g;
        }
    }
    return best;
}

void aspx_balance_note(int ghost, uint64_t bytes)
{
    struct aspx_load *load = &aspx_engine.loads[ghost];

    (void) aspx_counter_add(&load->ops, 1);
    (void) aspx_counter_add(&load->bytes, bytes);
}

/* What the others of the node told is getting old: believe half of it, so that
 * none is shunned for ever for a bad moment. */
void aspx_balance_ask(const struct aspx_win *win, int ghost, bool contig)
{
    const uint32_t *first = aspx_engine.first_ghost +
                            aspx_engine.world->peers[ghost].node;
    struct aspx_load *load = &aspx_engine.loads[ghost];

    if (balance_of(win) != ASP_BALANCE_QUEUE)
        return;
    for (uint32_t i = first[0]; i < first[1]; i++) {
        uint32_t other = aspx_engine.ghosts[i];

        if (other != (uint32_t) ghost) {
            aspx_engine.loads[other].backlog /= 2;
            continue;
        }
        load->ops_asked = atomic_load(&load->ops);
        aspx_contig_win_get_word(
            ghost, i - first[0],
            offsetof(struct aspx_doorbell, heartbeat.backlog), &load->backlog,
            contig);
    }
}
