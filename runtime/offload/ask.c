/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions of callers about their requests, which the offload thread answers
 * by testing them. */
#include "config.h"

#include "ask.h"

#include "pending.h"
#include "request.h"
#include "state.h"

/* The slot of a request that the thread can look at, and that has not ended;
 * or NULL. */
static struct aspx_request *find_pending(MPI_Request request)
{
    struct aspx_request *slot = aspx_pool_find(request);

    return slot && !slot->caller_progressed &&
                   atomic_load_explicit(&slot->head.state,
                                        memory_order_acquire) == ASPX_BUSY
               ? slot
               : NULL;
}

struct question {
    struct aspx_command head;
    int count;
    const MPI_Request *requests;
    enum aspx_ask how;
    int asked;    /* so many have been tested */
    uint64_t run; /* after so many commands */
};

static bool any_left(struct aspx_request *const slots[], uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!aspx_command_is_done(&slots[i]->head))
            return true;
    }
    return false;
}

/* A window's worth of those that come next. Returns whether that may do. */
static bool test_next(struct question *q)
{
    struct aspx_request *slots[ASPX_PENDING_WINDOW];
    uint32_t count = 0;

    while (q->asked < q->count && count < ASPX_PENDING_WINDOW) {
        struct aspx_request *slot = find_pending(q->requests[q->asked++]);

        if (slot)
            slots[count++] = slot;
    }
    aspx_pending_test(slots, count);
    return q->how == ASPX_ASK_UNTIL_ONE_IS_LEFT && any_left(slots, count);
}

static void answer_question(struct aspx_command *head)
{
    struct question *q = (void *) head;

    q->run = aspx_command_asked();
    while (q->asked < q->count && !test_next(q)) {
    }
    aspx_command_done(head);
}

static void ask_thread(int count, const MPI_Request requests[],
                       enum aspx_ask how)
{
    struct question q = {.head.run = answer_question,
                         .count = count,
                         .requests = requests,
                         .how = how};

    aspx_command_ask(&q.head);
    for (int i = 0; i < q.asked; i++) {
        struct aspx_request *slot = find_pending(requests[i]);

        if (slot)
            slot->tested_at = q.run;
    }
}

/* Have those been looked at that are not done, since so many commands had been
 * posted? */
static bool were_seen(int count, const MPI_Request requests[],
                      enum aspx_ask how, uint64_t posted)
{
    for (int i = 0; i < count; i++) {
        const struct aspx_request *slot = find_pending(requests[i]);

        if (!slot)
            continue;
        if (slot->tested_at != posted)
            return false;
        if (how == ASPX_ASK_UNTIL_ONE_IS_LEFT)
            return true;
    }
    return true;
}

bool aspx_ask_is_fresh(void)
{
    return aspx_command_has_looked(aspx_command_posted());
}

bool aspx_ask_again(bool fresh, int count, const MPI_Request requests[],
                    enum aspx_ask how)
{
    if (fresh || aspx_offload_is_self() ||
        were_seen(count, requests, how, aspx_command_posted()))
        aspx_request_found_nothing();
    else
        ask_thread(count, requests, how);
    return !fresh;
}

static bool any_old(int count, const MPI_Request requests[])
{
    for (int i = 0; i < count; i++) {
        const struct aspx_request *slot = aspx_pool_find(requests[i]);

        if (slot && atomic_load_explicit(&slot->old, memory_order_relaxed))
            return true;
    }
    return false;
}

/* What was posted and not yet taken comes before the answer. Where that is
 * much, flags that the thread sets between are earlier. */
static bool is_near(void)
{
    enum { COMMANDS = 16 }; /* as the thread carries out between two polls */

    return !aspx_command_is_behind(COMMANDS);
}

void aspx_ask_for_old(int count, const MPI_Request requests[],
                      enum aspx_ask how)
{
    int first = how == ASPX_ASK_EACH ? count : 1;

    if (any_old(first, requests) && !aspx_offload_is_self() && is_near())
        ask_thread(count, requests, how);
}
