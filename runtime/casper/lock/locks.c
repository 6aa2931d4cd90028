/* SPDX-License-Identifier: BSD-3-Clause */
/* See locks.h. A window exists here only while somebody holds or waits. */
#include "config.h"

#include "locks.h"

#include "common/base/clock.h"
#include "runtime/casper/arena/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

/* A request that waits, or one that was granted. */
struct entry {
    struct entry *next;
    long long since_ms; /* for ASPX_PASSES_LATE */
    struct aspx_lock_request request;
};

/* How long, in ms, an ASPX_PASSES_LATE request waits in order. Most locks are
 * held far shorter, so order is kept; a deadlock is broken this late. */
enum { LATE_MS = 5 };

struct window {
    uint64_t id;
    struct entry *holders;
    struct entry *waiters, **last; /* in order of arrival */
    struct aspx_lock_word *words;  /* closed: lowest, and how many from it */
    uint32_t nwords;
    UT_hash_handle hh;
};

struct aspx_locks {
    aspx_lock_grant_f *grant;
    void *context;
    struct window *windows;
    unsigned waiting; /* entries in all waiters */
};

struct aspx_locks *aspx_locks_create(aspx_lock_grant_f *grant, void *context)
{
    struct aspx_locks *locks = calloc(1, sizeof(*locks));

    if (!locks)
        return NULL;
    locks->grant = grant;
    locks->context = context;
    return locks;
}

static void free_entries(struct entry *entry)
{
    while (entry) {
        struct entry *next = entry->next;

        free(entry);
        entry = next;
    }
}

void aspx_locks_destroy(struct aspx_locks *locks)
{
    struct window *window, *next;

    if (!locks)
        return;
    HASH_ITER(hh, locks->windows, window, next)
    {
        HASH_DEL(locks->windows, window);
        free_entries(window->holders);
        free_entries(window->waiters);
        free(window);
    }
    free(locks);
}

static bool in_conflict(const struct aspx_lock_request *a,
                        const struct aspx_lock_request *b)
{
    return (a->exclusive || b->exclusive) &&
           (a->target == b->target || a->target == ASPX_LOCK_EVERY ||
            b->target == ASPX_LOCK_EVERY);
}

/* Does any entry from first up to (not including) end stand in the way? */
static bool blocked(const struct entry *first, const struct entry *end,
                    const struct aspx_lock_request *request)
{
    for (; first != end; first = first->next)
        if (in_conflict(&first->request, request))
            return true;
    return false;
}

static bool words_block(const struct aspx_lock_request *request)
{
    for (uint32_t i = 0; i < request->nwords; i++)
        if (aspx_word_blocks(&request->words[i], request->exclusive))
            return true;
    return false;
}

/* Close the words of a request. Those of one window at one ghost are
 * neighbours, so what is closed is kept as a range. */
static void close_words(struct window *window,
                        const struct aspx_lock_request *request)
{
    struct aspx_lock_word *end = window->words + window->nwords;

    if (request->nwords == 0)
        return;
    for (uint32_t i = 0; i < request->nwords; i++)
        aspx_word_close(&request->words[i]);
    if (!window->words) {
        window->words = request->words;
        window->nwords = request->nwords;
        return;
    }
    if (request->words + request->nwords > end)
        end = request->words + request->nwords;
    if (request->words < window->words)
        window->words = request->words;
    window->nwords = (uint32_t) (end - window->words);
}

static void remove_window(struct aspx_locks *locks, struct window *window)
{
    for (uint32_t i = 0; i < window->nwords; i++)
        aspx_word_open(&window->words[i]);
    HASH_DEL(locks->windows, window);
    free(window);
}

static bool may_pass(const struct entry *entry)
{
    switch (entry->request.passes) {
    case ASPX_PASSES_NOT:
        return false;
    case ASPX_PASSES_LATE:
        return asp_now_ms() - entry->since_ms > LATE_MS;
    case ASPX_PASSES_NOW:
        return true;
    }
    return false;
}

/* Grant every waiter that no holder, no direct holder and no earlier waiter
 * blocks. */
static void grant_possible(struct aspx_locks *locks, struct window *window)
{
    struct entry **at = &window->waiters, *entry;

    while ((entry = *at)) {
        if (blocked(window->holders, NULL, &entry->request) ||
            words_block(&entry->request) ||
            (blocked(window->waiters, entry, &entry->request) &&
             !may_pass(entry))) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        locks->waiting--;
        entry->next = window->holders;
        window->holders = entry;
        locks->grant(locks->context, entry->request.origin, entry->request.tag);
    }
    window->last = at;
}

static struct window *find_window(const struct aspx_locks *locks, uint64_t id)
{
    struct window *window;

    HASH_FIND(hh, locks->windows, &id, sizeof(id), window);
    return window;
}

/* The window of a request, and a new entry with it. Returns NULL with errno
 * ENOMEM. */
static struct entry *new_entry(struct aspx_locks *locks,
                               const struct aspx_lock_request *request,
                               struct window **window_p)
{
    struct entry *entry = calloc(1, sizeof(*entry));
    struct window *window = find_window(locks, request->window);

    if (!entry)
        return NULL;
    if (!window) {
        window = calloc(1, sizeof(*window));
        if (!window) {
            free(entry);
            return NULL;
        }
        window->id = request->window;
        window->last = &window->waiters;
        HASH_ADD(hh, locks->windows, id, sizeof(window->id), window);
    }
    close_words(window, request);
    entry->request = *request;
    *window_p = window;
    return entry;
}

int aspx_locks_take(struct aspx_locks *locks,
                    const struct aspx_lock_request *request)
{
    struct window *window;
    struct entry *entry = new_entry(locks, request, &window);

    if (!entry)
        return -1;
    if (request->passes == ASPX_PASSES_LATE)
        entry->since_ms = asp_now_ms();
    *window->last = entry;
    window->last = &entry->next;
    locks->waiting++;
    grant_possible(locks, window);
    return 0;
}

bool aspx_locks_try(struct aspx_locks *locks,
                    const struct aspx_lock_request *request)
{
    struct window *window;
    struct entry *entry = new_entry(locks, request, &window);

    if (!entry)
        return false;
    if (blocked(window->holders, NULL, request) ||
        blocked(window->waiters, NULL, request) || words_block(request)) {
        free(entry);
        if (!window->holders && !window->waiters)
            remove_window(locks, window);
        return false;
    }
    entry->next = window->holders;
    window->holders = entry;
    return true;
}

bool aspx_locks_waiting(const struct aspx_locks *locks)
{
    return locks->waiting != 0;
}

bool aspx_locks_poll(struct aspx_locks *locks)
{
    unsigned before = locks->waiting;
    struct window *window, *next;

    if (before == 0)
        return false;
    HASH_ITER(hh, locks->windows, window, next)
    {
        if (window->waiters)
            grant_possible(locks, window);
    }
    return locks->waiting != before;
}

int aspx_locks_drop(struct aspx_locks *locks, uint64_t id, uint32_t target,
                    int origin)
{
    struct window *window = find_window(locks, id);
    struct entry **at, *entry;

    for (at = window ? &window->holders : NULL; at && (entry = *at);
         at = &entry->next) {
        if (entry->request.origin != origin || entry->request.target != target)
            continue;
        *at = entry->next;
        free(entry);
        grant_possible(locks, window);
        if (!window->holders && !window->waiters)
            remove_window(locks, window);
        return 0;
    }
    errno = ENOENT;
    return -1;
}

unsigned aspx_locks_windows(const struct aspx_locks *locks)
{
    return HASH_COUNT(locks->windows);
}
