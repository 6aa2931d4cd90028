/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool: chunks of slots, found by index, and lists of free ones. A program
 * with one thread in MPI at a time has a list without locked instructions;
 * callbacks in the offload thread have one of their own. */
#include "config.h"

#include "request_pool.h"

#include "raised.h"
#include "state.h"

#include "runtime/base/log.h"

#include <ck_stack.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

/* What Concurrency Kit's stack guarantees, said to the thread sanitizer, which
 * does not understand its fences: all that was written before something is
 * handed over is seen by the thread that takes it. */
#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define ASPX_HANDED_OVER(thing) __tsan_release(thing)
#define ASPX_TAKEN(thing)       __tsan_acquire(thing)
#else
#define ASPX_HANDED_OVER(thing) ((void) (thing))
#define ASPX_TAKEN(thing)       ((void) (thing))
#endif

enum {
    CHUNK_BITS = 10,
    CHUNK = 1 << CHUNK_BITS,
    CHUNKS = 1 << 14, /* 16 million requests under way */
};

/* As MPICH's requests that are built in, of which it has a handful; those that
 * we get from it are never seen by the program. */
#define HANDLE_BASE 0x6c000000
#define HANDLE_MASK 0xfc000000u

static _Atomic(struct aspx_request *) chunks[CHUNKS];
static uint32_t nchunks;
static pthread_mutex_t grow_lock = PTHREAD_MUTEX_INITIALIZER;
static bool many_takers;

/* Free slots: of the program's threads, one at a time; of many; of
 * callbacks. */
static struct aspx_request *free_one, *free_self;
/* An instruction changes both its words at once, and faults where they do not
 * lie in one block of 16 bytes (x86: cmpxchg16b). */
static _Alignas(16) ck_stack_t free_many = CK_STACK_INITIALIZER;

_Static_assert(offsetof(struct aspx_request, head) == 0, "aspx_request_of");
_Static_assert(sizeof(free_many) == 2 * sizeof(void *) &&
                   __alignof__(free_many) >= 2 * sizeof(void *),
               "ck_stack_pop_mpmc");

/* MPI leaves MPI_ERROR alone in most single completions; so do we. */
void aspx_status_copy(const MPI_Status *from, MPI_Status *to)
{
    int kept;

    if (to == MPI_STATUS_IGNORE)
        return;
    kept = to->MPI_ERROR;
    *to = *from;
    if (from->MPI_ERROR == ASPX_ERROR_UNTOUCHED)
        to->MPI_ERROR = kept;
}

void aspx_pool_start(bool many)
{
    many_takers = many;
}

/* A post goes past these; inlined they would have it save all registers. */
#define APART __attribute__((noinline))

static struct aspx_request **own_list(void)
{
    return aspx_offload_is_self() ? &free_self : &free_one;
}

/* ck_stack's entry is one pointer, as our next is. */
static ck_stack_entry_t *entry_of(struct aspx_request *slot)
{
    return (ck_stack_entry_t *) (void *) &slot->next;
}

void aspx_pool_give(struct aspx_request *slot)
{
    struct aspx_request **list = own_list();

    if (many_takers) {
        ASPX_HANDED_OVER(slot);
        ck_stack_push_mpmc(&free_many, entry_of(slot));
        return;
    }
    slot->next = *list;
    *list = slot;
}

APART static void grow_pool(void)
{
    struct aspx_request *chunk;

    pthread_mutex_lock(&grow_lock);
    chunk = nchunks < CHUNKS
                ? aligned_alloc(64, CHUNK * sizeof(struct aspx_request))
                : NULL;
    if (!chunk) {
        aspx_log(ASPX_LOG_ERROR,
                 "no memory for more than %u requests of this "
                 "rank",
                 nchunks * CHUNK);
        abort();
    }
    for (uint32_t i = 0; i < CHUNK; i++) {
        chunk[i].handle = (MPI_Request) (HANDLE_BASE | nchunks << CHUNK_BITS |
                                         i);
        chunk[i].real = MPI_REQUEST_NULL;
        chunk[i].expected = false;
        chunk[i].pending_seq = 0;
        chunk[i].tested_at = 0;
        atomic_init(&chunk[i].old, false);
        atomic_init(&chunk[i].posted, ASPX_POSTED_NOT_YET);
    }
    atomic_store(&chunks[nchunks], chunk);
    nchunks++;
    for (uint32_t i = CHUNK; i-- > 0;)
        aspx_pool_give(&chunk[i]);
    pthread_mutex_unlock(&grow_lock);
}

APART static struct aspx_request *pop_many(void)
{
    ck_stack_entry_t *entry = ck_stack_pop_mpmc(&free_many);
    struct aspx_request *slot;

    if (!entry)
        return NULL;
    slot = (struct aspx_request *) (void *) ((char *) entry -
                                             offsetof(struct aspx_request,
                                                      next));
    ASPX_TAKEN(slot);
    return slot;
}

