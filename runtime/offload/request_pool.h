/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests as the program sees them: slots of a pool. A slot holds the command
 * that posts the operation, then the request that MPI gave for it, then how it
 * ended. Its handle is an integer that MPICH would never give out, valid in C
 * and in Fortran; the pool grows, and slots never move.
 *
 * The program's thread writes the arguments, the offload thread the outcome;
 * they lie on different cache lines. */
#ifndef ASPEN_RUNTIME_OFFLOAD_REQUEST_POOL_H
#define ASPEN_RUNTIME_OFFLOAD_REQUEST_POOL_H

#include "command.h"
#include "state.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum { ASPX_SLOT_ARGS = 128 };

/* Has MPI taken the operation? Most callers go on without asking. */
enum aspx_slot_issue { ASPX_ISSUED_NOT_YET, ASPX_ISSUED, ASPX_ISSUED_FAILED };

struct aspx_slot {
    /* what the caller looks at while it waits, and the offload thread writes
     * when all is over */
    _Alignas(64) struct aspx_command head;
    int rc; /* of the call that posted it, or completed it */
    MPI_Status status;
    uint32_t moment; /* of its end: of two that differ the one came first */
    _Atomic uint32_t bell; /* who waits until it has ended sleeps here */
    _Atomic bool old;      /* under way, and seldom looked at: see pending.c */
    bool refused;          /* it failed when it was posted, if it did */
    uint64_t seen; /* for who tests it: when so many commands had been carried
                      out it was looked at, and had not ended */
    /* what the caller writes; the next free one, too, else it would wait for
     * the line that comes back from the thread */
    _Alignas(64) struct aspx_slot *next;
    MPI_Request handle;
    bool persistent;
    bool lazy; /* MPI looks at it only when the program asks: its callbacks
                  belong to the program's Test or Wait, or it is on a file */
    bool on_file : 1;    /* ROMIO mixes up operations on one file that are not
                            waited for in the same order everywhere */
    bool calls_back : 1; /* a reduction with a function of the program */
    bool asks;           /* wants to know when MPI has taken it */
    _Alignas(16) unsigned char args[ASPX_SLOT_ARGS];
    /* what the offload thread has for itself */
    MPI_Request real;        /* MPI's request; NULL between two uses */
    _Atomic uint32_t issued; /* enum aspx_slot_issue, if the caller asks */
    bool expected;           /* counted among those that may call back */
    struct aspx_slot *before, *behind; /* it in a list of pending.c */
    uint64_t number; /* counts what entered the lists; 0: not under way */
};

_Static_assert(offsetof(struct aspx_slot, args) == ASPX_COMMAND_ARGS &&
                   offsetof(struct aspx_slot, real) == ASPX_COMMAND_OWN,
               "as the ring expects");

static inline struct aspx_slot *aspx_slot_of(struct aspx_command *command)
{
    return (struct aspx_slot *) (void *) command; /* its first member */
}

void aspx_slot_start(bool many);

/* Make one lazy; has there ever been one? */
static inline void aspx_slot_make_lazy(struct aspx_slot *slot)
{
    slot->lazy = true;
    atomic_store_explicit(&aspx_offload_had_lazy, true, memory_order_relaxed);
}
static inline bool aspx_slot_had_lazy(void)
{
    return atomic_load_explicit(&aspx_offload_had_lazy, memory_order_relaxed);
}

/* A slot whose command runs `run`; its arguments are the caller's to write.
 *   block  what they begin with: unless none, a struct aspx_block
 * Ends the process when there is no memory. */
struct aspx_slot *aspx_slot_take(void (*run)(struct aspx_command *command),
                                 enum aspx_command_block block);

/* Give a slot back. */
void aspx_slot_give(struct aspx_slot *slot);

/* The slot of a handle; NULL when it is none of ours. */
struct aspx_slot *aspx_slot_find(MPI_Request handle);

/* It is a reduction with a function of the program: said before it is posted,
 * or of a persistent request when it was made. */
void aspx_slot_calls_back(struct aspx_slot *slot);

/* Post the operation; *request becomes the slot's handle. With sane false, an
 * argument looks wrong or the call sets more than a request: wait until MPI has
 * taken it. Returns what MPI said if we waited. */
int aspx_slot_post(struct aspx_slot *slot, bool sane, MPI_Request *request);

/* Post the start of a persistent one. */
void aspx_slot_post_start(struct aspx_slot *slot);

/* How to wait for its end: nobody but its caller moves a lazy one on. */
static inline struct aspx_rest aspx_slot_rest(struct aspx_slot *slot)
{
    return slot->lazy ? (struct aspx_rest){.nap_us = ASPX_REST_NAP_US}
                      : (struct aspx_rest){.bell = &slot->bell};
}

/* Hand a status to the program, which may ignore it. */
void aspx_status_copy(const MPI_Status *from, MPI_Status *to);

/* Post the operation, wait for its end, give the slot back. */
int aspx_slot_wait(struct aspx_slot *slot, MPI_Status *status);

/* Wrap a request that MPI made: a persistent one, or a lazy one. */
MPI_Request aspx_slot_persistent(MPI_Request real);
MPI_Request aspx_slot_lazy(MPI_Request real);

/* Of two that have ended: did this one before the other, for MPI? */
static inline bool aspx_slot_was_before(const struct aspx_slot *slot,
                                        const struct aspx_slot *other)
{
    return (int32_t) (slot->moment - other->moment) < 0;
}

#endif
