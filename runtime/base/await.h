/* SPDX-License-Identifier: BSD-3-Clause */
/* The one loop around an event (event.h) and the choice between spinning,
 * yielding and sleeping (backoff.h): look, pause, look again. What is awaited,
 * where to sleep for it and what goes on meanwhile is the waiter's.
 *
 *     look --there--> return
 *       ^ |
 *       | none: quick looks, then as the waiter's row says
 *       | v
 *       +--- spin | yield | announce | sleep at the event
 *
 * The first time that a waiter is to sleep it only announces itself, and looks
 * again. It stays announced between sleeps: to announce may fence for all
 * threads of the process. A sleep has a bound, so what nobody announces is
 * found by the next look. Threads: any; each wait is its thread's. */
#ifndef ASPEN_RUNTIME_BASE_AWAIT_H
#define ASPEN_RUNTIME_BASE_AWAIT_H

#include "backoff.h"
#include "event.h"

#include <stdbool.h>
#include <stdint.h>

/* Is it there? May do work that leads to it, and may take it: after true it is
 * not called again. */
typedef bool aspx_await_look_f(void *what);

enum aspx_slept {
    ASPX_NOT_SLEPT, /* it was there, or is awaited elsewhere */
    ASPX_WOKEN,
    ASPX_SLEPT_OUT, /* nobody has ended the sleep */
};

/* A pause that is about to be made. */
struct aspx_await_pause {
    enum aspx_backoff_step step;
    uint64_t now_ns, idle_ns; /* the clock; the time of this wait */
    enum aspx_slept slept;    /* how the latest sleep ended */
};

struct aspx_await {
    aspx_await_look_f *look;
    /* Where to sleep now, NULL: nowhere, look again. The member is NULL where
     * nobody wakes: then it naps. */
    struct aspx_event *(*event)(void *what);
    /* Before each pause; NULL: nothing. */
    void (*meanwhile)(void *what, const struct aspx_await_pause *pause);
    const struct aspx_wait_policy *row;
    unsigned quick_looks; /* before the clock is asked */
};

/* Wait until it is there. */
void aspx_await(const struct aspx_await *how, void *what);

/* Sleep once at an event, unless it is there: us microseconds at most. */
enum aspx_slept aspx_await_once(struct aspx_event *event, uint32_t us,
                                aspx_await_look_f *look, void *what);

/* The same turn by turn, for a loop that does more than to look, or that blocks
 * by other means than the event. All 0 to begin with.
 *
 *     while (!there)
 *         if ((us = aspx_await_turn(&turns, row, false)) != 0)
 *             aspx_await_sleep(&turns, event, us);
 *     aspx_await_end(&turns); */
struct aspx_await_turns {
    struct aspx_backoff backoff;
    enum aspx_backoff_step step; /* of the latest turn */
    struct aspx_event *event;    /* where it is announced; NULL: nowhere */
    uint32_t key;                /* of that event, before the latest look */
};

/* A look in vain: spins or yields, and returns 0; or returns for how many
 * microseconds to block at most.
 *   awaited  somebody sleeps until there is work (backoff.h) */
uint32_t aspx_await_turn(struct aspx_await_turns *turns,
                         const struct aspx_wait_policy *row, bool awaited);

/* Announce this thread at the event, and nowhere else. False: it was before, so
 * a look has followed, and it may block. */
bool aspx_await_announce(struct aspx_await_turns *turns,
                         struct aspx_event *event);

/* Announce, or else sleep until the event comes, us microseconds at most.
 * ASPX_NOT_SLEPT: it has announced; look again. */
enum aspx_slept aspx_await_sleep(struct aspx_await_turns *turns,
                                 struct aspx_event *event, uint32_t us);

/* It is there, or there was work: no more announced; the next turn is a first
 * one. */
void aspx_await_end(struct aspx_await_turns *turns);

#endif
