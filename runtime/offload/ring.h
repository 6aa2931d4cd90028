/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring of pointers with one consumer, and one producer or many.
 *
 * Each cell holds a pointer and, in its lowest bit, the parity of the lap in
 * which it was written. The consumer looks at the next cell only: one cache
 * line travels for each command. (A ring with a head and a tail, as Concurrency
 * Kit's, moves two, and its producer reads the consumer's place each time.) A
 * producer looks at how far the consumer is only when, by what it last knew,
 * the ring is full; many producers draw tickets, so none waits for another. */
#ifndef ASPEN_RUNTIME_OFFLOAD_RING_H
#define ASPEN_RUNTIME_OFFLOAD_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ASPX_RING_CELLS = 4096, ASPX_RING_LINE = 64 };

struct aspx_ring {
    /* written by producers */
    _Alignas(ASPX_RING_LINE) _Atomic uint64_t tickets;
    _Atomic uint64_t known_taken; /* a former value of taken */
    bool many;                    /* producers; fixed */
    /* written by the consumer */
    _Alignas(ASPX_RING_LINE) _Atomic uint64_t taken;
    _Alignas(ASPX_RING_LINE) _Atomic uintptr_t cells[ASPX_RING_CELLS];
};

/* The lowest bit of what is written in the lap of this ticket; cells that were
 * never written have that of the lap before the first. */
static inline uintptr_t aspx_ring_parity(uint64_t ticket)
{
    return ~(ticket / ASPX_RING_CELLS) & 1;
}

static inline void aspx_ring_start(struct aspx_ring *ring, bool many)
{
    ring->many = many;
}

static inline uint64_t aspx_ring_ticket(struct aspx_ring *ring)
{
    uint64_t ticket;

    if (ring->many)
        return atomic_fetch_add_explicit(&ring->tickets, 1,
                                         memory_order_relaxed);
    ticket = atomic_load_explicit(&ring->tickets, memory_order_relaxed);
    atomic_store_explicit(&ring->tickets, ticket + 1, memory_order_relaxed);
    return ticket;
}

/* Is the ticket's cell free? Acquires, because the consumer has read it. */
static inline bool aspx_ring_has_room(struct aspx_ring *ring, uint64_t ticket)
{
    uint64_t taken = atomic_load_explicit(&ring->known_taken,
                                          memory_order_acquire);

    if (ticket - taken < ASPX_RING_CELLS)
        return true;
    taken = atomic_load_explicit(&ring->taken, memory_order_acquire);
    atomic_store_explicit(&ring->known_taken, taken, memory_order_release);
    return ticket - taken < ASPX_RING_CELLS;
}

/* Publish a pointer, whose lowest bit is 0, under a ticket that has room. */
static inline void aspx_ring_put(struct aspx_ring *ring, uint64_t ticket,
                                 void *pointer)
{
    atomic_store_explicit(&ring->cells[ticket % ASPX_RING_CELLS],
                          (uintptr_t) pointer | aspx_ring_parity(ticket),
                          memory_order_release);
}

/* Consumer: the next pointer, or NULL. */
static inline void *aspx_ring_take(struct aspx_ring *ring)
{
    uint64_t next = atomic_load_explicit(&ring->taken, memory_order_relaxed);
    uintptr_t cell = atomic_load_explicit(&ring->cells[next % ASPX_RING_CELLS],
                                          memory_order_acquire);

    if ((cell & 1) != aspx_ring_parity(next))
        return NULL;
    atomic_store_explicit(&ring->taken, next + 1, memory_order_release);
    return (void *) (cell & ~(uintptr_t) 1);
}

/* Consumer: the pointer that comes so many after the next, or NULL. */
static inline void *aspx_ring_peek(const struct aspx_ring *ring, uint32_t after)
{
    uint64_t it = atomic_load_explicit(&ring->taken, memory_order_relaxed) +
                  after;
    uintptr_t cell = atomic_load_explicit(&ring->cells[it % ASPX_RING_CELLS],
                                          memory_order_acquire);

    return (cell & 1) == aspx_ring_parity(it) ? (void *) (cell & ~(uintptr_t) 1)
                                              : NULL;
}

#endif
