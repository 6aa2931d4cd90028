/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps until the end, and what to do in between (base/await.h): sleeps are at
 * the event that the operation waits for.
 *
 * Meanwhile MPI must go on: an earlier MPI_Isend of this rank may need it, and
 * its receiver may be what all wait for. So MPI is called at least every
 * POLL_NS while looking, and after each sleep that nobody ended; and by ranks
 * that never wait long in every POLL_OPERATIONS-th operation. There is no limit
 * to the whole: a rank that does not come is waited for, as MPI does. When a
 * rank dies, its launcher ends the others. */
#include "config.h"

#include "phases.h"

#include "runtime/base/await.h"

enum {
    POLL_NS = 20000, /* an empty call of MPI takes some 0.3 us */
    POLL_WOKEN_NS = 1000000,
    LONG_NS = 200000,
    POLL_OPERATIONS = 64,
};

struct wait {
    struct aspx_node_op *op;
    uint64_t polled_ns; /* MPI was called, or the wait began */
};

static void poll_mpi(struct aspx_node_area *area)
{
    area->unpolled = 0;
    area->poll(area->poll_arg);
}

static bool step(void *arg)
{
    const struct wait *wait = arg;

    return aspx_node_step(wait->op);
}

static struct aspx_event *event_of(void *arg)
{
    const struct wait *wait = arg;

    return wait->op->event;
}

/* Nanoseconds from one call of MPI to the next. Whoever is woken has something
 * better to do; whoever has looked in vain for long has not. */
static uint64_t poll_interval(const struct aspx_await_pause *pause)
{
    if (pause->step == ASPX_BLOCK)
        return pause->slept == ASPX_SLEPT_OUT ? 0 : POLL_WOKEN_NS;
    return pause->idle_ns < LONG_NS ? POLL_NS : 0;
}

static void keep_mpi_going(void *arg, const struct aspx_await_pause *pause)
{
    struct wait *wait = arg;

    if (wait->polled_ns == 0)
        wait->polled_ns = pause->now_ns;
    if (pause->now_ns - wait->polled_ns > poll_interval(pause)) {
        poll_mpi(wait->op->area);
        wait->polled_ns = pause->now_ns;
    }
}

/* How often it looks before it asks the clock: 20 times in less than 1 us, in
 * which another rank that runs may come. */
#define WAITER(NAME, LOOKS)                                                    \
    [ASPX_NODE_##NAME] = {.look = step,                                        \
                          .event = event_of,                                   \
                          .meanwhile = keep_mpi_going,                         \
                          .row = &aspx_wait_table[ASPX_WAIT_NODE_##NAME],      \
                          .quick_looks = (LOOKS)}

static const struct aspx_await waiters[ASPX_NODE_WAITERS] = {
    WAITER(SPIN, 100),
    WAITER(YIELD, 100),
    WAITER(SLEEP, 20),
};

int aspx_node_wait(struct aspx_node_op *op)
{
    struct wait wait = {.op = op};

    if (!aspx_node_step(op))
        aspx_await(&waiters[op->config.waiter], &wait);
    if (++op->area->unpolled >= POLL_OPERATIONS)
        poll_mpi(op->area);
    return op->error;
}
