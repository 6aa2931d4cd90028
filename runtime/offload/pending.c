/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI tells of an end only when it is asked for the request, and each question
 * takes some 15 ns: of a thousand receives that wait for ever as long as fifty
 * messages. Up to a window of requests, a poll asks for all of them. For more
 * there are two lists. Recent is what was posted or asked for lately: each poll
 * looks at these. Old is the rest: a poll looks at a portion of it, the next
 * poll at the next one. A caller that waits for an old one, or tests it, asks
 * for it by name (ask.h), which makes it recent; and the portions go on behind
 * it, because programs mostly wait in the order in which they posted.
 *
 * An operation that fails inside MPI_Testsome is raised on MPI_COMM_WORLD, one
 * that fails inside MPI_Test on its own communicator. As long as the program
 * has set no error handler both end the job; after that each request gets a
 * test of its own.
 *
 * MPI may call functions of the program inside that test, and these may post,
 * wait and free themselves. Such an inner poll looks only at what came after
 * the outer one began; what is older is tested by the Wait that is for it. The
 * outer one knows its requests by their numbers, and so what is gone. */
#include "config.h"

#include "pending.h"

#include "raised.h"
#include "state.h"

#include "runtime/mpi/handle.h"
#include "runtime/base/prefetch.h"

enum {
    WINDOW = ASPX_PENDING_WINDOW,
    RECENT_MOST = WINDOW / 2, /* of more than a window */
    /* After so many polls others grow old: 5 us at least, which most operations
     * that somebody waits for do not take. */
    RECENT_POLLS = 64,
    PORTION_LEAST = 8, /* takes as long as two calls */
};

struct list {
    struct aspx_request *first, *last;
    uint32_t count;
};

/* Written in each poll; on lines of its own, because callers would wait for
 * what they read there. */
static struct {
    _Alignas(ASPX_COMMAND_LINE) struct list recent; /* by number */
    struct list old;
    struct aspx_request *next_old; /* where the next portion begins; NULL: at
                                   the first */
    uint32_t portion;
    /* When all of recent, and then so many of old, one after the other, have
     * been looked at, all have, since so many commands had been carried out. */
    uint32_t sweep_left; /* more than needed, if one of old was taken out */
    uint64_t sweep_run;
    uint64_t pending_seq; /* the last one given */
    uint64_t inner;   /* the last one when the poll began that is under way: an
                         inner one looks at those behind; 0: none is */
    uint64_t polled;  /* the last one at the last poll */
    bool new_alone;   /* which was only for what was new */
    uint64_t run;     /* at the last one that was not */
    uint32_t polls;   /* of those */
    uint64_t younger; /* as the last ones grew old: what is old next time */
} pending = {.portion = PORTION_LEAST};

/* Raised by each poll, so on a line of its own. */
static struct {
    _Alignas(ASPX_COMMAND_LINE) _Atomic uint32_t count;
} completion_seq;

static bool is_old(const struct aspx_request *slot)
{
    return atomic_load_explicit(&slot->old, memory_order_relaxed);
}

uint32_t aspx_pending_count(void)
{
    return pending.recent.count + pending.old.count;
}

static void append_to(struct list *list, struct aspx_request *slot)
{
    slot->pending_prev = list->last;
    slot->pending_next = NULL;
    if (list->last)
        list->last->pending_next = slot;
    else
        list->first = slot;
    list->last = slot;
    list->count++;
}

static void take_out(struct aspx_request *slot)
{
    struct list *list = is_old(slot) ? &pending.old : &pending.recent;

    if (slot == pending.next_old)
        pending.next_old = slot->pending_next;
    if (slot->pending_prev)
        slot->pending_prev->pending_next = slot->pending_next;
    else
        list->first = slot->pending_next;
    if (slot->pending_next)
        slot->pending_next->pending_prev = slot->pending_prev;
    else
        list->last = slot->pending_prev;
    list->count--;
}

static void make_old(struct aspx_request *slot)
{
    take_out(slot);
    atomic_store_explicit(&slot->old, true, memory_order_relaxed);
    append_to(&pending.old, slot);
    pending.sweep_left++;
}

/* As the youngest. */
static void enter_lists(struct aspx_request *slot)
{
    slot->pending_seq = ++pending.pending_seq;
    append_to(&pending.recent, slot);
    if (aspx_pending_count() <= WINDOW)
        return;
    while (pending.recent.count > RECENT_MOST)
        make_old(pending.recent.first);
}

static void leave_lists(struct aspx_request *slot)
{
    take_out(slot);
    slot->pending_seq = 0;
    if (is_old(slot))
        atomic_store_explicit(&slot->old, false, memory_order_relaxed);
}

