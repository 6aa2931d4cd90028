/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by casper.c after the engine is up, and before it goes. */
#include "config.h"

#include "offer.h"

#include "heap.h"

#include "runtime/base/log.h"

#include "common/layout/layout.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct aspx_arena *memory;

static void *take_pages(uint64_t bytes)
{
    uint64_t off;

    return aspx_arena_alloc(memory, bytes, 1, &off);
}

static void give_pages(void *addr, uint64_t bytes)
{
    uint64_t off;

    if (aspx_arena_offset(memory, addr, bytes, &off) == 0)
        aspx_arena_free(memory, off, bytes);
}

/* All ranks run the same program, so one of them says it. */
static void report_private(const struct aspx_world *world, const char *why)
{
    if (world->rank_user == 0)
        aspx_log(ASPX_LOG_WARNING,
                 "heap=shared, but %s; allocations stay "
                 "private",
                 why);
}

void aspx_heap_start(struct aspx_arena *arena, const struct aspx_world *world)
{
    const struct asp_knobs *knobs = &world->layout->knobs;
    aspx_heap_offer_f *offer;
    void *found;

    if (knobs->heap != ASP_HEAP_SHARED || !arena->slice)
        return;
    found = dlsym(RTLD_DEFAULT, "aspx_heap_offer");
    if (!found) {
        report_private(world, "libaspenheap.so is not preloaded");
        return;
    }
    memcpy(&offer, &found, sizeof(found));
    memory = arena;
    if (offer(&(struct aspx_heap){
            .version = ASPX_HEAP_VERSION,
            .threshold_bytes = (uint64_t) knobs->heap_threshold_kb << 10,
            .base = arena->slice,
            .bytes = arena->slice_bytes,
            .take = take_pages,
            .give = give_pages,
        }) == 0)
        arena->kept = true;
    else
        report_private(world, errno == ENOTSUP
                                  ? "the program brings an allocator of "
                                    "its own"
                                  : strerror(errno));
}

void aspx_heap_stop(void)
{
    aspx_heap_withdraw_f *withdraw;
    void *found;

    if (!memory || !memory->kept)
        return;
    found = dlsym(RTLD_DEFAULT, "aspx_heap_withdraw");
    memcpy(&withdraw, &found, sizeof(found));
    if (withdraw)
        withdraw();
}
