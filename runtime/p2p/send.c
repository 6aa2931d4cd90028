/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Send and its kin. A small standard send needs no request: it ends when it
 * is posted. */
#include "config.h"

#include "buffer.h"
#include "call.h"

#include "runtime/mpi/handle.h"

#include "mpi_behind.h"
#include "mpi_wrap.h"

static int send_now(const struct aspx_p2p_call *call,
                    struct aspx_p2p_post *post)
{
    if (post->bytes <= ASPX_P2P_SMALL && !(post->flags & ASPX_P2P_SYNC) &&
        (post->bytes == 0 || aspx_handle_basic_size(call->buffer.type)) &&
        aspx_p2p_post_small(post, call->buffer.address))
        return MPI_SUCCESS;
    return aspx_p2p_do(call, post, MPI_STATUS_IGNORE);
}

static int send_later(const struct aspx_p2p_call *call,
                      const struct aspx_p2p_post *post,
                      enum aspx_p2p_send_mode mode, MPI_Request *request)
{
    return mode == ASPX_P2P_BUFFERED
               ? aspx_p2p_send_buffered_later(call, post, request)
               : aspx_p2p_do_later(call, post, request);
}

#define SEND_FORMS(NAME, INAME, COUNT, SUFFIX, MODE)                           \
    int aspx_p2p_MPI_##NAME##SUFFIX(const void *buf, COUNT count,              \
                                    MPI_Datatype type, int dest, int tag,      \
                                    MPI_Comm comm)                             \
    {                                                                          \
        const struct aspx_p2p_call call = ASPX_P2P_CALL(buf, count, type,      \
                                                        dest, tag, comm);      \
        struct aspx_p2p_post post;                                             \
                                                                               \
        if (!aspx_p2p_send_post(&call, MODE, &post))                           \
            return aspx_p2p_behind.MPI_##NAME##SUFFIX(buf, count, type, dest,  \
                                                      tag, comm);              \
        return MODE == ASPX_P2P_BUFFERED                                       \
                   ? aspx_p2p_send_buffered(&call, &post)                      \
                   : send_now(&call, &post);                                   \
    }                                                                          \
    int aspx_p2p_MPI_##INAME##SUFFIX(const void *buf, COUNT count,             \
                                     MPI_Datatype type, int dest, int tag,     \
                                     MPI_Comm comm, MPI_Request *request)      \
    {                                                                          \
        const struct aspx_p2p_call call = ASPX_P2P_CALL(buf, count, type,      \
                                                        dest, tag, comm);      \
        struct aspx_p2p_post post;                                             \
                                                                               \
        if (!request || !aspx_p2p_send_post(&call, MODE, &post))               \
            return aspx_p2p_behind.MPI_##INAME##SUFFIX(buf, count, type, dest, \
                                                       tag, comm, request);    \
        return send_later(&call, &post, MODE, request);                        \
    }                                                                          \
    int aspx_p2p_MPI_##NAME##_init##SUFFIX(                                    \
        const void *buf, COUNT count, MPI_Datatype type, int dest, int tag,    \
        MPI_Comm comm, MPI_Request *request)                                   \
    {                                                                          \
        const struct aspx_p2p_call call = ASPX_P2P_CALL(buf, count, type,      \
                                                        dest, tag, comm);      \
        struct aspx_p2p_post post;                                             \
                                                                               \
        if (!request || !aspx_p2p_send_post(&call, MODE, &post))               \
            return aspx_p2p_behind.MPI_##NAME##_init##SUFFIX(                  \
                buf, count, type, dest, tag, comm, request);                   \
        return aspx_p2p_do_often(&call, &post, MODE == ASPX_P2P_BUFFERED,      \
                                 request);                                     \
    }

#define SENDS(NAME, INAME, MODE)                                               \
    SEND_FORMS(NAME, INAME, int, , MODE)                                       \
    SEND_FORMS(NAME, INAME, MPI_Count, _c, MODE)

SENDS(Send, Isend, ASPX_P2P_STANDARD)
SENDS(Rsend, Irsend, ASPX_P2P_STANDARD)
SENDS(Ssend, Issend, ASPX_P2P_SYNCHRONOUS)
SENDS(Bsend, Ibsend, ASPX_P2P_BUFFERED)
