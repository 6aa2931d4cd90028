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

enum { ASPX_REQUEST_ARGS = 128 };

/* Has MPI taken the operation? Most callers go on without asking. */
enum aspx_request_posting {
    ASPX_POSTED_NOT_YET,
    ASPX_POSTED,
    ASPX_POSTING_FAILED
};

struct aspx_request {
    /* What the caller looks at while it waits, and the offload thread writes
     * when all is over. */
    _Alignas(64) struct aspx_command head;
    int rc; /* of the call that posted it, or completed it */
    MPI_Status status;
    uint32_t completion_seq; /* poll in which it ended */
    _Atomic bool old;        /* pending, and seldom tested: see pending.c */
    bool refused;            /* it failed when it was posted */
    /* Of a caller that tests: it had not ended when so many commands had been
     * carried out. */
    uint64_t tested_at;
    /* What the caller writes; the next free one, too, else the caller would
     * wait for the line that comes back from the thread. */
    _Alignas(64) struct aspx_request *next;
    MPI_Request handle;
    bool persistent;
    /* MPI tests it only when the program does: its callbacks belong to the
     * program's Test or Wait, or it is on a file. */
    bool caller_progressed;
    bool on_file : 1;    /* ROMIO mixes up operations on one file that are not
                            waited for in the same order everywhere */
    bool calls_back : 1; /* a reduction with a function of the program */
    bool wants_posted;   /* its caller waits until MPI has taken it */
    _Alignas(16) unsigned char args[ASPX_REQUEST_ARGS];
    /* What the offload thread has for itself. */
    MPI_Request real;        /* MPI's request; NULL between two uses */
    _Atomic uint32_t posted; /* enum aspx_request_posting, if wanted */
    bool expected;           /* counted among those that may call back */
    struct aspx_request *pending_prev, *pending_next;
    uint64_t pending_seq; /* counts entries into the lists; 0: not pending */
};

_Static_assert(offsetof(struct aspx_request, args) == ASPX_COMMAND_ARGS &&
                   offsetof(struct aspx_request, real) == ASPX_COMMAND_OWN,
               "as the ring expects");

static inline struct aspx_request *aspx_request_of(struct aspx_command *command)
{
    return (struct aspx_request *) (void *) command; /* its first member */
}

void aspx_pool_start(bool many);

/* Leave it to its caller to move it on; was that ever done? */
static inline void aspx_request_set_caller_progressed(struct aspx_request *slot)
{
    slot->caller_progressed = true;
    atomic_store_explicit(&aspx_offload_had_caller_progressed, true,
                          memory_order_relaxed);
}
static inline bool aspx_request_any_caller_progressed(void)
{
    return atomic_load_explicit(&aspx_offload_had_caller_progressed,
                                memory_order_relaxed);
}

/* A slot whose command runs `run`; its arguments are the caller's to write.
 *   block  what they begin with: unless none, a struct aspx_block
 * Ends the process when there is no memory. */
struct aspx_request *aspx_pool_take(void (*run)(struct aspx_command *command),
                                    enum aspx_command_block block);

/* Give a slot back. */
void aspx_pool_give(struct aspx_request *slot);

/* The slot of a handle; NULL when it is none of ours. */
struct aspx_request *aspx_pool_find(MPI_Request handle);

/* It is a reduction with a function of the program: said before it is posted,
 * or of a persistent request when it was made. */
void aspx_request_expect_callback(struct aspx_request *slot);

/* Post the operation; *request becomes the slot's handle. With sane false, an
 * argument looks wrong or the call sets more than a request: wait until MPI has
 * taken it. Returns what MPI said if we waited. */
int aspx_request_post(struct aspx_request *slot, bool sane,
                      MPI_Request *request);

/* Post the start of a persistent one. */
void aspx_request_post_start(struct aspx_request *slot);

/* How to wait for its end: nobody but its caller moves a caller-progressed one
 * on. */
static inline struct aspx_wait aspx_request_wait_for(struct aspx_request *slot)
{
    return slot->caller_progressed
               ? (struct aspx_wait){.tests = true}
               : (struct aspx_wait){.event = aspx_command_event_of(slot)};
}

/* Hand a status to the program, which may ignore it. */
void aspx_status_copy(const MPI_Status *from, MPI_Status *to);

/* Post the operation, wait for its end, give the slot back. */
int aspx_request_post_and_wait(struct aspx_request *slot, MPI_Status *status);

/* Wrap a request that MPI made: a persistent one, or a caller-progressed one.
 */
MPI_Request aspx_request_wrap_persistent(MPI_Request real);
MPI_Request aspx_request_wrap_caller_progressed(MPI_Request real);

/* Of two that have ended: did this one before the other, for MPI? */
static inline bool aspx_request_ended_before(const struct aspx_request *slot,
                                             const struct aspx_request *other)
{
    return (int32_t) (slot->completion_seq - other->completion_seq) < 0;
}

#endif
