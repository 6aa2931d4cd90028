/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps until the end, and what to do in between: spin, yield or sleep at the
 * event that the operation waits for, by a row of wait_table.h.
 *
 * Meanwhile MPI must go on: an earlier MPI_Isend of this rank may need it, and
 * its receiver may be what all wait for. So MPI is called at least every
 * POLL_NS while looking, and after each sleep that nobody ended; and by ranks
 * that never wait long in every POLL_OPERATIONS-th operation. There is no limit
 * to the whole: a rank that does not come is waited for, as MPI does. When a
 * rank dies, its launcher ends the others. */
#include "config.h"

#include "phases.h"

#include "runtime/base/backoff.h"
#include "runtime/base/clock.h"

#include <ck_pr.h>

enum {
    POLL_NS = 20000, /* an empty call of MPI takes some 0.3 us */
    POLL_WOKEN_NS = 1000000,
    LONG_NS = 200000,
    POLL_OPERATIONS = 64,
};

/* How it waits, and how often it looks before it asks the clock: 20 times in
 * less than 1 us, in which another rank that runs may come. */
static const struct {
    enum aspx_waiter row;
    unsigned quick_looks;
} waiters[ASPX_NODE_WAITERS] = {
    [ASPX_NODE_SPIN] = {ASPX_WAIT_NODE_SPIN, 100},
    [ASPX_NODE_YIELD] = {ASPX_WAIT_NODE_YIELD, 100},
    [ASPX_NODE_SLEEP] = {ASPX_WAIT_NODE_SLEEP, 20},
};

static void poll_mpi(struct aspx_node_area *area)
{
    area->unpolled = 0;
    area->poll(area->poll_arg);
}

/* The step between key and sleep may end the operation, or lead it on to
 * another event: then there is no reason to sleep at this one. */
static bool sleep_at_event(struct aspx_node_op *op, uint32_t us)
{
    struct aspx_event *event = op->event;
    bool woken = true;
    uint32_t key;

    aspx_event_prepare_wait(event);
    key = aspx_event_key(event);
    if (!aspx_node_step(op) && op->event == event)
        woken = aspx_event_wait(event, key, us);
    aspx_event_cancel_wait(event);
    return woken;
}

struct wait {
    struct aspx_backoff backoff;
    uint64_t polled_ns; /* MPI was called, or the wait began */
    bool slept_out;     /* the last sleep ended by itself */
};

/* Nanoseconds from one call of MPI to the next. Whoever is woken has something
 * better to do; whoever has looked in vain for long has not. */
static uint64_t poll_interval(const struct wait *wait,
                              enum aspx_backoff_step step, uint64_t now_ns)
{
    if (step == ASPX_BLOCK)
        return wait->slept_out ? 0 : POLL_WOKEN_NS;
    return now_ns - wait->backoff.idle_since_ns < LONG_NS ? POLL_NS : 0;
}

static void pause_once(struct aspx_node_op *op, struct wait *wait)
{
    uint64_t now_ns = aspx_clock_ns(CLOCK_MONOTONIC);
    struct aspx_backoff_choice choice = aspx_backoff_next(
        &wait->backoff, &aspx_wait_table[waiters[op->way.waiter].row], false,
        now_ns);

    if (wait->polled_ns == 0)
        wait->polled_ns = now_ns;
    if (now_ns - wait->polled_ns > poll_interval(wait, choice.step, now_ns)) {
        poll_mpi(op->area);
        wait->polled_ns = now_ns;
    }
    if (choice.step == ASPX_SPIN)
        ck_pr_stall();
    else if (choice.step == ASPX_YIELD)
        aspx_backoff_yield(&wait->backoff);
    else
        wait->slept_out = !sleep_at_event(op, choice.block_us);
}

int aspx_node_wait(struct aspx_node_op *op)
{
    struct wait wait = {.polled_ns = 0};

    for (unsigned looks = 0; !aspx_node_step(op); looks++) {
        if (looks < waiters[op->way.waiter].quick_looks)
            ck_pr_stall();
        else
            pause_once(op, &wait);
    }
    if (++op->area->unpolled >= POLL_OPERATIONS)
        poll_mpi(op->area);
    return op->error;
}
