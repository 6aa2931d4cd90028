/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table of fixed size, with linear probing; holes are filled up by
 * moving back what comes behind them. */
#include "config.h"

#include "watch.h"

#include "thread.h"

#include <pthread.h>

enum {
    SLOTS = 1 << 16, /* memory is taken as it is used */
    MOST = SLOTS / 4 * 3,
    GROUP_BITS = 3,
    GROUP = 1 << GROUP_BITS,
};

struct entry {
    MPI_Request request; /* 0: free; MPICH's handles are never 0 */
    uint32_t persistent : 1;
    uint32_t own : 1;     /* one of these is */
    uint32_t active : 30; /* operations under way with this number */
};

_Atomic uint32_t aspx_watch_outstanding, aspx_watch_own;
uint64_t aspx_watch_total;
static bool posting; /* nothing has ended since the last was posted */
static struct aspx_message_counts *public;
static struct {
    uint64_t large, bursts;
} seen;

static _Alignas(GROUP * sizeof(struct entry)) struct entry table[SLOTS];
static uint32_t entries;
static bool many = true; /* threads */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(void)
{
    if (many)
        pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
    if (many)
        pthread_mutex_unlock(&mutex);
}

void aspx_watch_set_many(bool many_threads)
{
    many = many_threads;
}

/* Written by one thread at a time, read by the helper at any time. */
static void add(_Atomic uint32_t *number, uint32_t n)
{
    uint32_t now = atomic_load_explicit(number, memory_order_relaxed);

    atomic_store_explicit(number, now + n, memory_order_release);
}

void aspx_watch_own_for_good(void)
{
    lock();
    add(&aspx_watch_own, 1);
    unlock();
}

/* MPICH numbers requests in a row. Neighbours share a cache line, which a
 * program that has computed meanwhile must fetch again. The lines are
 * scattered, because to take an entry out all those behind it are read, up to a
 * free slot. */
static uint32_t home(MPI_Request request)
{
    uint32_t number = (uint32_t) request;

    return ((number >> GROUP_BITS) * UINT32_C(2654435769) >>
            (16 + GROUP_BITS) << GROUP_BITS) |
           number % GROUP;
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
    *entry = (struct entry){.request = request};
    return entry;
}

static void take_out(uint32_t hole)
{
    uint32_t at = hole;

    entries--;
    for (;;) {
        table[hole] = (struct entry){0};
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
    if (!public) { /* mode thread: it always is */
        aspx_watch_total++;
    } else {
        aspx_watch_total += aspx_progress_thread_is_permitted();
        seen.large++;
        seen.bursts += !posting;
        atomic_store_explicit(&public->large, seen.large, memory_order_relaxed);
        atomic_store_explicit(&public->bursts, seen.bursts,
                              memory_order_relaxed);
    }
    posting = true;
    add(&aspx_watch_outstanding, 1);
    if (entry->own && entry->active == 1)
        add(&aspx_watch_own, 1);
}

static void end(struct entry *entry)
{
    posting = false;
    entry->active--;
    add(&aspx_watch_outstanding, -1u);
    if (entry->own && !entry->active)
        add(&aspx_watch_own, -1u);
}

void aspx_watch_publish(struct aspx_message_counts *to)
{
    lock();
    public = to;
    unlock();
}

void aspx_watch_clear(void)
{
    lock();
    for (uint32_t at = 0; entries && at < SLOTS; at++) {
        table[at].active = 0;
        while (table[at].request && !table[at].persistent) {
            take_out(at);
            table[at].active = 0; /* of what has moved here */
        }
    }
    atomic_store(&aspx_watch_outstanding, 0);
    atomic_store(&aspx_watch_own, 0);
    unlock();
}

/* Where one request of a number is own, all are, until they have ended. */
static struct entry *insert_own(MPI_Request request, bool own)
{
    struct entry *entry = insert(request);

    if (!own)
        return entry;
    if (!entry || (entry->active && !entry->own))
        add(&aspx_watch_own, 1);
    if (entry)
        entry->own = 1;
    return entry;
}

void aspx_watch_add(MPI_Request request, bool own)
{
    struct entry *entry;

    lock();
    entry = insert_own(request, own);
    if (entry)
        begin(entry);
    unlock();
}

void aspx_watch_persistent(MPI_Request request, bool own)
{
    struct entry *entry;

    lock();
    entry = insert_own(request, own);
    if (entry)
        entry->persistent = 1;
    unlock();
}

bool aspx_watch_started(MPI_Request request)
{
    struct entry *entry;
    bool watched;

    lock();
    entry = &table[find(request)];
    watched = entry->request && entry->persistent;
    if (watched && !entry->active)
        begin(entry);
    unlock();
    return watched;
}

bool aspx_watch_has(MPI_Request request)
{
    const struct entry *entry;
    bool has;

    lock();
    entry = &table[find(request)];
    has = entry->request && entry->active;
    unlock();
    return has;
}

void aspx_watch_end(MPI_Request request)
{
    uint32_t at;

    lock();
    at = find(request);
    if (table[at].request && table[at].active) {
        end(&table[at]);
        if (!table[at].active && !table[at].persistent)
            take_out(at);
    }
    unlock();
}

void aspx_watch_forget(MPI_Request request)
{
    uint32_t at;

    lock();
    at = find(request);
    if (table[at].request) {
        while (table[at].active)
            end(&table[at]);
        take_out(at);
    }
    unlock();
}
