/* SPDX-License-Identifier: BSD-3-Clause */
/* Test and Wait, in all their shapes: they read flags, and enter MPI only for
 * what has callbacks of the program (caller-progressed slots) or was not made
 * by us. */
#include "config.h"

#include "request.h"

#include "ask.h"
#include "pending.h"
#include "raised.h"

#include "mpi_wrap.h"

#include "runtime/base/prefetch.h"

#include <stddef.h>

static void set_empty(MPI_Status *status)
{
    MPI_Status empty = {.MPI_SOURCE = MPI_ANY_SOURCE,
                        .MPI_TAG = MPI_ANY_TAG,
                        .MPI_ERROR = MPI_SUCCESS};

    aspx_real.MPI_Status_set_elements(&empty, MPI_BYTE, 0);
    aspx_real.MPI_Status_set_cancelled(&empty, 0);
    aspx_status_copy(&empty, status);
}

static bool is_active(const struct aspx_request *slot)
{
    return aspx_request_is_active(slot);
}

static bool is_over(const struct aspx_request *slot)
{
    return aspx_command_is_done(&slot->head);
}

/* A caller-progressed slot is moved on by MPI_Test in the offload thread. */
static void test_caller_progressed(void *argument)
{
    struct aspx_request *slot = argument;
    int flag = 0, rc;

    if (is_over(slot))
        return; /* it failed when it was posted */
    slot->status.MPI_ERROR = ASPX_ERROR_UNTOUCHED;
    if (!aspx_in_direct_call)
        aspx_raising.by = &slot->head;
    rc = aspx_behind.MPI_Test(&slot->real, &flag, &slot->status);
    rc = aspx_raised_code(&slot->head, rc);
    if (flag || rc != MPI_SUCCESS)
        aspx_request_ended(slot, rc);
}

static bool has_ended(struct aspx_request *slot)
{
    if (is_over(slot))
        return true;
    if (slot->caller_progressed)
        aspx_command_in_thread(test_caller_progressed, slot);
    else if (aspx_offload_is_self() && !aspx_in_direct_call)
        aspx_pending_test(&slot, 1);
    else
        return false;
    return is_over(slot);
}

/* What has ended is given back; a persistent request sleeps. */
static int hand_out(struct aspx_request *slot, MPI_Request *request,
                    MPI_Status *status, bool error)
{
    int rc = slot->rc;

    if (error)
        slot->status.MPI_ERROR = rc;
    aspx_status_copy(&slot->status, status);
    if (slot->persistent) {
        atomic_store(&slot->head.state, ASPX_INACTIVE);
    } else {
        *request = MPI_REQUEST_NULL;
        aspx_pool_give(slot);
    }
    return rc;
}

/* For its error handler the request is no more. Of a request among others MPI
 * says on MPI_COMM_WORLD alone that it failed, as our caller does; but on the
 * operation's communicator that it could not be posted. */
static int __attribute__((noinline))
finish_failed(struct aspx_request *slot, MPI_Request *request,
              MPI_Status *status, bool error, bool among)
{
    struct aspx_raised *raised = aspx_raised_take(&slot->head);
    bool drop = among && !slot->refused;
    int rc = hand_out(slot, request, status, error);

    if (drop)
        aspx_raised_drop(raised);
    else if (among) /* of several the call says that some have failed */
        (void) aspx_raised_call(raised, rc);
    else
        rc = aspx_raised_call(raised, rc);
    return rc;
}

static int finish_one(struct aspx_request *slot, MPI_Request *request,
                      MPI_Status *status)
{
    return slot->rc == MPI_SUCCESS
               ? hand_out(slot, request, status, false)
               : finish_failed(slot, request, status, false, false);
}

static int finish_among(struct aspx_request *slot, MPI_Request *request,
                        MPI_Status *status, bool error)
{
    return slot->rc == MPI_SUCCESS
               ? hand_out(slot, request, status, error)
               : finish_failed(slot, request, status, error, true);
}

/* The one that was asked for among others. */
static int finish_any(struct aspx_request *slot, MPI_Request *request,
                      MPI_Status *status)
{
    bool raise = slot->rc != MPI_SUCCESS && !slot->refused;
    int rc = finish_among(slot, request, status, false);

    return raise ? aspx_raise_code(rc) : rc;
}

