/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls on arrays of requests: MPI gets a copy in which ours are
 * MPI_REQUEST_NULL. */
#include "config.h"

#include "complete.h"
#include "posted.h"

#include "mpi_behind.h"
#include "mpi_wrap.h"

#include <stdlib.h>

bool aspx_own_split(struct aspx_own_set *set, int count, MPI_Request *requests)
{
    bool any = false;

    if (aspx_own_has_none() || count <= 0 || !requests)
        return false;
    for (int i = 0; i < count && !any; i++)
        any = aspx_own_find(requests[i]);
    if (!any)
        return false;
    set->count = count;
    set->requests = requests;
    set->own = 0;
    set->has_others = false;
    set->others = count <= ASPX_OWN_FEW
                      ? set->few
                      : malloc((size_t) count * sizeof(*requests));
    if (!set->others) {
        (void) aspx_own_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        abort(); /* which request is whose is lost */
    }
    for (int i = 0; i < count; i++) {
        struct aspx_own_request *own = aspx_own_find(requests[i]);

        set->others[i] = own ? MPI_REQUEST_NULL : requests[i];
        set->own += aspx_own_is_active(own);
        set->has_others |= set->others[i] != MPI_REQUEST_NULL;
    }
    return true;
}

void aspx_own_drop(struct aspx_own_set *set)
{
    if (set->others != set->few)
        free(set->others);
}

/* Give the program what MPI made of its requests. */
static void join(struct aspx_own_set *set)
{
    for (int i = 0; i < set->count; i++)
        if (!aspx_own_find(set->requests[i]))
            set->requests[i] = set->others[i];
    aspx_own_drop(set);
}

void aspx_own_look_at_all(struct aspx_own_set *set)
{
    set->open = 0;
    for (int i = 0; i < set->count; i++) {
        struct aspx_own_request *own = aspx_own_find(set->requests[i]);

        set->open += own && !aspx_own_has_ended(own);
    }
}

/* Hand out one of those that have ended; its error is in its status. Returns
 * whether it failed. */
static bool finish_among(struct aspx_own_request *own, MPI_Request *request,
                         MPI_Status *status, MPI_Comm *comm_p)
{
    MPI_Comm comm;
    int rc;

    aspx_own_complete(own);
    comm = own->comm;
    rc = aspx_own_hand_out(own, request, status);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = rc;
    if (rc != MPI_SUCCESS)
        *comm_p = comm;
    return rc != MPI_SUCCESS;
}

/* All of ours have ended, and MPI has said rc of the others. */
static int finish_all(struct aspx_own_set *set, MPI_Status *statuses, int rc)
{
    MPI_Comm comm = MPI_COMM_NULL;
    bool failed = false;

    for (int i = 0; i < set->count; i++) {
        struct aspx_own_request *own = aspx_own_find(set->requests[i]);

        if (aspx_own_is_active(own))
            failed |= finish_among(own, &set->requests[i],
                                   aspx_own_status_at(statuses, i), &comm);
        else if (rc == MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE)
            statuses[i].MPI_ERROR = MPI_SUCCESS; /* in case ours has failed */
    }
    return failed && rc == MPI_SUCCESS ? aspx_own_raise(comm, MPI_ERR_IN_STATUS)
                                       : rc;
}

int aspx_posted_MPI_Waitall(int count, MPI_Request *requests,
                            MPI_Status *statuses)
{
    struct aspx_own_set set;
    struct aspx_own_others others;
    int rc;

    if (!aspx_own_split(&set, count, requests))
        return aspx_posted_behind.MPI_Waitall(count, requests, statuses);
    others = (struct aspx_own_others){count, set.others, statuses, false,
                                      MPI_SUCCESS};
    for (int i = 0; i < count; i++) {
        struct aspx_own_request *own = aspx_own_find(requests[i]);

        if (aspx_own_is_active(own))
            aspx_own_await_beside(own, set.has_others ? &others : NULL);
    }
    rc = others.have_ended
             ? others.rc
             : aspx_posted_behind.MPI_Waitall(count, set.others, statuses);
    rc = finish_all(&set, statuses, rc);
    join(&set);
    return rc;
}

/* One of ours is open, so none of MPI's may be completed, unless one has
 * failed: in its place stands one of MPI's that is open. */
static int move_others_on(struct aspx_own_set *set, int *flag,
                          MPI_Status *statuses)
{
    MPI_Request unending = set->has_others ? aspx_own_unending()
                                           : MPI_REQUEST_NULL;
    int i = 0;

    if (unending == MPI_REQUEST_NULL) {
        aspx_own_poll_mpi();
        return MPI_SUCCESS;
    }
    while (!aspx_own_is_active(aspx_own_find(set->requests[i])))
        i++;
    set->others[i] = unending;
    return aspx_posted_behind.MPI_Testall(set->count, set->others, flag,
                                          statuses);
}

int aspx_posted_MPI_Testall(int count, MPI_Request *requests, int *flag,
                            MPI_Status *statuses)
{
    struct aspx_own_set set;
    int rc = MPI_SUCCESS;

    if (!aspx_own_split(&set, count, requests))
        return aspx_posted_behind.MPI_Testall(count, requests, flag, statuses);
    aspx_own_look_at_all(&set);
    *flag = set.open == 0;
    if (*flag)
        rc = aspx_posted_behind.MPI_Testall(count, set.others, flag, statuses);
    else
        rc = move_others_on(&set, flag, statuses);
    if (*flag)
        rc = finish_all(&set, statuses, rc);
    join(&set);
    return rc;
}

