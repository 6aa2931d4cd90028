/* SPDX-License-Identifier: BSD-3-Clause */
/* Which calls ghosts carry out, and what these post. */
#include "config.h"

#include "call.h"

#include "runtime/world/world.h"

#include "mpi_behind.h"

static int tag_most;

void aspx_p2p_call_start(void)
{
    int found = 0, *most;

    aspx_p2p_behind.MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most,
                                      &found);
    tag_most = found ? *most : 32767;
}

int aspx_p2p_raise(MPI_Comm comm, int rc)
{
    if (rc != MPI_SUCCESS)
        aspx_p2p_behind.MPI_Comm_call_errhandler(comm, rc);
    return rc;
}

/* Where ranks have promised exact lengths both know which way it goes. */
static bool is_carried(const struct aspx_p2p_comm *known,
                       const struct aspx_p2p_post *post)
{
    return post->bytes != UINT64_MAX && (int64_t) post->bytes > known->small;
}

bool aspx_p2p_send_post(const struct aspx_p2p_call *call,
                        enum aspx_p2p_send_mode mode,
                        struct aspx_p2p_post *post)
{
    const struct aspx_p2p_comm *known = aspx_p2p_comm_of(call->comm);

    if (!known || call->peer < 0 || call->peer >= known->size ||
        call->tag < 0 || call->tag > tag_most)
        return false;
    *post = (struct aspx_p2p_post){
        .verb = ASPX_P2P_SEND,
        .flags = mode == ASPX_P2P_SYNCHRONOUS ? ASPX_P2P_SYNC : 0,
        .comm = known->number,
        .to = known->users[call->peer],
        .source = known->rank,
        .tag = call->tag,
        .bytes = aspx_p2p_bytes(&call->buffer),
    };
    return is_carried(known, post);
}

static bool wanted_post(const struct aspx_p2p_comm *known, int source, int tag,
                        struct aspx_p2p_post *post)
{
    if (!known || (source != MPI_ANY_SOURCE && source < 0) ||
        source >= known->size || (tag != MPI_ANY_TAG && tag < 0) ||
        tag > tag_most)
        return false;
    *post = (struct aspx_p2p_post){
        .verb = ASPX_P2P_PROBE,
        .comm = known->number,
        .source = source,
        .tag = tag,
    };
    return true;
}

bool aspx_p2p_probe_post(int source, int tag, MPI_Comm comm,
                         struct aspx_p2p_post *post)
{
    return wanted_post(aspx_p2p_comm_of(comm), source, tag, post);
}

bool aspx_p2p_receive_post(const struct aspx_p2p_call *call,
                           struct aspx_p2p_post *post)
{
    const struct aspx_p2p_comm *known = aspx_p2p_comm_of(call->comm);

    if (!wanted_post(known, call->peer, call->tag, post))
        return false;
    post->verb = ASPX_P2P_RECEIVE;
    post->bytes = aspx_p2p_bytes(&call->buffer);
    return is_carried(known, post);
}

int aspx_p2p_do_later(const struct aspx_p2p_call *call,
                      const struct aspx_p2p_post *post, MPI_Request *handle)
{
    struct aspx_own_request *request = aspx_p2p_request(call->comm, post,
                                                        &call->buffer);
    int rc = request ? aspx_p2p_begin(request) : MPI_ERR_NO_MEM;

    if (rc == MPI_SUCCESS)
        *handle = request->handle;
    else if (request)
        aspx_own_give(request);
    return aspx_p2p_raise(call->comm, rc);
}

int aspx_p2p_wait(MPI_Request handle, MPI_Status *status)
{
    struct aspx_own_request *request = aspx_own_find(handle);

    aspx_own_await(request);
    return aspx_own_finish(request, &handle, status);
}

int aspx_p2p_do(const struct aspx_p2p_call *call,
                const struct aspx_p2p_post *post, MPI_Status *status)
{
    MPI_Request handle;
    int rc = aspx_p2p_do_later(call, post, &handle);

    return rc == MPI_SUCCESS ? aspx_p2p_wait(handle, status) : rc;
}

static int make_persistent(const struct aspx_p2p_call *call,
                           const struct aspx_p2p_post *post, bool buffered,
                           MPI_Request *handle)
{
    struct aspx_own_request *request = aspx_p2p_request(call->comm, post,
                                                        &call->buffer);
    int rc = MPI_ERR_NO_MEM;

    if (request) {
        request->persistent = true;
        aspx_p2p_message_of(request)->starts_buffered = buffered;
        rc = aspx_p2p_keep_type(aspx_p2p_message_of(request));
    }
    if (rc == MPI_SUCCESS)
        *handle = request->handle;
    else if (request)
        aspx_own_give(request);
    return aspx_p2p_raise(call->comm, rc);
}

int aspx_p2p_do_often(const struct aspx_p2p_call *call,
                      const struct aspx_p2p_post *post, MPI_Request *handle)
{
    return make_persistent(call, post, false, handle);
}

int aspx_p2p_do_often_buffered(const struct aspx_p2p_call *call,
                               const struct aspx_p2p_post *post,
                               MPI_Request *handle)
{
    return make_persistent(call, post, true, handle);
}
