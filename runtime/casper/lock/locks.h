/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock service of a ghost: who may access which target of which window.
 * Pure bookkeeping; casper/server/loop.c carries the messages. Origins of the
 * ghost's node also take locks in the lock words (arena/lock_word.h) without
 * asking.
 *
 * Requests are granted in order of arrival, except that one passes those
 * before it that it does not conflict with (other targets, or both shared).
 * So nobody starves: a request waits only for conflicting ones before it.
 *
 * A correct program cannot deadlock:
 *
 *   the origin                  its request
 *   holds no lock               waits in order of arrival
 *   holds locks of this window  passes requests that wait: they may wait for
 *                               what it holds
 *   holds locks of others       passes them after 5 ms in the queue
 *   wants all targets           tries all ghosts at once; if one refuses, it
 *                               asks the ghosts one after another, in the order
 *                               that is the same everywhere */
#ifndef ASPEN_RUNTIME_CASPER_LOCK_LOCKS_H
#define ASPEN_RUNTIME_CASPER_LOCK_LOCKS_H

#include "runtime/casper/arena/lock_word.h"

#include <stdbool.h>
#include <stdint.h>

struct aspx_locks;

/* May a request be granted before conflicting ones that came earlier and wait?
 * They may wait for what its origin holds, which is then a circle. */
enum aspx_lock_passes {
    ASPX_PASSES_NOT,  /* the origin holds no lock */
    ASPX_PASSES_LATE, /* locks of other windows: only after a while, because
                         locks that are held for long must not starve others */
    ASPX_PASSES_NOW,  /* locks of this window */
};

struct aspx_lock_request {
    uint64_t window;
    uint32_t target; /* rank in the window, or ASPX_LOCK_EVERY */
    bool exclusive;
    enum aspx_lock_passes passes;
    int origin;                   /* the asking process; opaque */
    uint32_t tag;                 /* opaque, for the grant */
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

/* Grant at once, without calling grant(), or not at all. Returns whether. */
bool aspx_locks_try(struct aspx_locks *locks,
                    const struct aspx_lock_request *request);

/* origin gives up what it holds at (window, target); grants what that allows.
 * Returns 0, or -1 with errno ENOENT: it holds nothing there. */
int aspx_locks_drop(struct aspx_locks *locks, uint64_t window, uint32_t target,
                    int origin);

/* Grant what has become possible because direct holders released their words.
 * Returns whether something was granted.  Cost: nothing while nobody waits. */
bool aspx_locks_poll(struct aspx_locks *locks);

/* Does anybody wait, so that aspx_locks_poll() has something to look at? */
bool aspx_locks_waiting(const struct aspx_locks *locks);

/* Windows with a holder or a waiter. */
unsigned aspx_locks_windows(const struct aspx_locks *locks);

#endif
