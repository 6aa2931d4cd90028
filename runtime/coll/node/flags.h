/* SPDX-License-Identifier: BSD-3-Clause */
/* What is in an area, and the rules by which it is read and written. Internal
 * to this folder.
 *
 * A flag is a number that one rank writes and that only grows; it is never
 * reset. Numbers of data are sequence numbers: the operation's number times
 * 2^32, plus the segment. They may wrap around: only differences count.
 *
 *   ready  my slots hold what I contribute, up to here       written by me
 *   relay  the root's slots hold what it sends, up to here   written by me, when
 *          I have it from my parent
 *   done   I read no slot any more of up to here             written by me
 *
 * A store is a release, a load an acquire: whoever sees a flag sees what its
 * writer had written before, and what that one had seen (relay). A rank that
 * waits for a flag sleeps at the event of its writer, and every store to a flag
 * is followed by a notification of it. */
#ifndef ASPEN_RUNTIME_COLL_NODE_FLAGS_H
#define ASPEN_RUNTIME_COLL_NODE_FLAGS_H

#include "area.h"
#include "node.h"
#include "tree.h"

#include "runtime/base/event.h"

#include <stdatomic.h>

enum {
    ASPX_NODE_LINE = 64, /* bytes that move between caches together */
    /* Of an alltoall of 1,024 ranks a segment has 64 bytes. */
    ASPX_NODE_SEQUENCE_BITS = 32,
};

struct aspx_node_flag {
    _Alignas(ASPX_NODE_LINE) _Atomic uint64_t value;
};

/* Of one rank. */
struct aspx_node_flags {
    _Alignas(ASPX_NODE_LINE) struct aspx_event event;
    struct aspx_node_flag ready, relay, done;
    /* of barriers, numbered on their own; see sync.c */
    struct aspx_node_flag arrived;  /* mine, pulled by my parent */
    struct aspx_node_flag released; /* mine, pulled by my children */
    struct aspx_node_flag told;     /* pushed by my parent */
    struct aspx_node_flag counter;  /* children that have arrived, pushed */
};

/* In front of each slot: what its writer takes the operation for. */
struct aspx_node_slot {
    uint64_t bytes;    /* of the whole block */
    uint64_t segments; /* that it will write */
    uint64_t error;    /* an MPI error code of it, or of those below it */
    uint64_t sizes[];  /* of Scatter and Alltoall, by rank */
};

/* Who still may read the last contents of a slot of mine. */
struct aspx_node_readers {
    uint64_t until; /* their done must be there before I write anew */
    uint32_t first, end;
};

struct aspx_node_area {
    struct aspx_node_flags *flags; /* by index */
    char *slots;
    void *map;
    size_t map_bytes;
    size_t slot_bytes, slot_head; /* of data; before them */
    uint32_t index, count;
    uint64_t operations, syncs; /* begun; ended */
    uint64_t all_done; /* every rank's done has been here: no need to look */
    struct aspx_node_readers readers[2];
    struct aspx_node_tree tree; /* that was used last */
    uint32_t unpolled;          /* operations since MPI was called */
    MPI_Comm comm;
    const struct aspx_real *mpi;
    void (*poll)(void *arg);
    void *poll_arg;
};

/* layout.c: how large it must be; and where its parts are. The memory is
 * zeroed, begins with a page, and is the same for all ranks. */
void aspx_node_lay_out(struct aspx_node_area *area, size_t slot_bytes);
void aspx_node_find_parts(struct aspx_node_area *area, void *map);

static inline struct aspx_node_flags *aspx_node_mine(
    const struct aspx_node_area *area)
{
    return &area->flags[area->index];
}

static inline uint64_t aspx_node_now(const struct aspx_node_op *op)
{
    return op->sequence + op->segment;
}

/* Is it there or beyond? */
static inline bool aspx_node_is_past(uint64_t value, uint64_t wanted)
{
    return (int64_t) (value - wanted) >= 0;
}

/* Has a flag of this rank come to where it is wanted? If not, that is what the
 * operation waits for. */
static inline bool aspx_node_reached(struct aspx_node_op *op, uint32_t rank,
                                     const struct aspx_node_flag *flag,
                                     uint64_t wanted)
{
    if (aspx_node_is_past(
            atomic_load_explicit(&flag->value, memory_order_acquire), wanted))
        return true;
    op->event = &op->area->flags[rank].event;
    return false;
}

static inline void aspx_node_raise(struct aspx_node_area *area,
                                   struct aspx_node_flag *flag, uint64_t value)
{
    atomic_store_explicit(&flag->value, value, memory_order_release);
    aspx_event_notify(&aspx_node_mine(area)->event);
}

/* The slot of a rank for the segment in work: they alternate, also from one
 * operation to the next. */
static inline struct aspx_node_slot *aspx_node_slot(
    const struct aspx_node_op *op, uint32_t rank)
{
    const struct aspx_node_area *area = op->area;
    uint64_t number = (op->sequence >> ASPX_NODE_SEQUENCE_BITS) + op->segment;

    return (void *) (area->slots + (2 * (size_t) rank + number % 2) *
                                       (area->slot_head + area->slot_bytes));
}

static inline char *aspx_node_data(const struct aspx_node_op *op, uint32_t rank)
{
    return (char *) aspx_node_slot(op, rank) + op->area->slot_head;
}

#endif