/* One request. */

int aspx_offload_MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct aspx_request *slot;

    if (!request || !flag || !status)
        return aspx_refuse_arguments();
    slot = aspx_request_adopt(request);
    if (!is_active(slot)) {
        *flag = 1;
        set_empty(status);
        return MPI_SUCCESS;
    }
    *flag = has_ended(slot);
    if (!*flag) {
        (void) aspx_ask_again(aspx_ask_is_fresh(), 1, request, ASPX_ASK_EACH);
        *flag = is_over(slot);
    }
    return *flag ? finish_one(slot, request, status) : MPI_SUCCESS;
}

/* Is it time to ask for old ones? Not at once, because the thread may be about
 * to look at them, and to find out takes its time, too; and always before a
 * sleep, which would last until then. */
static bool may_ask(const struct aspx_wait *wait)
{
    enum { LOOKS = 16 }; /* 0.4 us, as long as the question takes */

    return aspx_wait_sleeps(wait) || wait->looks % LOOKS == LOOKS - 1;
}

static void wait_for(struct aspx_request *slot)
{
    struct aspx_wait wait = aspx_request_wait_for(slot);

    while (!has_ended(slot)) {
        if (may_ask(&wait))
            aspx_ask_for_old(1, &slot->handle, ASPX_ASK_EACH);
        aspx_wait_step(&wait);
    }
    aspx_wait_end(&wait);
}

int aspx_offload_MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct aspx_request *slot;

    if (!request || !status)
        return aspx_refuse_arguments();
    slot = aspx_request_adopt(request);
    if (!is_active(slot)) {
        set_empty(status);
        return MPI_SUCCESS;
    }
    wait_for(slot);
    return finish_one(slot, request, status);
}

int aspx_offload_MPI_Request_get_status(MPI_Request request, int *flag,
                                        MPI_Status *status)
{
    struct aspx_request *slot = aspx_pool_find(request);

    if (!flag || !status)
        return aspx_refuse_arguments();
    if (!slot && request != MPI_REQUEST_NULL)
        return aspx_request_get_status_real(request, flag, status);
    if (!is_active(slot)) {
        *flag = 1;
        set_empty(status);
        return MPI_SUCCESS;
    }
    if (slot->caller_progressed && !is_over(slot))
        return aspx_request_get_status(slot, flag, status);
    *flag = has_ended(slot);
    if (!*flag) {
        (void) aspx_ask_again(aspx_ask_is_fresh(), 1, &request, ASPX_ASK_EACH);
        *flag = is_over(slot);
    }
    if (!*flag)
        return MPI_SUCCESS;
    aspx_status_copy(&slot->status, status);
    return slot->rc;
}

/* MPICH's: no progress, and no error. It may be called by functions that MPI
 * calls while it makes progress. */
int aspx_offload_MPIX_Request_is_complete(MPI_Request request)
{
    struct aspx_request *slot = aspx_pool_find(request);

    if (slot && (!is_active(slot) || has_ended(slot)))
        return 1;
#if MPICH_NUMVERSION >= 40300000
    if (!slot || slot->caller_progressed)
        return aspx_behind.MPIX_Request_is_complete(slot ? slot->real
                                                         : request);
#endif
    return 0;
}

/* Several requests. */

struct aspx_set {
    int count;
    MPI_Request *requests;
};

static struct aspx_request *at(const struct aspx_set *set, int i)
{
    return aspx_request_adopt(&set->requests[i]);
}

/* Of how many is that true? */
static int count_of(const struct aspx_set *set,
                    bool (*is_so)(struct aspx_request *slot))
{
    int count = 0;

    for (int i = 0; i < set->count; i++)
        count += is_so(at(set, i));
    return count;
}

static bool is_active_now(struct aspx_request *slot)
{
    return is_active(slot);
}

/* After a look at it. */
static bool is_pending(struct aspx_request *slot)
{
    return is_active(slot) && !has_ended(slot);
}

static bool is_left(struct aspx_request *slot)
{
    return is_active(slot) && !is_over(slot);
}

static bool has_failed(struct aspx_request *slot)
{
    return is_active(slot) && is_over(slot) && slot->rc != MPI_SUCCESS;
}