static void ended(struct aspx_request *slot, int rc, bool refused)
{
    slot->rc = rc;
    slot->refused = refused;
    slot->completion_seq = atomic_load_explicit(&completion_seq.count,
                                                memory_order_relaxed);
    if (slot->expected) {
        slot->expected = false;
        atomic_fetch_sub_explicit(&aspx_callbacks.expected, 1,
                                  memory_order_relaxed);
    }
    aspx_command_ended(&slot->head, aspx_command_event_of(slot));
}

void aspx_request_ended(struct aspx_request *slot, int rc)
{
    ended(slot, aspx_raised_code(&slot->head, rc), false);
}

/* Before anything else that ends later: MPI_Waitany of a small send and of the
 * receive that answers it gives the send first. MPI does not look around in a
 * wait for what is over. */
static void end_at_once(struct aspx_request *slot)
{
    int rc;

    slot->status.MPI_ERROR = ASPX_ERROR_UNTOUCHED;
    rc = aspx_behind.MPI_Wait(&slot->real, &slot->status);
    aspx_offload_counts.ended++;
    aspx_request_ended(slot, rc);
}

static void add_request(struct aspx_request *slot)
{
    aspx_offload_counts.posted++;
    if (aspx_handle_is_over(slot->real)) {
        end_at_once(slot);
        return;
    }
    enter_lists(slot);
}

void aspx_request_posted(struct aspx_request *slot, int rc)
{
    bool failed;

    rc = aspx_raised_code(&slot->head, rc);
    failed = rc != MPI_SUCCESS;
    if (aspx_in_direct_call)
        aspx_request_set_caller_progressed(slot);
    if (failed && !slot->persistent)
        slot->real = MPI_REQUEST_NULL;
    if (slot->wants_posted) {
        atomic_store_explicit(&slot->posted,
                              failed ? ASPX_POSTING_FAILED : ASPX_POSTED,
                              memory_order_release);
        aspx_command_notify(); /* its caller may sleep by now */
    }
    if (failed)
        ended(slot, rc, true);
    else if (!slot->caller_progressed)
        add_request(slot);
}

void aspx_pending_remove(struct aspx_request *slot)
{
    if (slot->pending_seq != 0)
        leave_lists(slot);
}

void aspx_pending_forget(void)
{
    while (pending.recent.first)
        leave_lists(pending.recent.first);
    while (pending.old.first)
        leave_lists(pending.old.first);
}

/* MPI keeps a persistent request's handle, and takes back any other. */
static void end_request(struct aspx_request *slot, const MPI_Status *status,
                        int rc)
{
    slot->status = *status;
    leave_lists(slot);
    aspx_offload_counts.ended++;
    aspx_request_ended(slot, rc);
}

static bool test_one(struct aspx_request *slot)
{
    MPI_Status status = {.MPI_ERROR = ASPX_ERROR_UNTOUCHED};
    int flag = 0, rc;

    aspx_raising.by = &slot->head;
    rc = aspx_behind.MPI_Test(&slot->real, &flag, &status);
    rc = aspx_raised_code(&slot->head, rc);
    if (!flag && rc == MPI_SUCCESS)
        return false;
    end_request(slot, &status, rc);
    return true;
}

struct window {
    struct aspx_request *slots[WINDOW];
    uint32_t count;
};

static uint32_t test_each(const struct window *window)
{
    uint64_t numbers[WINDOW];
    uint32_t ended = 0;

    for (uint32_t i = 0; i < window->count; i++)
        numbers[i] = window->slots[i]->pending_seq;
    for (uint32_t i = 0; i < window->count; i++)
        ended += window->slots[i]->pending_seq == numbers[i] &&
                 test_one(window->slots[i]);
    return ended;
}

static uint32_t test_some(const struct window *window)
{
    MPI_Request reals[WINDOW];
    MPI_Status statuses[WINDOW];
    int which[WINDOW], ended = 0, rc;

    for (uint32_t i = 0; i < window->count; i++) {
        statuses[i].MPI_ERROR = ASPX_ERROR_UNTOUCHED;
        reals[i] = window->slots[i]->real;
    }
    rc = aspx_behind.MPI_Testsome((int) window->count, reals, &ended, which,
                                  statuses);
    if (ended == MPI_UNDEFINED || ended <= 0)
        return 0;
    for (int i = 0; i < ended; i++)
        aspx_prefetch_to_write(window->slots[which[i]]);
    for (int i = 0; i < ended; i++) {
        struct aspx_request *slot = window->slots[which[i]];

        slot->real = reals[which[i]];
        end_request(slot, &statuses[i],
                    rc == MPI_ERR_IN_STATUS ? statuses[i].MPI_ERROR
                                            : MPI_SUCCESS);
    }
    return (uint32_t) ended;
}

