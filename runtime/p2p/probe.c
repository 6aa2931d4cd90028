/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes are questions to the ghost, which answers in the order of the posts:
 * one that does not wait for a message waits for the answer alone. A message
 * that was claimed is a request of ours, as in MPICH one of MPI's. */
#include "config.h"

#include "call.h"

#include "runtime/base/backoff.h"

#include "mpi_behind.h"
#include "mpi_wrap.h"

/* Returns the request, which has ended, with what was found; or NULL, after an
 * error, which was raised. */
static struct aspx_own_request *ask(struct aspx_p2p_post *post, unsigned flags,
                                    MPI_Comm comm, int *rc_p)
{
    static const struct aspx_p2p_buffer none;
    struct aspx_own_request *request;

    post->flags = (uint8_t) flags;
    request = aspx_p2p_request(comm, post, &none);
    *rc_p = request ? aspx_p2p_begin(request) : MPI_ERR_NO_MEM;
    if (!request) {
        *rc_p = aspx_p2p_raise(comm, *rc_p);
        return NULL;
    }
    aspx_own_await(request);
    return request;
}

static bool found(const struct aspx_own_request *request, MPI_Status *status)
{
    const struct aspx_p2p_message *message = (const void *) request->room;

    if (message->found)
        aspx_own_set_status(status, request->source, request->tag,
                            request->bytes, false);
    return message->found;
}

static int probe(struct aspx_p2p_post *post, unsigned flags, MPI_Comm comm,
                 int *flag, MPI_Status *status)
{
    int rc;
    struct aspx_own_request *request = ask(post, flags, comm, &rc);

    if (!request)
        return rc;
    *flag = found(request, status);
    aspx_own_give(request);
    return MPI_SUCCESS;
}

static int claim(struct aspx_p2p_post *post, unsigned flags, MPI_Comm comm,
                 int *flag, MPI_Message *claimed, MPI_Status *status)
{
    int rc;
    struct aspx_own_request *request = ask(post, flags | ASPX_P2P_CLAIMS, comm,
                                           &rc);

    if (!request)
        return rc;
    *flag = found(request, status);
    if (*flag)
        *claimed = (MPI_Message) request->handle;
    else
        aspx_own_give(request);
    return MPI_SUCCESS;
}

/* ---- where small messages are MPI's -------------------------------------------- */

/* A probe does not know the size: it asks MPI first, then the ghost. One that
 * waits asks in turns. */
static bool asks_both(MPI_Comm comm)
{
    return aspx_p2p_comm_of(comm)->small >= 0;
}

static void wait_a_turn(void)
{
    aspx_backoff_nap(ASPX_WAIT_P2P_PROBE);
}

int aspx_p2p_MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag,
                        MPI_Status *status)
{
    struct aspx_p2p_post post;
    int rc;

    if (!flag || !aspx_p2p_probe_post(source, tag, comm, &post))
        return aspx_p2p_behind.MPI_Iprobe(source, tag, comm, flag, status);
    if (asks_both(comm)) {
        rc = aspx_p2p_behind.MPI_Iprobe(source, tag, comm, flag, status);
        if (rc != MPI_SUCCESS || *flag)
            return rc;
    }
    return probe(&post, 0, comm, flag, status);
}

int aspx_p2p_MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct aspx_p2p_post post;
    int flag = 0, rc = MPI_SUCCESS;

    if (!aspx_p2p_probe_post(source, tag, comm, &post))
        return aspx_p2p_behind.MPI_Probe(source, tag, comm, status);
    if (!asks_both(comm))
        return probe(&post, ASPX_P2P_WAITS, comm, &flag, status);
    while (rc == MPI_SUCCESS && !flag) {
        rc = aspx_p2p_MPI_Iprobe(source, tag, comm, &flag, status);
        if (!flag)
            wait_a_turn();
    }
    return rc;
}