/* A request that is not ours has become a caller-progressed one here; as long
 * as there has been none, no slot is looked at. */
static bool is_callers(struct aspx_request *slot)
{
    return aspx_request_any_caller_progressed() && is_left(slot) &&
           slot->caller_progressed;
}

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

static bool is_bad(const struct aspx_set *set)
{
    return set->count < 0 || (set->count > 0 && !set->requests);
}

/* The first that can be no request, or NULL. MPI looks at none of the others
 * then. */
static const MPI_Request *find_stray(const struct aspx_set *set)
{
    for (int i = 0; i < set->count; i++)
        if (!aspx_request_may_be(set->requests[i]))
            return &set->requests[i];
    return NULL;
}

/* codes: set MPI_ERROR of each, also if none failed; where one has failed every
 * status carries a code. What has not ended stays. */
static int finish_all(const struct aspx_set *set, MPI_Status *statuses,
                      bool codes)
{
    bool failed = count_of(set, has_failed) != 0;

    for (int i = 0; i < set->count; i++) {
        MPI_Status *status = status_at(statuses, i);
        struct aspx_request *slot = at(set, i);

        if (!is_active(slot))
            set_empty(status);
        else if (is_over(slot))
            finish_among(slot, &set->requests[i], status, codes || failed);
        else if (status != MPI_STATUS_IGNORE)
            status->MPI_ERROR = MPI_ERR_PENDING;
    }
    return failed ? aspx_raise_code(MPI_ERR_IN_STATUS) : MPI_SUCCESS;
}

/* How to wait for any of several. */
static struct aspx_wait wait_of(const struct aspx_set *set)
{
    return (struct aspx_wait){.tests = count_of(set, is_callers) != 0};
}

/* One look at all, but of those on files only at the first that is left. */
static bool all_ended(const struct aspx_set *set)
{
    bool all = true, on_file = false;

    for (int i = 0; i < set->count; i++) {
        struct aspx_request *slot = at(set, i);

        if (!is_active(slot) || (slot->on_file && on_file) || has_ended(slot))
            continue;
        all = false;
        on_file |= slot->on_file;
    }
    return all;
}

static void wait_for_any(const struct aspx_set *set, struct aspx_wait *wait)
{
    if (may_ask(wait))
        aspx_ask_for_old(set->count, set->requests, ASPX_ASK_EACH);
    aspx_wait_step(wait);
}

/* What one waits for may depend on a caller-progressed one: they move on
 * together. */
static void wait_in_turns(const struct aspx_set *set)
{
    struct aspx_wait wait = {.tests = true};

    while (!all_ended(set))
        wait_for_any(set, &wait);
    aspx_wait_end(&wait);
}

/* An error handler, which is called as we finish what it is about, may end,
 * free or post anew what else we wait for: nothing is finished before all is
 * over. */
static void wait_for_what_is_there(const struct aspx_set *set)
{
    struct aspx_wait wait = {0};

    for (int i = 0; i < set->count; i++) {
        struct aspx_request *slot = at(set, i);

        while (is_active(slot) && !has_ended(slot)) {
            if (may_ask(&wait))
                aspx_ask_for_old(1, &set->requests[i], ASPX_ASK_EACH);
            aspx_wait_step(&wait);
            slot = at(set, i);
        }
    }
    aspx_wait_end(&wait);
}

/* The last that is active, or NULL. */
static struct aspx_request *last_active(const struct aspx_set *set)
{
    for (int i = set->count; i-- > 0;) {
        struct aspx_request *slot = at(set, i);

        if (is_active(slot))
            return slot;
    }
    return NULL;
}

/* Where the outcome of one was there at the first look, those of the next few
 * probably are, too: they come from the thread's cache meanwhile, and so does
 * what is written when a slot is given back. */
static void fetch_later(const struct aspx_set *set, int i)
{
    enum { AHEAD = 8 };
    struct aspx_request *later = NULL;

    if (i + AHEAD < set->count)
        later = aspx_pool_find(set->requests[i + AHEAD]);
    if (later) {
        aspx_prefetch_to_write(&later->head);
        aspx_prefetch_to_write(&later->next);
    }
}

