/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI_Bsend takes of the buffer that the program has attached is only
 * counted. */
#include "config.h"

#include "buffer.h"

#include "runtime/base/backoff.h"

#include "mpi_behind.h"
#include "mpi_wrap.h"

/* Bytes of what the program has attached; 0: nothing. */
static _Atomic uint64_t attached;

/* Returns MPI_ERR_BUFFER where the program's buffer has no room, when what has
 * been sent meanwhile has given its back. */
static int take_room(uint64_t bytes)
{
    uint64_t needed = bytes + MPI_BSEND_OVERHEAD;

    if (atomic_load(&aspx_p2p_buffered) + needed > atomic_load(&attached))
        aspx_p2p_look();
    if (atomic_load(&aspx_p2p_buffered) + needed > atomic_load(&attached))
        return MPI_ERR_BUFFER;
    atomic_fetch_add(&aspx_p2p_buffered, needed);
    return MPI_SUCCESS;
}

/* A request of which the program does not know, and that ends by itself. */
static int send(MPI_Comm comm, const struct aspx_p2p_post *post,
                const struct aspx_p2p_buffer *buffer)
{
    struct aspx_own_request *request;
    int rc = take_room(post->bytes);

    if (rc != MPI_SUCCESS)
        return rc;
    request = aspx_p2p_request(comm, post, buffer);
    if (request) {
        aspx_p2p_message_of(request)->copies = true;
        aspx_p2p_message_of(request)->buffered = true;
        request->freed = true;
        rc = aspx_p2p_begin(request);
    }
    if (request && rc == MPI_SUCCESS)
        return rc;
    atomic_fetch_sub(&aspx_p2p_buffered, post->bytes + MPI_BSEND_OVERHEAD);
    if (request)
        aspx_own_give(request);
    return MPI_ERR_NO_MEM;
}

int aspx_p2p_send_buffered(const struct aspx_p2p_call *call,
                           const struct aspx_p2p_post *post)
{
    return aspx_p2p_raise(call->comm, send(call->comm, post, &call->buffer));
}

int aspx_p2p_send_buffered_later(const struct aspx_p2p_call *call,
                                 const struct aspx_p2p_post *post,
                                 MPI_Request *handle)
{
    struct aspx_own_request *request = aspx_p2p_request(call->comm, post,
                                                        &call->buffer);
    int rc = request ? send(call->comm, post, &call->buffer) : MPI_ERR_NO_MEM;

    if (rc == MPI_SUCCESS) {
        aspx_own_begin(request);
        aspx_own_end(request);
        *handle = request->handle;
    } else if (request) {
        aspx_own_give(request);
    }
    return aspx_p2p_raise(call->comm, rc);
}

int aspx_p2p_start_buffered(struct aspx_own_request *request)
{
    struct aspx_p2p_message *message = aspx_p2p_message_of(request);
    int rc = send(request->comm, &message->post, &message->buffer);

    if (rc == MPI_SUCCESS) {
        aspx_own_begin(request);
        aspx_own_end(request);
    }
    return rc;
}

/* ---- attached, detached ------------------------------------------------------- */

int aspx_p2p_MPI_Buffer_attach(void *buffer, int size)
{
    int rc = aspx_p2p_behind.MPI_Buffer_attach(buffer, size);

    if (rc == MPI_SUCCESS)
        atomic_store(&attached, (uint64_t) size);
    return rc;
}

int aspx_p2p_MPI_Buffer_attach_c(void *buffer, MPI_Count size)
{
    int rc = aspx_p2p_behind.MPI_Buffer_attach_c(buffer, size);

    if (rc == MPI_SUCCESS)
        atomic_store(&attached, (uint64_t) size);
    return rc;
}

static bool is_sending(void)
{
    return atomic_load(&aspx_p2p_buffered) > 0 || aspx_p2p_channel_is_full();
}

/* MPI 4.0, 3.6: who is to receive them makes progress meanwhile. */
void aspx_p2p_flush(void)
{
    while (is_sending()) {
        int flag;

        aspx_p2p_look();
        aspx_p2p_behind.MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                                   &flag, MPI_STATUS_IGNORE);
        if (is_sending())
            aspx_backoff_nap(ASPX_WAIT_LOOK_THREAD);
    }
    atomic_store(&attached, 0);
}

int aspx_p2p_MPI_Buffer_detach(void *buffer, int *size)
{
    aspx_p2p_flush();
    return aspx_p2p_behind.MPI_Buffer_detach(buffer, size);
}

int aspx_p2p_MPI_Buffer_detach_c(void *buffer, MPI_Count *size)
{
    aspx_p2p_flush();
    return aspx_p2p_behind.MPI_Buffer_detach_c(buffer, size);
}