int aspx_p2p_MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag,
                         MPI_Message *message, MPI_Status *status)
{
    struct aspx_p2p_post post;
    int rc;

    if (!flag || !message || !aspx_p2p_probe_post(source, tag, comm, &post))
        return aspx_p2p_behind.MPI_Improbe(source, tag, comm, flag, message,
                                           status);
    if (asks_both(comm)) {
        rc = aspx_p2p_behind.MPI_Improbe(source, tag, comm, flag, message,
                                         status);
        if (rc != MPI_SUCCESS || *flag)
            return rc;
    }
    return claim(&post, 0, comm, flag, message, status);
}

int aspx_p2p_MPI_Mprobe(int source, int tag, MPI_Comm comm,
                        MPI_Message *message, MPI_Status *status)
{
    struct aspx_p2p_post post;
    int flag = 0, rc = MPI_SUCCESS;

    if (!message || !aspx_p2p_probe_post(source, tag, comm, &post))
        return aspx_p2p_behind.MPI_Mprobe(source, tag, comm, message, status);
    if (!asks_both(comm))
        return claim(&post, ASPX_P2P_WAITS, comm, &flag, message, status);
    while (rc == MPI_SUCCESS && !flag) {
        rc = aspx_p2p_MPI_Improbe(source, tag, comm, &flag, message, status);
        if (!flag)
            wait_a_turn();
    }
    return rc;
}

/* ---- what was claimed --------------------------------------------------------- */

/* Returns false where the message is none of ours, or an argument is wrong. */
static bool claimed_post(const MPI_Message *message,
                         const struct aspx_p2p_buffer *buffer,
                         struct aspx_p2p_call *call, struct aspx_p2p_post *post)
{
    struct aspx_own_request *request = message ? aspx_own_find(
                                                     (MPI_Request) *message)
                                               : NULL;

    if (!request)
        return false;
    *call = (struct aspx_p2p_call){.buffer = *buffer, .comm = request->comm};
    *post = aspx_p2p_message_of(request)->post;
    post->verb = ASPX_P2P_RECEIVE_CLAIMED;
    post->flags = 0;
    post->bytes = aspx_p2p_bytes(buffer);
    return post->bytes != UINT64_MAX;
}

static void take(MPI_Message *message)
{
    aspx_own_give(aspx_own_find((MPI_Request) *message));
    *message = MPI_MESSAGE_NULL;
}

#define CLAIMED(COUNT, SUFFIX)                                                 \
    int aspx_p2p_MPI_Mrecv##SUFFIX(void *buf, COUNT count, MPI_Datatype type,  \
                                   MPI_Message *message, MPI_Status *status)   \
    {                                                                          \
        const struct aspx_p2p_buffer buffer = {buf, count, type};              \
        struct aspx_p2p_call call;                                             \
        struct aspx_p2p_post post;                                             \
                                                                               \
        if (!claimed_post(message, &buffer, &call, &post))                     \
            return aspx_p2p_behind.MPI_Mrecv##SUFFIX(buf, count, type,         \
                                                     message, status);         \
        take(message);                                                         \
        return aspx_p2p_do(&call, &post, status);                              \
    }                                                                          \
    int aspx_p2p_MPI_Imrecv##SUFFIX(void *buf, COUNT count, MPI_Datatype type, \
                                    MPI_Message *message,                      \
                                    MPI_Request *request)                      \
    {                                                                          \
        const struct aspx_p2p_buffer buffer = {buf, count, type};              \
        struct aspx_p2p_call call;                                             \
        struct aspx_p2p_post post;                                             \
                                                                               \
        if (!request || !claimed_post(message, &buffer, &call, &post))         \
            return aspx_p2p_behind.MPI_Imrecv##SUFFIX(buf, count, type,        \
                                                      message, request);       \
        take(message);                                                         \
        return aspx_p2p_do_later(&call, &post, request);                       \
    }

CLAIMED(int, )
CLAIMED(MPI_Count, _c)