/* Where no handler is called each is finished as soon as it has ended: its
 * outcome comes from the thread's cache, and does so while the thread is at
 * work for the next. The last will hardly end before the others: a caller that
 * sleeps does so until then. */
static int finish_in_order(const struct aspx_set *set, MPI_Status *statuses)
{
    struct aspx_request *last = last_active(set);
    struct aspx_wait wait = {0};
    bool failed = false;

    if (last)
        wait = aspx_request_wait_for(last);
    for (int i = 0; i < set->count; i++) {
        MPI_Status *status = status_at(statuses, i);
        struct aspx_request *slot = at(set, i);

        if (!is_active(slot)) {
            set_empty(status);
            continue;
        }
        if (has_ended(slot))
            fetch_later(set, i);
        while (!has_ended(slot) && !(last && is_over(last))) {
            if (may_ask(&wait))
                aspx_ask_for_old(set->count - i, &set->requests[i],
                                 ASPX_ASK_UNTIL_ONE_IS_LEFT);
            if (aspx_wait_sleeps(&wait))
                aspx_ask_for_old(1, &last->handle, ASPX_ASK_EACH);
            aspx_wait_step(&wait);
        }
        if (slot == last)
            aspx_wait_end(&wait);
        wait_for(slot);
        failed |= finish_among(slot, &set->requests[i], status, true) !=
                  MPI_SUCCESS;
    }
    return failed ? aspx_raise_code(MPI_ERR_IN_STATUS) : MPI_SUCCESS;
}

int aspx_offload_MPI_Waitall(int count, MPI_Request requests[],
                             MPI_Status statuses[])
{
    const struct aspx_set set = {count, requests};
    const MPI_Request *stray;

    if (is_bad(&set) || (count > 0 && !statuses))
        return aspx_refuse_arguments();
    if ((stray = find_stray(&set)) != NULL)
        return aspx_refuse_request(*stray);
    if (count_of(&set, is_callers) != 0)
        wait_in_turns(&set);
    else if (aspx_offload_wants_codes())
        wait_for_what_is_there(&set);
    else
        return finish_in_order(&set, statuses);
    return finish_all(&set, statuses, true); /* as MPICH does */
}

int aspx_offload_MPI_Testall(int count, MPI_Request requests[], int *flag,
                             MPI_Status statuses[])
{
    const struct aspx_set set = {count, requests};
    const MPI_Request *stray;
    bool fresh = aspx_ask_is_fresh(), codes = aspx_offload_wants_codes();

    if (is_bad(&set) || !flag || (count > 0 && !statuses))
        return aspx_refuse_arguments();
    if ((stray = find_stray(&set)) != NULL)
        return aspx_refuse_request(*stray);
    /* MPICH does not wait for the others when one has failed. */
    *flag = count_of(&set, is_pending) == 0 ||
            (aspx_ask_again(fresh, count, requests,
                            codes ? ASPX_ASK_EACH
                                  : ASPX_ASK_UNTIL_ONE_IS_LEFT) &&
             count_of(&set, is_left) == 0);
    return *flag || (codes && count_of(&set, has_failed) != 0)
               ? finish_all(&set, statuses, false)
               : MPI_SUCCESS;
}

/* The one that ended first, of several at a time the first in the array, or -1.
 * More may have ended since than plain MPI would have seen by now, which looks
 * at the network only when it finds none. A caller-progressed one ends as it is
 * looked at, here as there; with flags, only flags are. */
static int find_ended(const struct aspx_set *set, bool flags)
{
    const struct aspx_request *first = NULL;
    int found = -1;

    for (int i = 0; i < set->count; i++) {
        struct aspx_request *slot = at(set, i);

        if (!is_active(slot) ||
            !(first || flags ? is_over(slot) : has_ended(slot)))
            continue;
        if (!first && slot->caller_progressed)
            return i;
        if (!first || aspx_request_ended_before(slot, first)) {
            first = slot;
            found = i;
        }
    }
    return found;
}

