/* SPDX-License-Identifier: BSD-3-Clause */
/* The slow ways of an event count: announcing, sleeping, waking. The protocol
 * and why it holds are in event.h. */
#include "config.h"

#include "event.h"

#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { US_PER_S = 1000000, NS_PER_US = 1000 };

static bool kernel_fences(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
                   0) == 0;
}

void aspx_event_init(struct aspx_event *event, enum aspx_event_kind kind)
{
    if (kind == ASPX_EVENT_WAITER_FENCES && !kernel_fences())
        kind = ASPX_EVENT_BOTH_FENCE;
    atomic_init(&event->waiters, 0);
    atomic_init(&event->word, 0);
    event->kind = kind;
}

void aspx_event_prepare_wait(struct aspx_event *event)
{
    (void) atomic_fetch_add(&event->waiters, 1);
    if (event->kind == ASPX_EVENT_WAITER_FENCES)
        (void) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

static int futex_op(const struct aspx_event *event, int op)
{
    return event->kind == ASPX_EVENT_SHARED ? op : op | FUTEX_PRIVATE_FLAG;
}

bool aspx_event_wait(struct aspx_event *event, uint32_t key, uint32_t us)
{
    const struct timespec limit = {us / US_PER_S, us % US_PER_S * NS_PER_US};

    (void) syscall(SYS_futex, &event->word, futex_op(event, FUTEX_WAIT), key,
                   &limit, NULL, 0);
    return aspx_event_has_come(event, key);
}

bool aspx_event_claim(struct aspx_event *event)
{
    uint32_t word;

    atomic_thread_fence(memory_order_seq_cst);
    word = atomic_load_explicit(&event->word, memory_order_relaxed);
    /* bit 0 off and the rest one up: plus one */
    while (word & ASPX_EVENT_ASLEEP) {
        if (atomic_compare_exchange_weak(&event->word, &word, word + 1))
            return true;
    }
    return false;
}

void aspx_event_wake(struct aspx_event *event)
{
    if (aspx_event_claim(event))
        (void) syscall(SYS_futex, &event->word, futex_op(event, FUTEX_WAKE),
                       INT_MAX, NULL, NULL, 0);
}
