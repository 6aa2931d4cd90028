/* SPDX-License-Identifier: BSD-3-Clause */
/* The node's arena: one sparse memory file that every process of the node
 * maps, so that a ghost can reach the windows of its users. The first ghost of
 * the node makes it, the others open it through /proc/PID/fd. It is cut into
 * one slice per user; a user hands out its own slice and nobody else's, so no
 * allocator is shared. Pages exist only once they are touched. */
#ifndef ASPEN_RUNTIME_CASPER_ARENA_ARENA_H
#define ASPEN_RUNTIME_CASPER_ARENA_ARENA_H

#include "ghost_scaling.h"
#include "extents.h"
#include "heartbeat.h"

#include "runtime/base/event.h"
#include "runtime/base/shared_file.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of one ghost: where its users wake it. All 0 to begin with. The ghost waits
 * in ppoll() for its own descriptors, so it is woken by a signal that it lets
 * in only there; ASPX_DOORBELL_SIGNAL does nothing to a process that does not
 * expect it. */
enum { ASPX_DOORBELL_SIGNAL = SIGURG };

struct aspx_doorbell {
    _Alignas(64) struct aspx_event event;
    _Atomic int32_t pid;          /* of the ghost; 0: it does not block yet */
    _Atomic uint32_t unreachable; /* a process may not signal it: it naps */
    _Atomic uint32_t posts; /* non-blocking collectives, of all its users */
    /* Where users ring: how many wait for it, and how many have given it what
     * takes more messages, of which no ring tells. */
    _Atomic uint32_t awaited, owed;
    struct aspx_heartbeat heartbeat;
    struct aspx_ghost_scaling scaling;
};

/* Wake the ghost if it blocks, or have it look once more before it does: the
 * caller has sent it something and is about to wait. Takes NULL. Threads: any.
 * Cost: a fence and a load while the ghost does not block. */
void aspx_doorbell_ring(struct aspx_doorbell *doorbell);

/* How to find an arena; travels in the start-up exchange. */
struct aspx_arena_name {
    struct aspx_shared_file file; /* of 0 bytes: there is none */
    uint64_t head_bytes;          /* before the first slice */
    uint64_t slice_bytes;
    uint64_t addr; /* where its maker mapped it */
};

struct aspx_arena {
    struct aspx_doorbell *doorbells; /* one per ghost of the node */
    void *status_page;   /* behind them, zero-filled and page aligned; a
                            maps anything of the arena maps this */
    uint64_t head_bytes; /* of both */
    char *base;          /* whole file; NULL when only the slice fits */
    char *slice;         /* own slice, users only; NULL: not usable */
    uint64_t slice_off, slice_bytes;
    uint64_t bytes;              /* of the file */
    int fd;                      /* maker, until aspx_arena_made_known() */
    pthread_mutex_t mutex;       /* extents */
    struct aspx_extents extents; /* the free pages of the own slice */
    bool kept; /* the program may use it for ever: not unmapped */
};

/* Make the arena of this node.
 *   nusers  1..ASP_TASKS_MAX, slices to cut
 *   status_bytes  bytes behind the doorbells for what the processes of a node tell each
 *           other (runtime/adapt/node_status_page.h)
 *   name_p  what the others need
 * Returns 0, or -1 with errno (EFBIG: RLIMIT_FSIZE; ENOMEM: RLIMIT_AS). */
int aspx_arena_make(struct aspx_arena *arena, uint32_t nusers,
                    uint64_t status_bytes, struct aspx_arena_name *name_p);

/* Map the arena that another process of this node made.
 *   slice   index of the own slice, or -1 for ghosts, which need all of it
 * A user whose address space is limited maps only its own slice, or a part of
 * it. Returns 0, or -1 with errno; the arena is closed then. */
int aspx_arena_open(struct aspx_arena *arena,
                    const struct aspx_arena_name *name, int slice);

/* Every process of the node has opened it: the maker closes its descriptor. */
void aspx_arena_made_known(struct aspx_arena *arena);

void aspx_arena_close(struct aspx_arena *arena);

/* Take bytes of the own slice: whole pages, so that their memory can go back to
 * the system, zero filled.
 *   align   of the address in this process, a power of two; a page at least
 *   off_p   offset in the file
 * Returns the address, or NULL with errno ENOSPC. Allocates nothing.
 * Threads: any.  Cost: a lock, O(1). */
void *aspx_arena_alloc(struct aspx_arena *arena, uint64_t bytes, uint64_t align,
                       uint64_t *off_p);

/* Give a block back; its pages return to the system. Threads: any. */
void aspx_arena_free(struct aspx_arena *arena, uint64_t off, uint64_t bytes);

/* Offset of [addr, addr + bytes) in the file when it lies in some slice that is
 * mapped here. Returns 0 or -1. */
int aspx_arena_offset(const struct aspx_arena *arena, const void *addr,
                      uint64_t bytes, uint64_t *off_p);

/* The other way round: where [off, off + bytes) is mapped here, or NULL. */
void *aspx_arena_address(const struct aspx_arena *arena, uint64_t off,
                         uint64_t bytes);

#endif
