/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is active: of the ghosts reserved on a node, the first so many are
 * active, the others are parked (knob ghost.active). The first one decides
 * (runtime/adapt/decide/ghost_scaling.h) and is never parked. A parked ghost
 * gets no Puts and Gets and naps longer, but carries out whatever reaches it:
 * nobody has to know in time. docs/design/adaptation.md */
#ifndef ASPEN_RUNTIME_CASPER_ARENA_GHOST_SCALING_H
#define ASPEN_RUNTIME_CASPER_ARENA_GHOST_SCALING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { ASPX_SCALING_CHANGES = 63 };

/* When, in microseconds since the first ghost's heartbeat.since_ns, and how
 * many are
 * active since: us << 8 | active. */
typedef uint64_t aspx_scaling_change;

/* Of one ghost, in its doorbell of the arena; its node's first ghost writes
 * most of it, and only when something changes. */
struct aspx_ghost_scaling {
    _Alignas(64) _Atomic uint32_t active; /* ghosts of the node; 0: all */
    _Atomic uint32_t changes;             /* the first ghost's: so many */
    _Atomic uint64_t parked_since_ns;     /* CLOCK_MONOTONIC; 0: active */
    _Atomic uint64_t parked_ns;           /* before that */
    /* The ghost itself: CPU time it has used while parked, less what it had
     * used in all when that began; and is it still, as far as it knows? */
    _Atomic int64_t parked_cpu_ns;
    _Atomic uint32_t parked_seen;
    _Atomic aspx_scaling_change
        change[ASPX_SCALING_CHANGES]; /* the first of them */
};

struct aspx_engine;

/* In a ghost: once, before its loop; after aspx_idle_start(). */
void aspx_ghost_scaling_start(const struct aspx_engine *engine);

/* And in every round of the loop. Decides once in an interval, in the first
 * ghost of a node.  Cost: a look at the clock there, else nothing. */
void aspx_ghost_scaling_step(void);

/* How long until it decides again; UINT64_MAX where it does not, or where rest
 * could not change anything. Microseconds. */
uint64_t aspx_ghost_scaling_due_us(void);

/* In a user, once: the engine has started.
 *   interval_s  how often the first ghosts decide */
void aspx_ghost_scaling_follow(const struct aspx_engine *engine,
                               double interval_s);

/* How many of the ghosts of a node are active, as far as this process knows: 1
 * to reserved. Threads: any.  Cost: a load. */
uint32_t aspx_ghost_scaling_active(uint32_t node, uint32_t reserved);

/* Which ghost of its node should carry out accumulates for this process: its
 * main one, or one that is active in its place.  Cost: a load. */
uint32_t aspx_ghost_scaling_mine(void);

/* Before a flush of a ghost (world rank): let it bring how many of its node
 * are, if that was long ago.
 *   contig  the flush is that of the contiguous window */
void aspx_ghost_scaling_ask(int ghost, bool contig);

#endif