int aspx_own_find_ended(const struct aspx_own_set *set)
{
    for (int i = 0; i < set->count; i++) {
        struct aspx_own_request *own = aspx_own_find(set->requests[i]);

        if (own && aspx_own_state_of(own) == ASPX_OWN_ENDED)
            return i;
    }
    return -1;
}

int aspx_posted_MPI_Testany(int count, MPI_Request *requests, int *index,
                            int *flag, MPI_Status *status)
{
    struct aspx_own_set set;
    int rc = MPI_SUCCESS, i;

    if (!aspx_own_split(&set, count, requests))
        return aspx_posted_behind.MPI_Testany(count, requests, index, flag,
                                              status);
    aspx_own_look_at_all(&set);
    i = aspx_own_find_ended(&set);
    if (i >= 0) {
        *index = i;
        *flag = 1;
        rc = aspx_own_finish(aspx_own_find(requests[i]), &requests[i], status);
    } else {
        rc = aspx_posted_behind.MPI_Testany(count, set.others, index, flag,
                                            status);
        if (*index == MPI_UNDEFINED && set.open > 0)
            *flag = 0;
        if (!set.has_others)
            aspx_own_poll_mpi();
    }
    join(&set);
    return rc;
}

static int some_of_ours(struct aspx_own_set *set, int *ended, int *indexes,
                        MPI_Status *statuses, int rc)
{
    MPI_Comm comm = MPI_COMM_NULL;
    bool failed = false;
    int n = *ended == MPI_UNDEFINED ? 0 : *ended;

    for (int i = 0; i < set->count; i++) {
        struct aspx_own_request *own = aspx_own_find(set->requests[i]);

        if (!own || aspx_own_state_of(own) != ASPX_OWN_ENDED)
            continue;
        failed |= finish_among(own, &set->requests[i],
                               aspx_own_status_at(statuses, n), &comm);
        indexes[n++] = i;
    }
    if (failed && rc == MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE)
        for (int i = 0; *ended != MPI_UNDEFINED && i < *ended; i++)
            statuses[i].MPI_ERROR = MPI_SUCCESS; /* MPI's: none has failed */
    if (n > 0 || set->own > 0)
        *ended = n;
    return failed && rc == MPI_SUCCESS ? aspx_own_raise(comm, MPI_ERR_IN_STATUS)
                                       : rc;
}

int aspx_posted_MPI_Testsome(int count, MPI_Request *requests, int *ended,
                             int *indexes, MPI_Status *statuses)
{
    struct aspx_own_set set;
    int rc;

    if (!aspx_own_split(&set, count, requests))
        return aspx_posted_behind.MPI_Testsome(count, requests, ended, indexes,
                                               statuses);
    aspx_own_look_at_all(&set);
    rc = aspx_posted_behind.MPI_Testsome(count, set.others, ended, indexes,
                                         statuses);
    if (!set.has_others && set.open == set.own)
        aspx_own_poll_mpi();
    rc = some_of_ours(&set, ended, indexes, statuses, rc);
    join(&set);
    return rc;
}

/* For any of several requests. */
struct several {
    struct aspx_own_wait wait;
    int count;
    MPI_Request *requests;
    int *number, *indexes; /* number: index or how many */
    MPI_Status *statuses;
    bool (*test)(struct several *several);
    int rc;
};

static bool test_any(struct several *several)
{
    int flag = 0;

    several->rc = aspx_posted_MPI_Testany(several->count, several->requests,
                                          several->number, &flag,
                                          several->statuses);
    return several->rc != MPI_SUCCESS || flag;
}

static bool test_some(struct several *several)
{
    several->rc = aspx_posted_MPI_Testsome(several->count, several->requests,
                                           several->number, several->indexes,
                                           several->statuses);
    return several->rc != MPI_SUCCESS || *several->number != 0;
}

static bool look_at_several(void *arg)
{
    struct several *several = arg;

    return several->test(several);
}

/* MPI's own call would never see ours end, so test. Returns whether any of them
 * is ours, and active. */
static bool await_several(struct several *several)
{
    for (int i = 0;
         !aspx_own_has_none() && several->requests && i < several->count; i++) {
        struct aspx_own_request *own = aspx_own_find(several->requests[i]);

        if (aspx_own_is_active(own))
            several->wait.request = own;
    }
    if (!several->wait.request)
        return false;
    aspx_own_await_by(look_at_several, several);
    return true;
}

int aspx_posted_MPI_Waitany(int count, MPI_Request *requests, int *index,
                            MPI_Status *status)
{
    struct several several = {.count = count,
                              .requests = requests,
                              .number = index,
                              .statuses = status,
                              .test = test_any};
    struct aspx_own_set set;
    int rc;

    if (await_several(&several))
        return several.rc;
    if (!aspx_own_split(&set, count, requests))
        return aspx_posted_behind.MPI_Waitany(count, requests, index, status);
    rc = aspx_posted_behind.MPI_Waitany(count, set.others, index, status);
    join(&set);
    return rc;
}

int aspx_posted_MPI_Waitsome(int count, MPI_Request *requests, int *ended,
                             int *indexes, MPI_Status *statuses)
{
    struct several several = {.count = count,
                              .requests = requests,
                              .number = ended,
                              .indexes = indexes,
                              .statuses = statuses,
                              .test = test_some};
    struct aspx_own_set set;
    int rc;

    if (await_several(&several))
        return several.rc;
    if (!aspx_own_split(&set, count, requests))
        return aspx_posted_behind.MPI_Waitsome(count, requests, ended, indexes,
                                               statuses);
    rc = aspx_posted_behind.MPI_Waitsome(count, set.others, ended, indexes,
                                         statuses);
    join(&set);
    return rc;
}
