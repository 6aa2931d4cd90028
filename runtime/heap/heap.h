/* SPDX-License-Identifier: BSD-3-Clause */
/* Between libaspen.so, which has memory that ghosts reach, and
 * libaspenheap.so, which stands in front of the program's malloc. They find
 * each other with dlsym(): neither needs the other to be loaded. */
#ifndef ASPEN_RUNTIME_HEAP_HEAP_H
#define ASPEN_RUNTIME_HEAP_HEAP_H

#include <stdint.h>

enum { ASPX_HEAP_VERSION = 1 };

struct aspx_heap {
    uint32_t version;         /* ASPX_HEAP_VERSION */
    uint64_t threshold_bytes; /* smaller allocations stay where they were */
    char *base;               /* every block lies in [base, base + bytes) */
    uint64_t bytes;
    /* Whole pages, page aligned and zero filled, or NULL. Both functions may
     * call malloc and free for less than a page. Threads: any. */
    void *(*take)(uint64_t bytes);
    /* Whole pages of a block, or all of it. Threads: any. */
    void (*give)(void *addr, uint64_t bytes);
};

/* Exported by libaspenheap.so: from now on serve large allocations from there.
 *   heap  copied; its functions and memory must stay until the process ends
 * Returns 0, or -1 with errno EPROTO (version), EBUSY (second offer), ENOMEM,
 * ENOTSUP (the program brings an allocator of its own).
 * Threads: others may allocate meanwhile. */
int aspx_heap_offer(const struct aspx_heap *heap);

/* Exported too: no further block comes from there. Those that the program
 * still has stay valid and may be freed at any time. Threads: any. */
void aspx_heap_withdraw(void);

typedef int aspx_heap_offer_f(const struct aspx_heap *heap);
typedef void aspx_heap_withdraw_f(void);

#endif
