/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Sendrecv for programs with many threads in MPI: a receive and a send,
 * then two waits. (Its twin would do, but MPICH's MPI_Isendrecv tells nothing
 * of the message in its status.) With one thread in MPI at a time the offload
 * thread calls MPI's own. */
#include "config.h"

#include "command.h"
#include "raised.h"
#include "state.h"

#include "runtime/mpi/handle.h"
#include "mpi_wrap.h"

#include <stdlib.h>

/* One body for both types of counts: everything in the larger. */
struct exchange {
    _Alignas(ASPX_COMMAND_LINE) struct aspx_command head;
    int rc;
    const void *sendbuf;
    MPI_Count sendcount;
    MPI_Datatype sendtype;
    int dest, sendtag;
    void *recvbuf;
    MPI_Count recvcount;
    MPI_Datatype recvtype;
    int source, recvtag;
    MPI_Comm comm;
    MPI_Status *status;
    /* MPI_Sendrecv_replace: a packed copy of what is sent */
    void *packed;
    MPI_Count capacity, used;
};

static void run_sendrecv(struct aspx_command *head)
{
    struct exchange *e = (void *) head;

    e->rc = aspx_behind.MPI_Sendrecv_c(
        e->sendbuf, e->sendcount, e->sendtype, e->dest, e->sendtag, e->recvbuf,
        e->recvcount, e->recvtype, e->source, e->recvtag, e->comm, e->status);
    aspx_command_done(head);
}

static void run_replace(struct aspx_command *head)
{
    struct exchange *e = (void *) head;

    e->rc = aspx_behind.MPI_Sendrecv_replace_c(
        e->recvbuf, e->recvcount, e->recvtype, e->dest, e->sendtag, e->source,
        e->recvtag, e->comm, e->status);
    aspx_command_done(head);
}

static int call_in_thread(struct exchange *e,
                          void (*run)(struct aspx_command *head))
{
    e->head.run = run;
    return aspx_command_answer(&e->head, &e->rc);
}

/* MPICH's MPI_Irecv from MPI_PROC_NULL gives another status than MPI_Recv. */
static int from_nobody(const struct exchange *e)
{
    const struct aspx_real *mpi = &aspx_offload_entries;
    int rc = mpi->MPI_Send_c(e->sendbuf, e->sendcount, e->sendtype, e->dest,
                             e->sendtag, e->comm);

    return rc != MPI_SUCCESS
               ? rc
               : mpi->MPI_Recv_c(e->recvbuf, e->recvcount, e->recvtype,
                                 e->source, e->recvtag, e->comm, e->status);
}

/* MPI has refused it, and an error handler of the program has made that a
 * success: there is no request. */
static bool is_forgiven(int rc, MPI_Request request, int peer)
{
    return rc == MPI_SUCCESS && request == MPI_REQUEST_NULL &&
           peer != MPI_PROC_NULL;
}

static int to_and_from(const struct exchange *e)
{
    const struct aspx_real *mpi = &aspx_offload_entries;
    MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
    int rc = mpi->MPI_Irecv_c(e->recvbuf, e->recvcount, e->recvtype, e->source,
                              e->recvtag, e->comm, &receive);
    bool lost;
    int rc_send;

    if (rc != MPI_SUCCESS || is_forgiven(rc, receive, e->source))
        return rc;
    rc_send = mpi->MPI_Isend_c(e->sendbuf, e->sendcount, e->sendtype, e->dest,
                               e->sendtag, e->comm, &send);
    lost = is_forgiven(rc_send, send, e->dest);
    if (rc_send == MPI_SUCCESS)
        rc_send = mpi->MPI_Wait(&send, MPI_STATUS_IGNORE);
    if (rc_send != MPI_SUCCESS || lost)
        mpi->MPI_Cancel(&receive); /* nothing may come */
    rc = mpi->MPI_Wait(&receive, e->status);
    return rc_send != MPI_SUCCESS ? rc_send : rc;
}

