/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Recv and its kin, and what sends and receives at once. */
#include "config.h"

#include "call.h"

#include "mpi_behind.h"
#include "mpi_wrap.h"

#define RECEIVE(COUNT, SUFFIX)                                                 \
    int aspx_p2p_MPI_Recv##SUFFIX(void *buf, COUNT count, MPI_Datatype type,   \
                                  int source, int tag, MPI_Comm comm,          \
                                  MPI_Status *status)                          \
    {                                                                          \
        const struct aspx_p2p_call call = ASPX_P2P_CALL(buf, count, type,      \
                                                        source, tag, comm);    \
        struct aspx_p2p_post post;                                             \
                                                                               \
        return aspx_p2p_receive_post(&call, &post)                             \
                   ? aspx_p2p_do(&call, &post, status)                         \
                   : aspx_p2p_behind.MPI_Recv##SUFFIX(                         \
                         buf, count, type, source, tag, comm, status);         \
    }                                                                          \
    ASPX_P2P_WITH_REQUEST(Irecv##SUFFIX, void, COUNT, aspx_p2p_receive_post,   \
                          aspx_p2p_do_later)                                   \
    ASPX_P2P_WITH_REQUEST(Recv_init##SUFFIX, void, COUNT,                      \
                          aspx_p2p_receive_post, aspx_p2p_do_often)

RECEIVE(int, )
RECEIVE(MPI_Count, _c)

/* ---- both --------------------------------------------------------------------- */

struct exchange {
    struct aspx_p2p_call out, in;
    struct aspx_p2p_post out_post, in_post;
    bool sends, receives;
    bool replaces; /* what is received goes where the data of the send are */
};

/* Returns false where the call is MPI's. Ranks at the border of a grid have
 * MPI_PROC_NULL for one of the two. */
static bool prepare(struct exchange *exchange)
{
    exchange->sends = aspx_p2p_send_post(&exchange->out, ASPX_P2P_STANDARD,
                                         &exchange->out_post);
    exchange->receives = aspx_p2p_receive_post(&exchange->in,
                                               &exchange->in_post);
    return (exchange->sends &&
            (exchange->receives || exchange->in.peer == MPI_PROC_NULL)) ||
           (exchange->receives && exchange->out.peer == MPI_PROC_NULL);
}

static int begin_both(struct aspx_own_request *send,
                      struct aspx_own_request *receive)
{
    int rc = aspx_p2p_begin(send);

    if (rc != MPI_SUCCESS) {
        aspx_own_give(send);
        aspx_own_give(receive);
        return rc;
    }
    rc = aspx_p2p_begin(receive);
    if (rc != MPI_SUCCESS) { /* the send ends by itself */
        if (aspx_p2p_message_of(receive)->open == 2) {
            aspx_p2p_message_of(send)->whole = NULL;
            send->freed = true;
        }
        aspx_own_give(receive);
    }
    return rc;
}

/* One request, the receive's, which ends when both have. */
static int begin_exchange(const struct exchange *exchange, MPI_Request *request)
{
    struct aspx_own_request *send, *receive;
    int rc;

    send = aspx_p2p_request(exchange->out.comm, &exchange->out_post,
                            &exchange->out.buffer);
    receive = aspx_p2p_request(exchange->in.comm, &exchange->in_post,
                               &exchange->in.buffer);
    if (!send || !receive) {
        if (send)
            aspx_own_give(send);
        if (receive)
            aspx_own_give(receive);
        return aspx_p2p_raise(exchange->in.comm, MPI_ERR_NO_MEM);
    }
    aspx_p2p_message_of(send)->copies = exchange->replaces;
    aspx_p2p_message_of(send)->whole = receive;
    aspx_p2p_message_of(receive)->open = 2;
    rc = begin_both(send, receive);
    if (rc == MPI_SUCCESS)
        *request = receive->handle;
    return aspx_p2p_raise(exchange->in.comm, rc);
}

static int exchange_later(const struct exchange *exchange, MPI_Request *request)
{
    int rc;

    if (exchange->sends && exchange->receives)
        return begin_exchange(exchange, request);
    if (exchange->receives)
        return aspx_p2p_do_later(&exchange->in, &exchange->in_post, request);
    rc = aspx_p2p_do_later(&exchange->out, &exchange->out_post, request);
    if (rc == MPI_SUCCESS) /* it tells of the receive */
        aspx_own_find(*request)->source = MPI_PROC_NULL;
    return rc;
}

static int exchange_now(const struct exchange *exchange, MPI_Status *status)
{
    MPI_Request handle;
    int rc = exchange_later(exchange, &handle);

    return rc == MPI_SUCCESS ? aspx_p2p_wait(handle, status) : rc;
}