int aspx_offload_MPI_Testany(int count, MPI_Request requests[], int *indx,
                             int *flag, MPI_Status *status)
{
    const struct aspx_set set = {count, requests};
    const MPI_Request *stray;
    bool fresh = aspx_ask_is_fresh();
    int i;

    if (is_bad(&set) || !indx || !flag || !status)
        return aspx_refuse_arguments();
    if ((stray = find_stray(&set)) != NULL)
        return aspx_refuse_request(*stray);
    i = find_ended(&set, false);
    if (i < 0 && aspx_ask_again(fresh, count, requests, ASPX_ASK_EACH))
        i = find_ended(&set, true);
    *indx = i >= 0 ? i : MPI_UNDEFINED;
    *flag = i >= 0 || count_of(&set, is_active_now) == 0;
    if (i >= 0)
        return finish_any(at(&set, i), &requests[i], status);
    if (*flag)
        set_empty(status);
    return MPI_SUCCESS;
}

int aspx_offload_MPI_Waitany(int count, MPI_Request requests[], int *indx,
                             MPI_Status *status)
{
    const struct aspx_set set = {count, requests};
    const MPI_Request *stray;
    struct aspx_wait wait;
    int i;

    if (is_bad(&set) || !indx || !status)
        return aspx_refuse_arguments();
    if ((stray = find_stray(&set)) != NULL)
        return aspx_refuse_request(*stray);
    wait = wait_of(&set);
    while ((i = find_ended(&set, false)) < 0 &&
           count_of(&set, is_active_now) != 0)
        wait_for_any(&set, &wait);
    aspx_wait_end(&wait);
    *indx = i >= 0 ? i : MPI_UNDEFINED;
    if (i >= 0)
        return finish_any(at(&set, i), &requests[i], status);
    set_empty(status);
    return MPI_SUCCESS;
}

/* Hand out all that have ended; their number, or MPI_UNDEFINED. */
static int finish_some(const struct aspx_set *set, int *ended, int *indices,
                       MPI_Status *statuses)
{
    bool failed = false;
    int active = count_of(set, is_active_now);

    *ended = active ? 0 : MPI_UNDEFINED;
    if (!active)
        return MPI_SUCCESS;
    /* One look at each: more may end meanwhile, and fail. */
    for (int i = 0; i < set->count; i++) {
        struct aspx_request *slot = at(set, i);

        if (!is_active(slot) || !is_over(slot))
            continue;
        indices[(*ended)++] = i;
        failed = failed || slot->rc != MPI_SUCCESS;
    }
    for (int n = 0; n < *ended; n++)
        finish_among(at(set, indices[n]), &set->requests[indices[n]],
                     status_at(statuses, n), failed);
    return failed ? aspx_raise_code(MPI_ERR_IN_STATUS) : MPI_SUCCESS;
}

/* The thread may be in the middle of a look that ends more of these. */
static void catch_up(const struct aspx_set *set)
{
    bool fresh = aspx_ask_is_fresh();

    if (count_of(set, is_pending) != 0)
        (void) aspx_ask_again(fresh, set->count, set->requests, ASPX_ASK_EACH);
}

int aspx_offload_MPI_Testsome(int count, MPI_Request requests[], int *outcount,
                              int indices[], MPI_Status statuses[])
{
    const struct aspx_set set = {count, requests};
    const MPI_Request *stray;

    if (is_bad(&set) || !outcount || (count > 0 && (!indices || !statuses)))
        return aspx_refuse_arguments();
    if ((stray = find_stray(&set)) != NULL)
        return aspx_refuse_request(*stray);
    catch_up(&set);
    return finish_some(&set, outcount, indices, statuses);
}

int aspx_offload_MPI_Waitsome(int count, MPI_Request requests[], int *outcount,
                              int indices[], MPI_Status statuses[])
{
    const struct aspx_set set = {count, requests};
    const MPI_Request *stray;
    struct aspx_wait wait;

    if (is_bad(&set) || !outcount || (count > 0 && (!indices || !statuses)))
        return aspx_refuse_arguments();
    if ((stray = find_stray(&set)) != NULL)
        return aspx_refuse_request(*stray);
    wait = wait_of(&set);
    while (find_ended(&set, false) < 0 && count_of(&set, is_active_now) != 0)
        wait_for_any(&set, &wait);
    aspx_wait_end(&wait);
    catch_up(&set);
    return finish_some(&set, outcount, indices, statuses);
}
