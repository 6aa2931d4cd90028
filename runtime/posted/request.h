/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of Aspen's own, for what was posted to other processes of the node:
 * a handle that MPICH never gives out, valid in C and in Fortran. MPI does not
 * know them; the calls of complete.h stand in front of MPI's, end what is ours
 * and hand on the rest.
 *
 *   free --take--> inactive --start--> active --end--> ended --> free, or
 *    ^                                   |                       inactive
 *    +---end--- abandoned <--MPI_Request_free                    (persistent)
 *
 * The pool grows, and requests never move. Threads: any; one request is
 * completed by one thread at a time, as in MPI. */
#ifndef ASPEN_RUNTIME_POSTED_REQUEST_H
#define ASPEN_RUNTIME_POSTED_REQUEST_H

#include "runtime/base/event.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum aspx_own_state {
    ASPX_OWN_FREE,
    ASPX_OWN_INACTIVE,
    ASPX_OWN_ACTIVE,
    ASPX_OWN_ABANDONED,
    ASPX_OWN_ENDED,
};

struct aspx_own_request;

/* What they are of. */
struct aspx_own_kind {
    /* Take what came, for this one at least. */
    void (*step)(struct aspx_own_request *request);
    /* Where to sleep for an active one. */
    struct aspx_event *(*event)(struct aspx_own_request *request);
    /* After a wait for it; NULL: nothing. */
    void (*waited)(struct aspx_own_request *request);
    /* MPI_Start and MPI_Cancel; NULL: it is an error of the program's, or has
     * no effect. Return an error code. */
    int (*start)(struct aspx_own_request *request);
    int (*cancel)(struct aspx_own_request *request);
    /* It has ended, and is about to be handed out: what only a thread of the
     * program may do; NULL: nothing. */
    void (*completed)(struct aspx_own_request *request);
    /* It goes back to the pool; NULL: nothing. */
    void (*released)(struct aspx_own_request *request);
};

enum { ASPX_OWN_ROOM = 128 }; /* bytes of a request that are its kind's */

struct aspx_own_request {
    const struct aspx_own_kind *kind;
    _Atomic uint32_t state; /* enum aspx_own_state */
    MPI_Request handle;
    bool persistent;
    bool freed; /* from the beginning: nobody completes it */
    /* Of one that has ended: */
    int rc;        /* MPI_SUCCESS, or an error code */
    MPI_Comm comm; /* where that is raised; MPI_COMM_NULL: on MPI_COMM_SELF */
    int source, tag;
    uint64_t bytes;
    bool cancelled;
    struct aspx_own_request *next; /* of the free ones, or its kind's */
    _Alignas(16) unsigned char room[ASPX_OWN_ROOM];
};

/* How many there are that are not free: as long as there are none, the calls in
 * front cost a load. */
extern _Atomic uint32_t aspx_own_requests;

/* A new one, inactive; NULL: no memory. */
struct aspx_own_request *aspx_own_take(const struct aspx_own_kind *kind);

/* Give it back. */
void aspx_own_give(struct aspx_own_request *request);

/* Of a handle; NULL: it is none of ours, or free. */
struct aspx_own_request *aspx_own_find(MPI_Request handle);

/* Of its number among all, for a kind that tells that to another process; NULL:
 * there is none. */
struct aspx_own_request *aspx_own_at(uint32_t number);
uint32_t aspx_own_number(const struct aspx_own_request *request);

/* It has ended: what follows rc says how. One that the program has freed goes
 * back to the pool. Calls no MPI; any thread. */
void aspx_own_end(struct aspx_own_request *request);

/* The program lets go of it: it goes back to the pool, now or when it ends. */
void aspx_own_abandon(struct aspx_own_request *request);

/* Is something to come for it? */
static inline bool aspx_own_is_under_way(const struct aspx_own_request *request)
{
    enum aspx_own_state state = (enum aspx_own_state) atomic_load_explicit(
        &request->state, memory_order_acquire);

    return state == ASPX_OWN_ACTIVE || state == ASPX_OWN_ABANDONED;
}

/* Begin: a request that is inactive becomes active. */
void aspx_own_begin(struct aspx_own_request *request);

static inline enum aspx_own_state aspx_own_state_of(
    const struct aspx_own_request *request)
{
    return (enum aspx_own_state) atomic_load_explicit(&request->state,
                                                      memory_order_acquire);
}

/* Wait until it has ended; MPI makes progress meanwhile. */
void aspx_own_await(struct aspx_own_request *request);

/* What a call that completes it hands to the program: the status, the error,
 * which is raised; the request is given back, or inactive again. Returns what
 * the call returns. */
int aspx_own_finish(struct aspx_own_request *request, MPI_Request *handle,
                    MPI_Status *status);

/* Write a status but for MPI_ERROR, which MPI leaves alone where one request is
 * completed. Takes MPI_STATUS_IGNORE. */
void aspx_own_set_status(MPI_Status *status, int source, int tag,
                         uint64_t bytes, bool cancelled);

#endif