/* Ghosts carry one of the two, MPI the other, which is small. */
static bool is_split(const struct exchange *exchange)
{
    const struct aspx_p2p_comm *known = aspx_p2p_comm_of(exchange->out.comm);

    return known && known->small >= 0 && exchange->sends != exchange->receives;
}

static int exchange_split(const struct exchange *exchange, MPI_Status *status)
{
    const struct aspx_p2p_call *out = &exchange->out, *in = &exchange->in;
    MPI_Request handle;
    int rc = exchange_later(exchange, &handle), other;

    if (rc != MPI_SUCCESS)
        return rc;
    other = exchange->sends
                ? aspx_p2p_behind.MPI_Recv_c(
                      in->buffer.address, in->buffer.count, in->buffer.type,
                      in->peer, in->tag, in->comm, status)
                : aspx_p2p_behind.MPI_Send_c(
                      out->buffer.address, out->buffer.count, out->buffer.type,
                      out->peer, out->tag, out->comm);
    rc = aspx_p2p_wait(handle, exchange->sends ? MPI_STATUS_IGNORE : status);
    return other != MPI_SUCCESS ? other : rc;
}

#define EXCHANGE(COUNT, SUFFIX)                                                \
    int aspx_p2p_MPI_Sendrecv##SUFFIX(                                         \
        const void *out, COUNT sent, MPI_Datatype out_type, int dest,          \
        int out_tag, void *in, COUNT received, MPI_Datatype in_type,           \
        int source, int in_tag, MPI_Comm comm, MPI_Status *status)             \
    {                                                                          \
        struct exchange exchange = {                                           \
            .out = ASPX_P2P_CALL(out, sent, out_type, dest, out_tag, comm),    \
            .in = ASPX_P2P_CALL(in, received, in_type, source, in_tag, comm)}; \
                                                                               \
        if (prepare(&exchange))                                                \
            return exchange_now(&exchange, status);                            \
        return is_split(&exchange)                                             \
                   ? exchange_split(&exchange, status)                         \
                   : aspx_p2p_behind.MPI_Sendrecv##SUFFIX(                     \
                         out, sent, out_type, dest, out_tag, in, received,     \
                         in_type, source, in_tag, comm, status);               \
    }                                                                          \
    int aspx_p2p_MPI_Isendrecv##SUFFIX(                                        \
        const void *out, COUNT sent, MPI_Datatype out_type, int dest,          \
        int out_tag, void *in, COUNT received, MPI_Datatype in_type,           \
        int source, int in_tag, MPI_Comm comm, MPI_Request *request)           \
    {                                                                          \
        struct exchange exchange = {                                           \
            .out = ASPX_P2P_CALL(out, sent, out_type, dest, out_tag, comm),    \
            .in = ASPX_P2P_CALL(in, received, in_type, source, in_tag, comm)}; \
                                                                               \
        return request && prepare(&exchange)                                   \
                   ? exchange_later(&exchange, request)                        \
                   : aspx_p2p_behind.MPI_Isendrecv##SUFFIX(                    \
                         out, sent, out_type, dest, out_tag, in, received,     \
                         in_type, source, in_tag, comm, request);              \
    }                                                                          \
    int aspx_p2p_MPI_Sendrecv_replace##SUFFIX(                                 \
        void *buf, COUNT count, MPI_Datatype type, int dest, int out_tag,      \
        int source, int in_tag, MPI_Comm comm, MPI_Status *status)             \
    {                                                                          \
        struct exchange exchange = {                                           \
            .out = ASPX_P2P_CALL(buf, count, type, dest, out_tag, comm),       \
            .in = ASPX_P2P_CALL(buf, count, type, source, in_tag, comm),       \
            .replaces = true};                                                 \
                                                                               \
        return prepare(&exchange)                                              \
                   ? exchange_now(&exchange, status)                           \
                   : aspx_p2p_behind.MPI_Sendrecv_replace##SUFFIX(             \
                         buf, count, type, dest, out_tag, source, in_tag,      \
                         comm, status);                                        \
    }                                                                          \
    int aspx_p2p_MPI_Isendrecv_replace##SUFFIX(                                \
        void *buf, COUNT count, MPI_Datatype type, int dest, int out_tag,      \
        int source, int in_tag, MPI_Comm comm, MPI_Request *request)           \
    {                                                                          \
        struct exchange exchange = {                                           \
            .out = ASPX_P2P_CALL(buf, count, type, dest, out_tag, comm),       \
            .in = ASPX_P2P_CALL(buf, count, type, source, in_tag, comm),       \
            .replaces = true};                                                 \
                                                                               \
        return request && prepare(&exchange)                                   \
                   ? exchange_later(&exchange, request)                        \
                   : aspx_p2p_behind.MPI_Isendrecv_replace##SUFFIX(            \
                         buf, count, type, dest, out_tag, source, in_tag,      \
                         comm, request);                                       \
    }

EXCHANGE(int, )
EXCHANGE(MPI_Count, _c)
