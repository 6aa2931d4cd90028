/* SPDX-License-Identifier: BSD-3-Clause */
/* Each process's wish for redirection to it, as a byte that the others of the
 * window read: see switch.h. */
#include "config.h"

#include "switch.h"
#include "runtime/casper/arena/ghost_scaling.h"

#include "runtime/adapt/adapt.h"
#include "runtime/base/log.h"
#include "runtime/casper/arena/arrival.h"
#include "runtime/mpi/real.h"

#include <stdio.h>
#include <string.h>

enum { BANKS = 2 };

unsigned char aspx_switch_wish(enum aspx_async asked, bool first)
{
    return (unsigned char) ((aspx_adapt_wish(asked, first)
                                 ? 0
                                 : ASPX_SWITCH_ITSELF) |
                            (aspx_adapt_said(asked) ? ASPX_SWITCH_FIXED : 0) |
                            ASPX_SWITCH_OWNER * aspx_ghost_scaling_mine());
}

uint64_t aspx_switch_bytes(const struct aspx_win *win)
{
    return aspx_engine.settings.adapt ? BANKS * (uint64_t) win->size : 0;
}

/* Can every process be reached as a target and see its node's bytes? The same
 * question has the same answer everywhere. */
static bool is_able(const struct aspx_win *win)
{
    bool able = aspx_engine.settings.adapt;

    for (int i = 0; able && i < win->size; i++)
        able = aspx_engine.arena_addr[win->targets[i].rank_all] != 0;
    for (uint32_t n = 0; able && n < win->nnodes; n++)
        able = win->nodes[n].status_off != 0;
    return able;
}

static bool is_itself(const struct aspx_target *target)
{
    return atomic_load_explicit(&target->itself, memory_order_relaxed);
}

static void apply_wish(const struct aspx_win *win, struct aspx_target *target,
                       unsigned char wish)
{
    const struct aspx_win_node *node = &win->nodes[target->node];

    atomic_store(&target->owner,
                 node->first_ghost + wish / ASPX_SWITCH_OWNER % node->nghosts);
    atomic_store(&target->itself, wish & ASPX_SWITCH_ITSELF);
    atomic_store(&target->free, !(wish & ASPX_SWITCH_FIXED));
}

void aspx_switch_make(struct aspx_win *win)
{
    const struct aspx_win_node *mine =
        &win->nodes[win->targets[win->rank].node];

    win->turn.able = is_able(win);
    for (int i = 0; i < win->size; i++)
        atomic_store(&win->targets[i].owner, win->targets[i].ghost);
    if (!win->turn.able)
        return;
    win->turn.bank = aspx_arena_address(&aspx_engine.arena, mine->status_off,
                                        aspx_switch_bytes(win));
    for (int i = 0; i < win->size; i++)
        apply_wish(win, &win->targets[i], win->targets[i].began);
}

void aspx_switch_begin(const struct aspx_win *win)
{
    if (win->turn.able)
        aspx_own_trace_window(1, !is_itself(&win->targets[win->rank]));
}

void aspx_switch_end(const struct aspx_win *win)
{
    if (win->turn.able)
        aspx_own_trace_window(-1, !is_itself(&win->targets[win->rank]));
}

/* Where the byte of this process is, from the start of the banks. */
static uint64_t own_byte(const struct aspx_win *win)
{
    return win->turn.points % BANKS * (uint64_t) win->size +
           (uint64_t) win->rank;
}

/* Put the byte in the arenas of the other nodes. Any ghost of a node will do:
 * nobody else writes the byte. */
static int put_away(const struct aspx_win *win, const unsigned char *byte)
{
    uint32_t home = win->targets[win->rank].node;
    int rc = MPI_SUCCESS;

    for (uint32_t n = 0; rc == MPI_SUCCESS && n < win->nnodes; n++) {
        const struct aspx_win_node *node = &win->nodes[n];
        int ghost = win->ghosts[node->first_ghost].rank_all;

        if (n != home)
            rc = aspx_real.MPI_Put(byte, 1, MPI_BYTE, ghost,
                                   (MPI_Aint) (aspx_engine.arena_addr[ghost] +
                                               node->status_off +
                                               own_byte(win)),
                                   1, MPI_BYTE, aspx_engine.win);
    }
    for (uint32_t n = 0; rc == MPI_SUCCESS && n < win->nnodes; n++) {
        int ghost = win->ghosts[win->nodes[n].first_ghost].rank_all;

        if (n != home)
            rc = aspx_arrival_flush(ghost, aspx_engine.win,
                                    (MPI_Aint) aspx_engine.arena_addr[ghost]);
    }
    return rc;
}

int aspx_switch_tell(struct aspx_win *win)
{
    struct aspx_switch *turn = &win->turn;
    unsigned char *told = &turn->told[turn->points % BANKS], changed;

    if (!turn->able)
        return MPI_SUCCESS;
    changed = aspx_switch_wish(turn->asked, false) ^
              win->targets[win->rank].began;
    if (changed == *told)
        return MPI_SUCCESS;
    *told = changed;
    atomic_store(&turn->bank[own_byte(win)], changed);
    return put_away(win, &changed);
}

/* Of redirection to this process. */
static void note_switch(const struct aspx_win *win, bool on)
{
    int why = aspx_adapt_why(win->turn.asked);
    char words[48];

    aspx_own_trace_switched(win->order, on, why);
    if (why >= 0)
        snprintf(words, sizeof(words), "%d %% of the time in MPI", why);
    aspx_trace(ASPX_WIN_NAME ": redirection to this process is %s from here "
                             "on: %s",
               ASPX_WIN_NAMES(win), on ? "on" : "off",
               why == ASPX_WHY_ASKED   ? "as the program or a rule says"
               : why == ASPX_WHY_ORDER ? "as all ranks are ordered"
                                       : words);
}

void aspx_switch_take(struct aspx_win *win)
{
    const _Atomic unsigned char *bank;

    if (!win->turn.able)
        return;
    bank = win->turn.bank + win->turn.points++ % BANKS * (uint64_t) win->size;
    /* Mostly nothing has changed, and a window may have thousands of targets.
     * Nobody writes to this bank before all are through. */
    if (memcmp((const void *) bank, win->turn.taken, (size_t) win->size) == 0)
        return;
    for (int i = 0; i < win->size; i++) {
        struct aspx_target *target = &win->targets[i];
        bool was = is_itself(target);

        if (win->turn.taken[i] == atomic_load(&bank[i]))
            continue;
        win->turn.taken[i] = atomic_load(&bank[i]);
        apply_wish(win, target, win->turn.taken[i] ^ target->began);
        if (i == win->rank && is_itself(target) != was)
            note_switch(win, was);
    }
}