static int in_two(const struct exchange *e)
{
    return e->source == MPI_PROC_NULL ? from_nobody(e) : to_and_from(e);
}

static int sendrecv(struct exchange *e)
{
    return aspx_offload_twins() ? in_two(e) : call_in_thread(e, run_sendrecv);
}

static void measure_packed(struct aspx_command *head)
{
    struct exchange *e = (void *) head;

    e->rc = aspx_raised_code(
        head, aspx_behind.MPI_Pack_size_c(e->recvcount, e->recvtype, e->comm,
                                          &e->capacity));
    aspx_command_done(head);
}

static void pack_data(struct aspx_command *head)
{
    struct exchange *e = (void *) head;

    e->rc = aspx_raised_code(
        head,
        aspx_behind.MPI_Pack_c(e->recvbuf, e->recvcount, e->recvtype, e->packed,
                               e->capacity, &e->used, e->comm));
    aspx_command_done(head);
}

/* Any receive may take what was sent packed. What failed (two.rc) may return
 * success, where a handler took the error. */
static int replace(struct exchange *e)
{
    struct exchange two = *e;
    int rc;

    /* what it says of wrong arguments is about itself, not about packing */
    if (!aspx_offload_twins() || e->recvcount < 0 ||
        !aspx_handle_is(e->recvtype, ASPX_HANDLE_DATATYPE) ||
        !aspx_handle_is(e->comm, ASPX_HANDLE_COMM))
        return call_in_thread(e, run_replace);
    rc = call_in_thread(&two, measure_packed);
    if (two.rc != MPI_SUCCESS)
        return rc;
    two.packed = malloc(two.capacity > 0 ? (size_t) two.capacity : 1);
    if (!two.packed)
        return call_in_thread(e, run_replace);
    rc = call_in_thread(&two, pack_data);
    two.sendbuf = two.packed;
    two.sendcount = two.used;
    two.sendtype = MPI_PACKED;
    if (two.rc == MPI_SUCCESS)
        rc = in_two(&two);
    free(two.packed);
    return rc;
}

#define SENDRECV(NAME, COUNT)                                                  \
    int aspx_offload_##NAME(                                                   \
        const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, int dest, \
        int sendtag, void *recvbuf, COUNT recvcount, MPI_Datatype recvtype,    \
        int source, int recvtag, MPI_Comm comm, MPI_Status *status)            \
    {                                                                          \
        struct exchange exchange = {.sendbuf = sendbuf,                        \
                                    .sendcount = sendcount,                    \
                                    .sendtype = sendtype,                      \
                                    .dest = dest,                              \
                                    .sendtag = sendtag,                        \
                                    .recvbuf = recvbuf,                        \
                                    .recvcount = recvcount,                    \
                                    .recvtype = recvtype,                      \
                                    .source = source,                          \
                                    .recvtag = recvtag,                        \
                                    .comm = comm,                              \
                                    .status = status};                         \
                                                                               \
        return sendrecv(&exchange);                                            \
    }

#define REPLACE(NAME, COUNT)                                                   \
    int aspx_offload_##NAME(void *buf, COUNT count, MPI_Datatype datatype,     \
                            int dest, int sendtag, int source, int recvtag,    \
                            MPI_Comm comm, MPI_Status *status)                 \
    {                                                                          \
        struct exchange exchange = {.dest = dest,                              \
                                    .sendtag = sendtag,                        \
                                    .recvbuf = buf,                            \
                                    .recvcount = count,                        \
                                    .recvtype = datatype,                      \
                                    .source = source,                          \
                                    .recvtag = recvtag,                        \
                                    .comm = comm,                              \
                                    .status = status};                         \
                                                                               \
        return replace(&exchange);                                             \
    }

SENDRECV(MPI_Sendrecv, int)
SENDRECV(MPI_Sendrecv_c, MPI_Count)
REPLACE(MPI_Sendrecv_replace, int)
REPLACE(MPI_Sendrecv_replace_c, MPI_Count)
