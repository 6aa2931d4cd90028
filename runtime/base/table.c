/* SPDX-License-Identifier: BSD-3-Clause */
/* Open addressing. A slot's handle is set once and stays; removing only clears
 * the pointer, so a concurrent probe for another handle never loses its way.
 * MPI reuses handles, so dead slots are reused too. When a table is full, its
 * slots are replaced by more; the old ones stay for readers that are still in
 * them (all old ones together are fewer than the current ones). */
#include "config.h"

#include "table.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

struct slot {
    _Atomic int handle; /* 0, no handle of MPI: never used */
    void *_Atomic known;
};

struct aspx_slots {
    struct aspx_slots *old;
    size_t mask; /* slots - 1 */
    size_t used; /* slots with a handle */
    struct slot slot[];
};

enum { FIRST_SLOTS = 64 };

/* MPICH numbers objects in the low bits; spread them a little. */
static size_t hash(int handle)
{
    uint32_t h = (uint32_t) handle * UINT32_C(2654435761);

    return h >> 12;
}

void *aspx_table_find(const struct aspx_table *table, int handle)
{
    const struct aspx_slots *slots = atomic_load_explicit(&table->current,
                                                          memory_order_acquire);

    if (!slots)
        return NULL;
    for (size_t i = hash(handle);; i++) {
        const struct slot *slot = &slots->slot[i & slots->mask];
        int found = atomic_load_explicit(&slot->handle, memory_order_acquire);

        if (found == handle)
            return atomic_load_explicit(&slot->known, memory_order_acquire);
        if (found == 0)
            return NULL;
    }
}

/* That of the handle, or the unused one that it would take. */
static struct slot *slot_of(struct aspx_slots *slots, int handle)
{
    size_t i = hash(handle);
    struct slot *slot = &slots->slot[i & slots->mask];

    while (slot->handle != 0 && slot->handle != handle)
        slot = &slots->slot[++i & slots->mask];
    return slot;
}

static void put_slot(struct aspx_slots *slots, int handle, void *known)
{
    struct slot *slot = slot_of(slots, handle);

    atomic_store_explicit(&slot->known, known, memory_order_release);
    if (slot->handle == 0) {
        slots->used++;
        atomic_store_explicit(&slot->handle, handle, memory_order_release);
    }
}

/* At most half full, so that every probe ends at an unused slot. */
static struct aspx_slots *grow(struct aspx_table *table)
{
    struct aspx_slots *old = table->current, *slots;
    size_t n = old ? 2 * (old->mask + 1) : FIRST_SLOTS;

    slots = calloc(1, sizeof(*slots) + n * sizeof(slots->slot[0]));
    if (!slots)
        return NULL;
    slots->mask = n - 1;
    slots->old = old;
    for (size_t i = 0; old && i <= old->mask; i++)
        if (old->slot[i].known)
            put_slot(slots, old->slot[i].handle, old->slot[i].known);
    atomic_store_explicit(&table->current, slots, memory_order_release);
    return slots;
}

int aspx_table_insert(struct aspx_table *table, int handle, void *known)
{
    struct aspx_slots *slots;

    pthread_mutex_lock(&table->mutex);
    slots = table->current;
    if (!slots || (2 * (slots->used + 1) > slots->mask + 1 &&
                   slot_of(slots, handle)->handle == 0))
        slots = grow(table);
    if (slots)
        put_slot(slots, handle, known);
    pthread_mutex_unlock(&table->mutex);
    if (!slots)
        errno = ENOMEM;
    return slots ? 0 : -1;
}

void aspx_table_remove(struct aspx_table *table, int handle, const void *known)
{
    struct aspx_slots *slots;

    pthread_mutex_lock(&table->mutex);
    slots = table->current;
    if (slots) {
        struct slot *slot = slot_of(slots, handle);

        if (slot->handle == handle && slot->known == known)
            atomic_store(&slot->known, NULL);
    }
    pthread_mutex_unlock(&table->mutex);
}
