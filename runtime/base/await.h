/* SPDX-License-Identifier: BSD-3-Clause */
/* The one loop around an event (event.h) and the choice between spinning,
 * yielding and sleeping (backoff.h): look, pause, look again. What is awaited,
 * where to sleep for it and what goes on meanwhile is the waiter's.
 *
 *     look --there--> return
 *       ^ |
 *       | none: quick looks, then as the waiter's row says
 *       | v
 *       +--- spin | yield | sleep at the event, after one more look
 *
 * A sleep has a bound, so what nobody announces is found by the next look.
 * Threads: any; each wait is its thread's. */
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

#endif
