/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table of fixed size, with linear probing; holes are filled up by
 * moving back what comes behind them. */
#include "config.h"

#include "watch.h"

#include "helper.h"

#include <pthread.h>

enum {
    SLOTS = 1 << 16, /* memory is taken as it is used */
    MOST = SLOTS / 4 * 3,
};

struct entry {
    MPI_Request request; /* 0: free; MPICH's handles are never 0 */
    uint32_t persistent : 1;
    uint32_t active : 31; /* operations under way with this number */
};

_Atomic uint32_t aspx_watch_outstanding;
uint64_t aspx_watch_total;
static bool posting; /* nothing has ended since the last was posted */
static struct aspx_watch_public *public;
static struct {
    uint64_t large, bursts;
} seen;

static struct entry table[SLOTS];
static uint32_t entries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t home(MPI_Request request)
{
    return ((uint32_t) request * UINT32_C(2654435769)) >> 16;
}

/* Where it is, or the free slot where it would be. */
static uint32_t find(MPI_Request request)
{
    uint32_t at = home(request);

    while (table[at].request && table[at].request != request)
        at = (at + 1) % SLOTS;
    return at;
}

static struct entry *insert(MPI_Request request)
{
    struct entry *entry = &table[find(request)];

    if (entry->request)
        return entry;
    if (entries == MOST)
        return NULL;
    entries++;
    *entry = (struct entry) {.request = request};
    return entry;
}

static void take_out(uint32_t hole)
{
    uint32_t at = hole;

    entries--;
    for (;;) {
        table[hole] = (struct entry) {0};
        do {
            at = (at + 1) % SLOTS;
            if (!table[at].request)
                return;
            /* it stays if its home lies behind the hole */
        } while ((at - home(table[at].request)) % SLOTS < (at - hole) % SLOTS);
        table[hole] = table[at];
        hole = at;
    }
}

static void begin(struct entry *entry)
{
    entry->active++;
    aspx_watch_total += aspx_helper_is_permitted();
    if (public) {
        seen.large++;
        seen.bursts += !posting;
        atomic_store_explicit(&public->large, seen.large,
                              memory_order_relaxed);
        atomic_store_explicit(&public->bursts, seen.bursts,
                              memory_order_relaxed);
    }
    posting = true;
    atomic_fetch_add(&aspx_watch_outstanding, 1);
}

static void end(struct entry *entry)
{
    posting = false;
    entry->active--;
    atomic_fetch_sub(&aspx_watch_outstanding, 1);
}

void aspx_watch_publish(struct aspx_watch_public *to)
{
    pthread_mutex_lock(&lock);
    public = to;
    pthread_mutex_unlock(&lock);
}

void aspx_watch_clear(void)
{
    pthread_mutex_lock(&lock);
    for (uint32_t at = 0; entries && at < SLOTS; at++) {
        table[at].active = 0;
        while (table[at].request && !table[at].persistent) {
            take_out(at);
            table[at].active = 0; /* of what has moved here */
        }
    }
    atomic_store(&aspx_watch_outstanding, 0);
    pthread_mutex_unlock(&lock);
}

void aspx_watch_add(MPI_Request request)
{
    struct entry *entry;

    pthread_mutex_lock(&lock);
    entry = insert(request);
    if (entry)
        begin(entry);
    pthread_mutex_unlock(&lock);
}

void aspx_watch_persistent(MPI_Request request)
{
    struct entry *entry;

    pthread_mutex_lock(&lock);
    entry = insert(request);
    if (entry)
        entry->persistent = 1;
    pthread_mutex_unlock(&lock);
}

bool aspx_watch_started(MPI_Request request)
{
    struct entry *entry;
    bool watched;

    pthread_mutex_lock(&lock);
    entry = &table[find(request)];
    watched = entry->request && entry->persistent;
    if (watched && !entry->active)
        begin(entry);
    pthread_mutex_unlock(&lock);
    return watched;
}

bool aspx_watch_has(MPI_Request request)
{
    const struct entry *entry;
    bool has;

    pthread_mutex_lock(&lock);
    entry = &table[find(request)];
    has = entry->request && entry->active;
    pthread_mutex_unlock(&lock);
    return has;
}

void aspx_watch_end(MPI_Request request)
{
    uint32_t at;

    pthread_mutex_lock(&lock);
    at = find(request);
    if (table[at].request && table[at].active) {
        end(&table[at]);
        if (!table[at].active && !table[at].persistent)
            take_out(at);
    }
    pthread_mutex_unlock(&lock);
}

void aspx_watch_forget(MPI_Request request)
{
    uint32_t at;

    pthread_mutex_lock(&lock);
    at = find(request);
    if (table[at].request) {
        while (table[at].active)
            end(&table[at]);
        take_out(at);
    }
    pthread_mutex_unlock(&lock);
}
