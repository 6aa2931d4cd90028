/* SPDX-License-Identifier: BSD-3-Clause */
/* A ghost's heartbeat: a few words in the arena's head that it writes as it
 * goes round its loop, and that the watchdogs of its node
 * (casper/watchdog/watchdog.h) read. No system call, no clock. */
#ifndef ASPEN_RUNTIME_CASPER_ARENA_HEARTBEAT_H
#define ASPEN_RUNTIME_CASPER_ARENA_HEARTBEAT_H

#include <stdatomic.h>
#include <stdint.h>

enum aspx_doing {
    ASPX_STARTING, /* has not come to its loop yet */
    ASPX_POLLING,  /* makes MPI progress, looks for messages */
    ASPX_SERVING,  /* a request of the lock service */
    ASPX_NAPPING,  /* nothing to do, bounded */
    ASPX_PARKED,   /* likewise, not active (ghost_scaling.h) */
    ASPX_LEAVING,  /* all users of the node said goodbye */
    ASPX_GONE,     /* about to exit because it should */
};

/* What the watchdogs of the node have told; one of them does for all. */
enum {
    ASPX_REPORTED_SLOW = 1,
    ASPX_REPORTED_LOST = 2,
    ASPX_REPORTED_LEAVING = 4,
    ASPX_REPORTED_STARTING = 8
};

/* A cache line of its own: the ghost writes it in every round. */
struct aspx_heartbeat {
    _Alignas(64) _Atomic uint32_t beat; /* rounds of the loop */
    _Atomic uint32_t doing;             /* enum aspx_doing */
    _Atomic uint32_t reported;
    _Atomic uint32_t backlog;      /* how busy it has been of late */
    _Atomic uint64_t since_ns;     /* CLOCK_MONOTONIC at the first round */
    _Atomic uint64_t start_cpu_ns; /* CPU time used before it: exec, MPI_Init */
    _Atomic uint64_t idle_ns;      /* since then, what was not work */
    _Atomic uint32_t naps;   /* it naps, as no event would wake it: why, of enum
                                aspx_net_deaf */
    _Atomic uint64_t nap_ns; /* when the nap began that it takes; 0: none */
};

/* The ghost's own side: a place where nobody looks until
 * aspx_heartbeat_begin(). */
extern struct aspx_heartbeat *_Atomic aspx_heartbeat_mine;

struct aspx_doorbell;

/* From now on write into this doorbell of the arena, or nowhere when it is
 * NULL. The mapping outlives the arena's, to the end of the process. */
void aspx_heartbeat_begin(const struct aspx_doorbell *doorbell);

static inline struct aspx_heartbeat *aspx_heartbeat_own(void)
{
    return atomic_load_explicit(&aspx_heartbeat_mine, memory_order_relaxed);
}

static inline void aspx_heartbeat_set_doing(enum aspx_doing doing)
{
    atomic_store_explicit(&aspx_heartbeat_own()->doing, doing,
                          memory_order_release);
}

/* There is one writer, so no locked instruction is needed. */
static inline void aspx_heartbeat_bump(void)
{
    struct aspx_heartbeat *heartbeat = aspx_heartbeat_own();
    uint32_t beat = atomic_load_explicit(&heartbeat->beat,
                                         memory_order_relaxed);

    atomic_store_explicit(&heartbeat->beat, beat + 1, memory_order_relaxed);
}

/* How long a ghost has been at work up to now, CLOCK_MONOTONIC; 0 before its
 * first round. While it naps its own count stands still, so what naps is taken
 * for idle. Any process of the node. */
uint64_t aspx_heartbeat_work_ns(const struct aspx_heartbeat *heartbeat,
                                uint64_t now);

/* Map a doorbell's page once more, for a thread that outlives the arena.
 * Returns its heartbeat, or NULL. */
struct aspx_heartbeat *aspx_heartbeat_map(const struct aspx_doorbell *doorbell);

#endif
