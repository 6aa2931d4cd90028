/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool: chunks of requests, found by number, and a list of free ones. */
#include "config.h"

#include "request.h"

#include "posted.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    CHUNK_BITS = 8,
    CHUNK = 1 << CHUNK_BITS,
    CHUNKS = 1 << 16, /* 16 million requests under way */
};

/* As MPICH's requests that are built in, of which it has a handful, the first
 * ones; offload/request_pool.c has others of them, and never runs beside us. */
#define HANDLE_BASE 0x6e000000u
#define HANDLE_MASK 0xfe000000u

_Atomic uint32_t aspx_own_requests;

static _Atomic(struct aspx_own_request *) chunks[CHUNKS];
static uint32_t nchunks;
static struct aspx_own_request *free_ones;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool grow(void)
{
    struct aspx_own_request *chunk = nchunks < CHUNKS
                                         ? calloc(CHUNK, sizeof(*chunk))
                                         : NULL;

    if (!chunk)
        return false;
    for (uint32_t i = CHUNK; i-- > 0;) {
        chunk[i].handle = (MPI_Request) (HANDLE_BASE | nchunks << CHUNK_BITS |
                                         i);
        chunk[i].next = free_ones;
        free_ones = &chunk[i];
    }
    atomic_store(&chunks[nchunks++], chunk);
    return true;
}

struct aspx_own_request *aspx_own_take(const struct aspx_own_kind *kind)
{
    struct aspx_own_request *request = NULL;

    pthread_mutex_lock(&lock);
    if (free_ones || grow()) {
        request = free_ones;
        free_ones = request->next;
    }
    pthread_mutex_unlock(&lock);
    if (!request)
        return NULL;
    atomic_fetch_add_explicit(&aspx_own_requests, 1, memory_order_relaxed);
    request->kind = kind;
    request->persistent = request->freed = false;
    request->rc = MPI_SUCCESS;
    request->comm = MPI_COMM_NULL;
    atomic_store_explicit(&request->state, ASPX_OWN_INACTIVE,
                          memory_order_relaxed);
    return request;
}

void aspx_own_give(struct aspx_own_request *request)
{
    if (request->kind->released)
        request->kind->released(request);
    atomic_store_explicit(&request->state, ASPX_OWN_FREE, memory_order_relaxed);
    atomic_fetch_sub_explicit(&aspx_own_requests, 1, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    request->next = free_ones;
    free_ones = request;
    pthread_mutex_unlock(&lock);
}

struct aspx_own_request *aspx_own_at(uint32_t number)
{
    struct aspx_own_request *chunk;

    if (number >> CHUNK_BITS >= CHUNKS)
        return NULL;
    chunk = atomic_load_explicit(&chunks[number >> CHUNK_BITS],
                                 memory_order_acquire);
    return chunk ? &chunk[number % CHUNK] : NULL;
}

uint32_t aspx_own_number(const struct aspx_own_request *request)
{
    return (uint32_t) request->handle & ~HANDLE_MASK;
}

struct aspx_own_request *aspx_own_find(MPI_Request handle)
{
    struct aspx_own_request *request;

    if (((uint32_t) handle & HANDLE_MASK) != HANDLE_BASE)
        return NULL;
    request = aspx_own_at((uint32_t) handle & ~HANDLE_MASK);
    return request && aspx_own_state_of(request) != ASPX_OWN_FREE ? request
                                                                  : NULL;
}

void aspx_own_end(struct aspx_own_request *request)
{
    bool freed = request->freed; /* then it may be another's */
    uint32_t before = atomic_exchange(&request->state, ASPX_OWN_ENDED);

    if (freed || before == ASPX_OWN_ABANDONED)
        aspx_own_give(request);
}

void aspx_own_abandon(struct aspx_own_request *request)
{
    uint32_t active = ASPX_OWN_ACTIVE;

    request->persistent = false;
    if (!atomic_compare_exchange_strong(&request->state, &active,
                                        ASPX_OWN_ABANDONED))
        aspx_own_give(request);
}

void aspx_own_begin(struct aspx_own_request *request)
{
    request->rc = MPI_SUCCESS;
    request->source = MPI_ANY_SOURCE;
    request->tag = MPI_ANY_TAG;
    request->bytes = 0;
    request->cancelled = false;
    atomic_store_explicit(&request->state, ASPX_OWN_ACTIVE,
                          memory_order_relaxed);
}

void aspx_own_set_status(MPI_Status *status, int source, int tag,
                         uint64_t bytes, bool cancelled)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    aspx_posted_behind.MPI_Status_set_elements_x(status, MPI_BYTE,
                                                 (MPI_Count) bytes);
    aspx_posted_behind.MPI_Status_set_cancelled(status, cancelled);
}
