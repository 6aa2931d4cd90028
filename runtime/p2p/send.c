/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Send and its kin. A small standard send ends when it is posted: it needs
 * no request, or one that has ended. */
#include "config.h"

#include "buffer.h"
#include "call.h"

#include "runtime/mpi/handle.h"

#include "mpi_behind.h"
#include "mpi_wrap.h"

static bool ends_when_posted(const struct aspx_p2p_call *call,
                             const struct aspx_p2p_post *post)
{
    return post->bytes <= ASPX_P2P_SMALL && !(post->flags & ASPX_P2P_SYNC) &&
           (post->bytes == 0 || aspx_handle_basic_size(call->buffer.type));
}

static int send_now(const struct aspx_p2p_call *call,
                    struct aspx_p2p_post *post)
{
    if (ends_when_posted(call, post) &&
        aspx_p2p_post_small(post, call->buffer.address))
        return MPI_SUCCESS;
    return aspx_p2p_do(call, post, MPI_STATUS_IGNORE);
}

static int send_later(const struct aspx_p2p_call *call,
                      struct aspx_p2p_post *post, MPI_Request *handle)
{
    struct aspx_own_request *request;

    if (!ends_when_posted(call, post))
        return aspx_p2p_do_later(call, post, handle);
    request = aspx_p2p_request_ended();
    if (request && aspx_p2p_post_small(post, call->buffer.address)) {
        *handle = request->handle;
        return MPI_SUCCESS;
    }
    if (request)
        aspx_own_give(request);
    return aspx_p2p_do_later(call, post, handle);
}

#define STANDARD(CALL, POST) aspx_p2p_send_post(CALL, ASPX_P2P_STANDARD, POST)
#define SYNCHRONOUS(CALL, POST)                                                \
    aspx_p2p_send_post(CALL, ASPX_P2P_SYNCHRONOUS, POST)

#define SEND(NAME, COUNT, IS_OURS, CARRY)                                      \
    int aspx_p2p_MPI_##NAME(const void *buf, COUNT count, MPI_Datatype type,   \
                            int dest, int tag, MPI_Comm comm)                  \
    {                                                                          \
        const struct aspx_p2p_call call = ASPX_P2P_CALL(buf, count, type,      \
                                                        dest, tag, comm);      \
        struct aspx_p2p_post post;                                             \
                                                                               \
        return IS_OURS(&call, &post) ? CARRY(&call, &post)                     \
                                     : aspx_p2p_behind.MPI_##NAME(             \
                                           buf, count, type, dest, tag, comm); \
    }

/* MPI_Send, MPI_Isend and MPI_Send_init of a kind, with counts of both sorts.
 */
#define FORMS(NAME, INAME, COUNT, SUFFIX, IS_OURS, NOW, LATER, OFTEN)          \
    SEND(NAME##SUFFIX, COUNT, IS_OURS, NOW)                                    \
    ASPX_P2P_WITH_REQUEST(INAME##SUFFIX, const void, COUNT, IS_OURS, LATER)    \
    ASPX_P2P_WITH_REQUEST(NAME##_init##SUFFIX, const void, COUNT, IS_OURS,     \
                          OFTEN)
#define SENDS(NAME, INAME, ...)                                                \
    FORMS(NAME, INAME, int, , __VA_ARGS__)                                     \
    FORMS(NAME, INAME, MPI_Count, _c, __VA_ARGS__)

SENDS(Send, Isend, STANDARD, send_now, send_later, aspx_p2p_do_often)
SENDS(Rsend, Irsend, STANDARD, send_now, send_later, aspx_p2p_do_often)
SENDS(Ssend, Issend, SYNCHRONOUS, send_now, aspx_p2p_do_later,
      aspx_p2p_do_often)
SENDS(Bsend, Ibsend, STANDARD, aspx_p2p_send_buffered,
      aspx_p2p_send_buffered_later, aspx_p2p_do_often_buffered)