static uint32_t test_window(const struct window *window)
{
    uint64_t outer = pending.inner;
    uint32_t ended;

    pending.inner = pending.pending_seq;
    atomic_store_explicit(
        &completion_seq.count,
        atomic_load_explicit(&completion_seq.count, memory_order_relaxed) + 1,
        memory_order_relaxed);
    ended = aspx_offload_wants_codes() ? test_each(window) : test_some(window);
    pending.inner = outer;
    return ended;
}

static void gather_behind(struct window *window, uint64_t last)
{
    struct aspx_request *slot = pending.recent.last, *first = NULL;

    for (; slot && slot->pending_seq > last; slot = slot->pending_prev)
        first = slot;
    for (slot = first; slot && window->count < WINDOW;
         slot = slot->pending_next)
        window->slots[window->count++] = slot;
}

/* Of a window's worth, in every other poll, those alone that are new since the
 * last one: they may be over already. */
static bool gather_new(struct window *window)
{
    uint64_t before = pending.polled;

    pending.polled = pending.pending_seq;
    if (!pending.new_alone && pending.pending_seq != before &&
        aspx_pending_count() <= WINDOW)
        gather_behind(window, before);
    pending.new_alone = window->count != 0 &&
                        window->count != aspx_pending_count();
    return pending.new_alone;
}

static void gather_window(struct window *window)
{
    uint32_t most = WINDOW - pending.recent.count;
    struct aspx_request *slot = pending.recent.first;

    for (; slot; slot = slot->pending_next)
        window->slots[window->count++] = slot;
    if (aspx_pending_count() > WINDOW && pending.portion < most)
        most = pending.portion;
    for (uint32_t i = 0; i < most && i < pending.old.count; i++) {
        slot = pending.next_old ? pending.next_old : pending.old.first;
        window->slots[window->count++] = slot;
        pending.next_old = slot->pending_next;
        pending.sweep_left -= pending.sweep_left != 0;
    }
}

/* The larger portions are for times with nothing else to do, and where much of
 * what is old ends. */
static uint32_t next_portion(bool worked, bool old_ended)
{
    uint32_t portion = pending.portion;

    if (old_ended)
        return WINDOW;
    if (worked)
        return portion / 2 > PORTION_LEAST ? portion / 2 : PORTION_LEAST;
    return portion < WINDOW ? portion + 1 : WINDOW;
}

/* A caller that sleeps until one ends cannot ask for it again. */
static void age_recent(void)
{
    struct aspx_request *slot = pending.recent.first;

    if (++pending.polls % RECENT_POLLS != 0 || aspx_pending_count() <= WINDOW)
        return;
    while (slot && slot->pending_seq <= pending.younger) {
        struct aspx_request *behind = slot->pending_next;

        if (!aspx_event_has_waiters(aspx_command_event_of(slot)))
            make_old(slot);
        slot = behind;
    }
    pending.younger = pending.pending_seq;
}

static uint32_t poll_all_lists(uint64_t run)
{
    uint32_t olds = pending.old.count, ended;
    struct window window;

    window.count = 0;
    if (gather_new(&window))
        return test_window(&window);
    window.count = 0; /* new are all */
    if (pending.sweep_left > pending.old.count)
        pending.sweep_left = pending.old.count;
    if (pending.sweep_left == 0) {
        pending.sweep_run = run;
        pending.sweep_left = pending.old.count;
    }
    gather_window(&window);
    ended = test_window(&window);
    if (pending.sweep_left == 0)
        aspx_command_looked(pending.sweep_run);
    pending.portion = next_portion(ended || run != pending.run,
                                   pending.old.count < olds);
    pending.run = run;
    age_recent();
    return ended;
}

static uint32_t poll_inner(void)
{
    struct window window;

    window.count = 0;
    gather_behind(&window, pending.inner);
    return window.count ? test_window(&window) : 0;
}

uint32_t aspx_pending_poll(uint64_t run)
{
    if (pending.inner != 0)
        return poll_inner();
    if (aspx_pending_count() != 0)
        return poll_all_lists(run);
    aspx_command_looked(run);
    return 0;
}

void aspx_pending_test(struct aspx_request *const slots[], uint32_t count)
{
    struct window window;
    bool few = count <= RECENT_MOST / 2;

    window.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct aspx_request *slot = slots[i];

        if (slot->pending_seq == 0)
            continue;
        window.slots[window.count++] = slot;
        if (pending.inner != 0 || !is_old(slot))
            continue;
        pending.next_old = slot->pending_next;
        pending.sweep_left = pending.old.count;
        if (few) {
            leave_lists(slot);
            enter_lists(slot);
        }
    }
    if (window.count != 0)
        (void) test_window(&window);
}
