/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock service of a ghost: who may access which target of which window.
 * Pure bookkeeping; ghost_loop.c carries the messages. Origins of the ghost's
 * node also take locks in the lock words (lock_word.h) without asking.
 *
 * Requests are granted in order of arrival, except that one passes those
 * before it that it does not conflict with (other targets, or both shared).
 * So nobody starves: a request waits only for conflicting ones before it. */
#ifndef ASPEN_RUNTIME_CASPER_LOCKS_H
#define ASPEN_RUNTIME_CASPER_LOCKS_H

#include "lock_word.h"

#include <stdbool.h>
#include <stdint.h>

struct aspx_locks;

struct aspx_lock_request {
    uint64_t window;
    uint32_t target; /* rank in the window, or ASPX_LOCK_EVERY */
    bool exclusive;
    int origin;      /* who asks; opaque */
    uint32_t tag;    /* opaque, for the grant */
    struct aspx_lock_word *words; /* of the targets concerned; borrowed until
                                     the window has no holder or waiter */
    uint32_t nwords;
};

/* Called for each grant, possibly several times during one call below. */
typedef void aspx_lock_grant_f(void *context, int origin, uint32_t tag);

/* Returns NULL with errno ENOMEM. */
struct aspx_locks *aspx_locks_create(aspx_lock_grant_f *grant, void *context);

/* Takes NULL; forgets holders and waiters. */
void aspx_locks_destroy(struct aspx_locks *locks);

/* Grant now or later. Returns 0, or -1 with errno ENOMEM. */
int aspx_locks_take(struct aspx_locks *locks,
                    const struct aspx_lock_request *request);

/* origin gives up what it holds at (window, target); grants what that allows.
 * Returns 0, or -1 with errno ENOENT: it holds nothing there. */
int aspx_locks_drop(struct aspx_locks *locks, uint64_t window, uint32_t target,
                    int origin);

/* Grant what has become possible because direct holders released their words.
 * Returns whether something was granted.  Cost: nothing while nobody waits. */
bool aspx_locks_poll(struct aspx_locks *locks);

/* Windows with a holder or a waiter. */
unsigned aspx_locks_windows(const struct aspx_locks *locks);

#endif
