/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock of one target of one window, as a word in the arena of the target's
 * node. Origins of that node take it directly while no ghost needs it; all
 * others ask the target's ghost, which closes the word for direct use
 * (QUEUED), waits until the direct holders are gone, and from then on keeps the
 * books itself (lock/locks.h) until nobody of its queue is left. So the direct
 * way never overtakes a request that waits.
 *
 *   state                     origin of the node         the target's ghost
 *   0                         takes it                   may close it
 *   SHARED n                  shared: n + 1              may close it
 *   EXCLUSIVE                 asks the ghost             may close it
 *   QUEUED, direct holders    asks the ghost; holders    waits for holders that
 *                             release                    conflict
 *   QUEUED                    asks the ghost             grants; opens it when
 *                                                        its queue is empty
 *
 * Order: taking is an acquire, releasing a release, on both ways. */
#ifndef ASPEN_RUNTIME_CASPER_ARENA_LOCK_WORD_H
#define ASPEN_RUNTIME_CASPER_ARENA_LOCK_WORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct aspx_lock_word {
    _Alignas(64) _Atomic uint32_t state; /* zero: free */
};

#define ASPX_WORD_QUEUED    UINT32_C(0x80000000) /* the ghost has entries */
#define ASPX_WORD_EXCLUSIVE UINT32_C(0x40000000) /* one direct holder */
#define ASPX_WORD_SHARED    UINT32_C(0x3fffffff) /* count of direct holders */

/* Origin: take it now, or not at all. */
static inline bool aspx_word_try(struct aspx_lock_word *word, bool exclusive)
{
    uint32_t state = atomic_load_explicit(&word->state, memory_order_relaxed);

    if (exclusive)
        return state == 0 && atomic_compare_exchange_strong(
                                 &word->state, &state, ASPX_WORD_EXCLUSIVE);
    while (!(state & (ASPX_WORD_QUEUED | ASPX_WORD_EXCLUSIVE)))
        if (atomic_compare_exchange_weak(&word->state, &state, state + 1))
            return true;
    return false;
}

/* Origin: give it back. Returns true when the ghost waits for it. */
static inline bool aspx_word_release(struct aspx_lock_word *word,
                                     bool exclusive)
{
    return atomic_fetch_sub(&word->state, exclusive ? ASPX_WORD_EXCLUSIVE : 1) &
           ASPX_WORD_QUEUED;
}

/* Ghost: no direct holder from now on, but those that are there. */
static inline void aspx_word_close(struct aspx_lock_word *word)
{
    atomic_fetch_or(&word->state, ASPX_WORD_QUEUED);
}

static inline void aspx_word_open(struct aspx_lock_word *word)
{
    atomic_fetch_and(&word->state, ~ASPX_WORD_QUEUED);
}

/* Ghost: does a direct holder stand in the way? */
static inline bool aspx_word_blocks(struct aspx_lock_word *word, bool exclusive)
{
    uint32_t state = atomic_load(&word->state);

    return state & (exclusive ? ASPX_WORD_EXCLUSIVE | ASPX_WORD_SHARED
                              : ASPX_WORD_EXCLUSIVE);
}

#endif
