/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls on requests: which of those that are watched have ended? The program's
 * array is MPI's to change, so the watched handles in it are copied before; in
 * the copy the others are null. While nothing is watched there is no copy. All
 * inside the gate, as watch.h wants it. */
#include "config.h"

#include "progress.h"

#include "thread.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 128 };

struct copy {
    MPI_Request few[FEW], *handles; /* handles NULL: nothing is watched */
    int count;
};

static void take_copy(struct copy *copy, int count, const MPI_Request *handles)
{
    copy->handles = NULL;
    copy->count = count;
    if (count <= 0 || !handles || atomic_load(&aspx_watch_outstanding) == 0)
        return;
    copy->handles = count <= FEW ? copy->few
                                 : malloc((size_t) count * sizeof(*handles));
    for (int i = 0; copy->handles && i < count; i++)
        copy->handles[i] = aspx_watch_has(handles[i]) ? handles[i]
                                                      : MPI_REQUEST_NULL;
}

static void free_copy(struct copy *copy)
{
    if (copy->handles != copy->few)
        free(copy->handles);
}

/* Of a request that has not ended in order, the array tells: it is gone. */
static void ended_one(const struct copy *copy, int i)
{
    if (copy->handles[i] != MPI_REQUEST_NULL)
        aspx_watch_end(copy->handles[i]);
}

static void ended_those_gone(const struct copy *copy,
                             const MPI_Request *handles)
{
    for (int i = 0; i < copy->count; i++) {
        if (handles[i] != copy->handles[i])
            ended_one(copy, i);
    }
}

static void ended_all(struct copy *copy, int rc, bool all,
                      const MPI_Request *handles)
{
    if (!copy->handles)
        return;
    if (rc != MPI_SUCCESS)
        ended_those_gone(copy, handles);
    for (int i = 0; rc == MPI_SUCCESS && all && i < copy->count; i++)
        ended_one(copy, i);
    free_copy(copy);
}

static void ended_some(struct copy *copy, int rc, int count, const int *indices,
                       const MPI_Request *handles)
{
    if (!copy->handles)
        return;
    if (rc != MPI_SUCCESS)
        ended_those_gone(copy, handles);
    for (int i = 0; rc == MPI_SUCCESS && i < count; i++) {
        if (indices[i] >= 0 && indices[i] < copy->count)
            ended_one(copy, indices[i]);
    }
    free_copy(copy);
}

/* ---- one ------------------------------------------------------------------ */

int aspx_progress_MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct copy copy;
    int rc;

    aspx_gate_enter();
    take_copy(&copy, 1, request);
    rc = aspx_progress_behind.MPI_Wait(request, status);
    ended_all(&copy, rc, true, request);
    aspx_gate_leave();
    return rc;
}

int aspx_progress_MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct copy copy;
    int rc;

    aspx_gate_enter();
    take_copy(&copy, 1, request);
    rc = aspx_progress_behind.MPI_Test(request, flag, status);
    ended_all(&copy, rc, rc == MPI_SUCCESS && *flag, request);
    aspx_gate_leave();
    return rc;
}

/* An operation that goes on is not watched any more. */
int aspx_progress_MPI_Request_free(MPI_Request *request)
{
    int rc;

    aspx_gate_enter();
    if (request && *request != MPI_REQUEST_NULL)
        aspx_watch_forget(*request);
    rc = aspx_progress_behind.MPI_Request_free(request);
    aspx_gate_leave();
    return rc;
}

/* ---- arrays ---------------------------------------------------------------- */

int aspx_progress_MPI_Waitall(int count, MPI_Request requests[],
                              MPI_Status statuses[])
{
    struct copy copy;
    int rc;

    aspx_gate_enter();
    take_copy(&copy, count, requests);
    rc = aspx_progress_behind.MPI_Waitall(count, requests, statuses);
    ended_all(&copy, rc, true, requests);
    aspx_gate_leave();
    return rc;
}

int aspx_progress_MPI_Testall(int count, MPI_Request requests[], int *flag,
                              MPI_Status statuses[])
{
    struct copy copy;
    int rc;

    aspx_gate_enter();
    take_copy(&copy, count, requests);
    rc = aspx_progress_behind.MPI_Testall(count, requests, flag, statuses);
    ended_all(&copy, rc, rc == MPI_SUCCESS && *flag, requests);
    aspx_gate_leave();
    return rc;
}

int aspx_progress_MPI_Waitany(int count, MPI_Request requests[], int *indx,
                              MPI_Status *status)
{
    struct copy copy;
    int rc;

    aspx_gate_enter();
    take_copy(&copy, count, requests);
    rc = aspx_progress_behind.MPI_Waitany(count, requests, indx, status);
    ended_some(&copy, rc, 1, indx, requests);
    aspx_gate_leave();
    return rc;
}

int aspx_progress_MPI_Testany(int count, MPI_Request requests[], int *indx,
                              int *flag, MPI_Status *status)
{
    struct copy copy;
    int rc;

    aspx_gate_enter();
    take_copy(&copy, count, requests);
    rc = aspx_progress_behind.MPI_Testany(count, requests, indx, flag, status);
    ended_some(&copy, rc, rc == MPI_SUCCESS && *flag ? 1 : 0, indx, requests);
    aspx_gate_leave();
    return rc;
}

#define SOME(NAME)                                                             \
    int aspx_progress_##NAME(int incount, MPI_Request requests[],              \
                             int *outcount, int indices[],                     \
                             MPI_Status statuses[])                            \
    {                                                                          \
        struct copy copy;                                                      \
        int rc;                                                                \
                                                                               \
        aspx_gate_enter();                                                     \
        take_copy(&copy, incount, requests);                                   \
        rc = aspx_progress_behind.NAME(incount, requests, outcount, indices,   \
                                       statuses);                              \
        ended_some(&copy, rc, rc == MPI_SUCCESS ? *outcount : 0, indices,      \
                   requests);                                                  \
        aspx_gate_leave();                                                     \
        return rc;                                                             \
    }

SOME(MPI_Waitsome)
SOME(MPI_Testsome)

/* ---- persistent requests ------------------------------------------------- */

int aspx_progress_MPI_Start(MPI_Request *request)
{
    bool wake;
    int rc;

    aspx_gate_enter();
    rc = aspx_progress_behind.MPI_Start(request);
    wake = rc == MPI_SUCCESS && aspx_watch_started(*request);
    aspx_gate_leave();
    if (wake)
        aspx_progress_thread_notify();
    return rc;
}

int aspx_progress_MPI_Startall(int count, MPI_Request requests[])
{
    bool wake = false;
    int rc;

    aspx_gate_enter();
    rc = aspx_progress_behind.MPI_Startall(count, requests);
    for (int i = 0; rc == MPI_SUCCESS && i < count; i++)
        wake |= aspx_watch_started(requests[i]);
    aspx_gate_leave();
    if (wake)
        aspx_progress_thread_notify();
    return rc;
}
