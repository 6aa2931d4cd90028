/* SPDX-License-Identifier: BSD-3-Clause */
/* From MPI_Win handle to struct aspx_win: an open-addressed table that is read
 * without a lock. A slot's handle is set once and stays; freeing a window only
 * clears the pointer, so a concurrent probe for another window never loses its
 * way. MPI reuses handles, so dead slots are reused too. A full table is
 * replaced by a larger one; the old one stays for readers that are still in it
 * (all old tables together are smaller than the current one). */
#include "config.h"

#include "window.h"

#include <errno.h>
#include <stdlib.h>

struct slot {
    _Atomic MPI_Win handle; /* MPI_WIN_NULL: never used */
    struct aspx_win *_Atomic win;
};

struct table {
    struct table *old;
    size_t mask; /* slots - 1 */
    size_t used; /* slots with a handle */
    struct slot slots[];
};

enum { FIRST_SLOTS = 64 };

static struct table *_Atomic current;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* MPICH numbers windows in the low bits; spread them a little. */
static size_t hash(MPI_Win handle)
{
    uint32_t h = (uint32_t) handle * UINT32_C(2654435761);

    return h >> 12;
}

struct aspx_win *aspx_win_find(MPI_Win handle)
{
    const struct table *table =
        atomic_load_explicit(&current, memory_order_acquire);

    if (!table)
        return NULL;
    for (size_t i = hash(handle);; i++) {
        const struct slot *slot = &table->slots[i & table->mask];
        MPI_Win found = atomic_load_explicit(&slot->handle,
                                             memory_order_acquire);

        if (found == handle)
            return atomic_load_explicit(&slot->win, memory_order_acquire);
        if (found == MPI_WIN_NULL)
            return NULL;
    }
}

static void put(struct table *table, MPI_Win handle, struct aspx_win *win)
{
    size_t i = hash(handle);
    struct slot *slot = &table->slots[i & table->mask];

    while (slot->handle != MPI_WIN_NULL && slot->handle != handle)
        slot = &table->slots[++i & table->mask];
    atomic_store_explicit(&slot->win, win, memory_order_release);
    if (slot->handle == MPI_WIN_NULL) {
        table->used++;
        atomic_store_explicit(&slot->handle, handle, memory_order_release);
    }
}

/* At most half full, so that every probe ends at an unused slot. */
static struct table *grow(struct table *old)
{
    size_t slots = old ? 2 * (old->mask + 1) : FIRST_SLOTS;
    struct table *table = calloc(1, sizeof(*table) +
                                        slots * sizeof(struct slot));

    if (!table)
        return NULL;
    table->mask = slots - 1;
    table->old = old;
    for (size_t i = 0; i < slots; i++)
        table->slots[i].handle = MPI_WIN_NULL;
    for (size_t i = 0; old && i <= old->mask; i++)
        if (old->slots[i].win)
            put(table, old->slots[i].handle, old->slots[i].win);
    atomic_store_explicit(&current, table, memory_order_release);
    return table;
}

int aspx_win_insert(struct aspx_win *win)
{
    struct table *table;

    pthread_mutex_lock(&mutex);
    table = current;
    if (!table || 2 * (table->used + 1) > table->mask + 1)
        table = grow(table);
    if (table)
        put(table, win->handle, win);
    pthread_mutex_unlock(&mutex);
    if (!table)
        errno = ENOMEM;
    return table ? 0 : -1;
}

void aspx_win_remove(struct aspx_win *win)
{
    struct table *table;

    pthread_mutex_lock(&mutex);
    table = current;
    for (size_t i = 0; table && i <= table->mask; i++) {
        struct slot *slot = &table->slots[(hash(win->handle) + i) &
                                          table->mask];

        if (slot->handle == win->handle) {
            if (slot->win == win)
                atomic_store(&slot->win, NULL);
            break;
        }
    }
    pthread_mutex_unlock(&mutex);
}
