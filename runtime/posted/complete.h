/* SPDX-License-Identifier: BSD-3-Clause */
/* What the calls on requests have in common, which stand in front of MPI's: how
 * one of ours is looked at, waited for and handed out. Each call takes what
 * came for requests of ours, ends those, and hands MPI the others. While one of
 * ours is waited for MPI is polled, as it may have messages to move.
 *
 * calls.c: one request; several.c: arrays; get_status.c: MPI 4.1. */
#ifndef ASPEN_RUNTIME_POSTED_COMPLETE_H
#define ASPEN_RUNTIME_POSTED_COMPLETE_H

#include "request.h"

#include "runtime/base/await.h"

/* Is there no request of ours at all? Then a call is MPI's. */
static inline bool aspx_own_has_none(void)
{
    return atomic_load_explicit(&aspx_own_requests, memory_order_relaxed) == 0;
}

/* Is it one, and not inactive? Takes NULL. */
static inline bool aspx_own_is_active(const struct aspx_own_request *request)
{
    return request && aspx_own_state_of(request) != ASPX_OWN_INACTIVE;
}

/* Take what came. Returns whether nothing is to come for it any more. */
bool aspx_own_has_ended(struct aspx_own_request *request);

/* Its status, and that of what was never begun. Take MPI_STATUS_IGNORE. */
void aspx_own_copy_status(const struct aspx_own_request *request,
                          MPI_Status *status);
void aspx_own_set_empty(MPI_Status *status);

/* aspx_own_finish() in its parts: it has ended, and nobody else has it; it is
 * handed out, and its error returned; that is raised, on MPI_COMM_SELF for
 * MPI_COMM_NULL. */
void aspx_own_complete(struct aspx_own_request *request);
int aspx_own_hand_out(struct aspx_own_request *request, MPI_Request *handle,
                      MPI_Status *status);
int aspx_own_raise(MPI_Comm comm, int rc);

/* Let MPI make progress. */
void aspx_own_poll_mpi(void);

/* Requests of MPI's that are waited for beside ours: some are moved on only by
 * a call that names them, as those of MPI_File_iwrite_all are. */
struct aspx_own_others {
    int count;
    MPI_Request *requests;
    MPI_Status *statuses;
    bool have_ended;
    int rc; /* of these that have ended */
};

/* One of MPI's that ends only when the program does: MPI_Testall with it among
 * others moves these on, and completes none as long as none has failed.
 * MPI_REQUEST_NULL: there is none. */
MPI_Request aspx_own_unending(void);

struct aspx_own_wait {
    struct aspx_own_request *request;
    struct aspx_own_others *others; /* NULL: none */
    uint64_t polled_ns;             /* 0: not yet */
};

/* Wait until look() returns true; a struct aspx_own_wait is the first member of
 * what it looks at. Its request says where to sleep. */
void aspx_own_await_by(aspx_await_look_f *look, void *what);

/* aspx_own_await(), with requests of MPI's beside it, or NULL. */
void aspx_own_await_beside(struct aspx_own_request *request,
                           struct aspx_own_others *others);

/* ---- several ------------------------------------------------------------------ */

enum { ASPX_OWN_FEW = 32 }; /* of an array that is copied to the stack */

/* An array of the program's, and the same without ours. */
struct aspx_own_set {
    int count;
    MPI_Request *requests, *others;
    uint32_t own, open; /* ours: active; of these, not ended */
    bool has_others;
    MPI_Request few[ASPX_OWN_FEW];
};

/* Returns false where none is ours, or nothing can be told: the call is MPI's.
 * Else it is dropped afterwards. */
bool aspx_own_split(struct aspx_own_set *set, int count, MPI_Request *requests);
void aspx_own_drop(struct aspx_own_set *set);

/* Take what came for all of ours, and count those that are open. */
void aspx_own_look_at_all(struct aspx_own_set *set);

/* The first of ours that has ended, or -1. */
int aspx_own_find_ended(const struct aspx_own_set *set);

static inline MPI_Status *aspx_own_status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

#endif