static struct aspx_request *pop_slot(void)
{
    struct aspx_request **list = own_list(), *slot;

    if (many_takers)
        return pop_many();
    slot = *list;
    if (slot)
        *list = slot->next;
    return slot;
}

struct aspx_request *aspx_pool_take(void (*run)(struct aspx_command *command),
                                    enum aspx_command_block block)
{
    struct aspx_request *slot;

    while (!(slot = pop_slot()))
        grow_pool();
    slot->head.run = run;
    slot->head.block = block;
    slot->persistent = slot->caller_progressed = slot->wants_posted = false;
    slot->on_file = slot->calls_back = false;
    atomic_store_explicit(&slot->head.state, ASPX_BUSY, memory_order_relaxed);
    return slot;
}

struct aspx_request *aspx_pool_find(MPI_Request handle)
{
    uint32_t index = (uint32_t) handle & ~HANDLE_MASK;
    struct aspx_request *chunk;

    if (((uint32_t) handle & HANDLE_MASK) != HANDLE_BASE ||
        index >> CHUNK_BITS >= CHUNKS)
        return NULL;
    chunk = atomic_load_explicit(&chunks[index >> CHUNK_BITS],
                                 memory_order_acquire);
    return chunk ? &chunk[index % CHUNK] : NULL;
}

/* Its end was waited for, and no request of the program tells of it. */
static int give_back(struct aspx_request *slot)
{
    struct aspx_raised *raised = NULL;
    int rc = slot->rc;

    if (rc != MPI_SUCCESS)
        raised = aspx_raised_take(&slot->head);
    aspx_pool_give(slot);
    return aspx_raised_call(raised, rc);
}

/* Wait until MPI has said what it thinks of the arguments. */
APART static int wait_posted(struct aspx_request *slot, MPI_Request *request)
{
    struct aspx_wait wait = {0};
    uint32_t posted;

    while (!(posted = atomic_load(&slot->posted)))
        aspx_wait_step(&wait);
    aspx_wait_end(&wait);
    atomic_store_explicit(&slot->posted, ASPX_POSTED_NOT_YET,
                          memory_order_relaxed);
    if (posted == ASPX_POSTED) {
        *request = slot->handle;
        return MPI_SUCCESS;
    }
    aspx_command_wait(&slot->head);
    return give_back(slot);
}

static void expect_callback(struct aspx_request *slot)
{
    slot->expected = true;
    aspx_callback_expect();
}

void aspx_request_expect_callback(struct aspx_request *slot)
{
    slot->calls_back = true;
    if (!slot->persistent)
        expect_callback(slot);
}

void aspx_request_post_start(struct aspx_request *slot)
{
    struct aspx_wait wait = {0};

    if (slot->calls_back)
        expect_callback(slot);
    slot->wants_posted = aspx_callback_is_expected();
    aspx_command_post(&slot->head);
    if (!slot->wants_posted)
        return;
    while (!atomic_load(&slot->posted) && !aspx_command_is_done(&slot->head))
        aspx_wait_step(&wait);
    aspx_wait_end(&wait);
    slot->wants_posted = false;
    atomic_store_explicit(&slot->posted, ASPX_POSTED_NOT_YET,
                          memory_order_relaxed);
}

int aspx_request_post(struct aspx_request *slot, bool sane,
                      MPI_Request *request)
{
    sane = sane && !aspx_callback_is_expected();
    if (sane)
        *request = slot->handle;
    else
        slot->wants_posted = true;
    aspx_command_post(&slot->head);
    return sane ? MPI_SUCCESS : wait_posted(slot, request);
}

int aspx_request_post_and_wait(struct aspx_request *slot, MPI_Status *status)
{
    struct aspx_wait wait = aspx_request_wait_for(slot);

    aspx_command_post(&slot->head);
    while (!aspx_command_is_done(&slot->head))
        aspx_wait_step(&wait);
    aspx_wait_end(&wait);
    aspx_status_copy(&slot->status, status);
    return give_back(slot);
}

static MPI_Request wrap_request(MPI_Request real, bool caller_progressed)
{
    struct aspx_request *slot = aspx_pool_take(NULL, ASPX_BLOCK_NONE);

    slot->real = real;
    slot->persistent = !caller_progressed;
    if (caller_progressed)
        aspx_request_set_caller_progressed(slot);
    else
        atomic_store(&slot->head.state, ASPX_INACTIVE);
    return slot->handle;
}

MPI_Request aspx_request_wrap_persistent(MPI_Request real)
{
    return wrap_request(real, false);
}

MPI_Request aspx_request_wrap_caller_progressed(MPI_Request real)
{
    return wrap_request(real, true);
}
