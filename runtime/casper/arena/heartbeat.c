/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a ghost's heartbeat is mapped, and what can be read from it. */
#include "config.h"

#include "heartbeat.h"

#include "arena.h"

#include <sys/mman.h>
#include <unistd.h>

static struct aspx_heartbeat unseen;

struct aspx_heartbeat *_Atomic aspx_heartbeat_mine = &unseen;

/* A nap that begins or ends meanwhile would be counted twice, or not at all.
 * The ghost may be at work on that again and again: a few times are enough. */
uint64_t aspx_heartbeat_work_ns(const struct aspx_heartbeat *heartbeat,
                                uint64_t now)
{
    uint64_t since = atomic_load(&heartbeat->since_ns), nap, idle;
    int tries = 8;

    if (!since)
        return 0;
    do {
        nap = atomic_load(&heartbeat->nap_ns);
        idle = atomic_load(&heartbeat->idle_ns);
    } while (nap != atomic_load(&heartbeat->nap_ns) && --tries);
    if (nap)
        now = nap;
    return now > since + idle ? now - since - idle : 0;
}

/* Shared memory may be mapped again from its address alone: an old size of 0
 * leaves the first mapping as it is. */
struct aspx_heartbeat *aspx_heartbeat_map(const struct aspx_doorbell *doorbell)
{
    size_t page = (size_t) sysconf(_SC_PAGESIZE);
    size_t within = (uintptr_t) &doorbell->heartbeat % page;
    char *map;

    map = mremap((char *) (uintptr_t) &doorbell->heartbeat - within, 0, page,
                 MREMAP_MAYMOVE);
    if (map == MAP_FAILED)
        return NULL;
    return (struct aspx_heartbeat *) (void *) (map + within);
}

void aspx_heartbeat_begin(const struct aspx_doorbell *doorbell)
{
    struct aspx_heartbeat *heartbeat = doorbell ? aspx_heartbeat_map(doorbell)
                                                : NULL;

    if (heartbeat)
        atomic_store(&aspx_heartbeat_mine, heartbeat);
}
