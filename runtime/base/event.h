/* SPDX-License-Identifier: BSD-3-Clause */
/* An event count: sleep until something may have happened, without losing a
 * wake-up and without a lock. What happens is somebody else's memory; the event
 * only carries the sleep. (Model: ck_ec of Concurrency Kit.)
 *
 *     a thread that waits                    a thread that has news
 *     -------------------------------        -----------------------------
 *     aspx_event_prepare_wait(e);            publish the news
 *     for (;;) {                             aspx_event_notify(e);
 *         key = aspx_event_key(e);
 *         if (the news is there)
 *             break;
 *         aspx_event_wait(e, key, us);
 *     }
 *     aspx_event_cancel_wait(e);
 *
 * State:  waiters  threads between prepare_wait and cancel_wait
 *         word     bit 0: somebody may sleep; the rest counts notifications
 *
 *   aspx_event_key     sets bit 0 of word
 *   aspx_event_wait    sleeps while word is what key returned
 *   aspx_event_notify  waiters == 0: nothing. Else, if bit 0 is set: clears it,
 *                      counts one, wakes all that sleep. Of several notifiers
 *                      one wakes, the others only read.
 *
 * Why no wake-up is lost. Call P the publication, W the store to waiters, B the
 * setting of bit 0, L the look at the news (in this order for the waiter: W, B,
 * L; for the notifier: P, then loads of waiters and of word).
 *   1. A full fence stands between W and L, and another between P and the load
 *      of waiters. So L sees P, or the notifier sees W. In the first case the
 *      waiter does not sleep.
 *   2. A notifier that sees W fences in full and loads word. B is a locked
 *      instruction, which is a full fence between B and L. So again L sees P,
 *      or the notifier sees bit 0.
 *   3. A notifier that sees bit 0 changes word. The waiter sleeps only while
 *      word is still its key, which the kernel compares under its lock: it does
 *      not fall asleep, or is woken.
 * tests/offload/sleep_model.py tries every interleaving, and that it breaks
 * when a step is left out.
 *
 * The fences of step 1 cost as much as a message between CPUs. Where sleeps are
 * rare the waiter has the kernel put one into all threads of the process
 * (membarrier), and the notifier needs none: ASPX_EVENT_WAITER_FENCES. That
 * takes 1 to 30 us, and one such request of a node is carried out after the
 * other, so where sleeps are common both sides fence: ASPX_EVENT_BOTH_FENCE.
 * The row of waits between prepare_wait and cancel_wait pays it once.
 *
 * Every wait has a bound all the same. Threads: any; from a signal handler,
 * too. */
#ifndef ASPEN_RUNTIME_BASE_EVENT_H
#define ASPEN_RUNTIME_BASE_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Who may wait and notify, and who fences. Zeroed memory is an event of the
 * first kind. */
enum aspx_event_kind {
    ASPX_EVENT_SHARED,        /* between processes; both fence */
    ASPX_EVENT_BOTH_FENCE,    /* within a process */
    ASPX_EVENT_WAITER_FENCES, /* within a process */
};

struct aspx_event {
    _Atomic uint32_t waiters;
    _Atomic uint32_t word;
    uint32_t kind; /* enum aspx_event_kind; constant while it is used */
};

enum { ASPX_EVENT_ASLEEP = 1 }; /* bit 0 of word */

/* Prepare an event that nobody uses yet. ASPX_EVENT_WAITER_FENCES becomes
 * ASPX_EVENT_BOTH_FENCE where the kernel has no membarrier. */
void aspx_event_init(struct aspx_event *event, enum aspx_event_kind kind);

/* Announce that this thread may sleep: notifiers look from now on. */
void aspx_event_prepare_wait(struct aspx_event *event);

/* Before each look at the news: what to hand to aspx_event_wait() then. */
static inline uint32_t aspx_event_key(struct aspx_event *event)
{
    return atomic_fetch_or(&event->word, ASPX_EVENT_ASLEEP) | ASPX_EVENT_ASLEEP;
}

/* Sleep until a notification that came after aspx_event_key(), us microseconds
 * at most; may return early. Returns whether there was one. */
bool aspx_event_wait(struct aspx_event *event, uint32_t key, uint32_t us);

/* The same test without a sleep: was there a notification since? */
static inline bool aspx_event_has_come(struct aspx_event *event, uint32_t key)
{
    return atomic_load_explicit(&event->word, memory_order_acquire) != key;
}

/* No more: this thread is awake. */
static inline void aspx_event_cancel_wait(struct aspx_event *event)
{
    (void) atomic_fetch_sub(&event->waiters, 1);
}

/* For a caller that wakes by other means than a futex: true for the one
 * notifier that has to wake who sleeps. */
bool aspx_event_claim(struct aspx_event *event);

/* The slow way of the next one: somebody has announced itself. */
void aspx_event_wake(struct aspx_event *event);

/* Has any thread announced that it may sleep?  Cost: a load. */
static inline bool aspx_event_has_waiters(struct aspx_event *event)
{
    return atomic_load_explicit(&event->waiters, memory_order_relaxed) != 0;
}

/* The notifier's fence between news and the look for waiters. */
static inline void aspx_event_fence(struct aspx_event *event)
{
    if (event->kind == ASPX_EVENT_WAITER_FENCES)
        atomic_signal_fence(memory_order_seq_cst); /* the compiler's order */
    else
        atomic_thread_fence(memory_order_seq_cst);
}

/* Step 2: of those that have announced themselves, does any sleep, unwoken?
 * Inline, as notifiers come here again and again until one that was woken has a
 * CPU. */
static inline bool aspx_event_is_asleep(struct aspx_event *event)
{
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&event->word, memory_order_relaxed) &
           ASPX_EVENT_ASLEEP;
}

/* What is waited for has been published: wake who sleeps. The event must still
 * exist.  Cost: a load; a fence, too, unless waiters fence. */
static inline void aspx_event_notify(struct aspx_event *event)
{
    aspx_event_fence(event);
    if (aspx_event_has_waiters(event) && aspx_event_is_asleep(event))
        aspx_event_wake(event);
}

#endif
