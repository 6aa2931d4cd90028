/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of a call, in one form for all. */
#ifndef ASPEN_RUNTIME_P2P_CALL_H
#define ASPEN_RUNTIME_P2P_CALL_H

#include "channel.h"
#include "comm.h"

/* From the words of a call. */
#define ASPX_P2P_CALL(BUFFER, COUNT, TYPE, PEER, TAG, COMM)                    \
    ((struct aspx_p2p_call){                                                   \
        .buffer = {(void *) (uintptr_t) (BUFFER), COUNT, TYPE},                \
        .peer = PEER,                                                          \
        .tag = TAG,                                                            \
        .comm = COMM})

struct aspx_p2p_call {
    struct aspx_p2p_buffer buffer;
    int peer, tag;
    MPI_Comm comm;
};

/* Which send it is. */
enum aspx_p2p_send_mode {
    ASPX_P2P_STANDARD, /* MPI_Rsend and MPI_Bsend, too */
    ASPX_P2P_SYNCHRONOUS,
};

/* Has the highest tag that MPI allows been asked for? Once, at the start. */
void aspx_p2p_call_start(void);

/* The post of a call that ghosts carry out. Returns false where it is MPI's:
 * its communicator is not enabled, it is to or from MPI_PROC_NULL, or an
 * argument is wrong, of which MPI says what. */
bool aspx_p2p_send_post(const struct aspx_p2p_call *call,
                        enum aspx_p2p_send_mode mode,
                        struct aspx_p2p_post *post);
bool aspx_p2p_receive_post(const struct aspx_p2p_call *call,
                           struct aspx_p2p_post *post);
bool aspx_p2p_probe_post(int source, int tag, MPI_Comm comm,
                         struct aspx_p2p_post *post);

/* Raise an error on the communicator. Returns it. */
int aspx_p2p_raise(MPI_Comm comm, int rc);

/* A call that gives a request: as ghosts carry it out, CARRY(call, post,
 * request), where IS_OURS(call, post) says so, else MPI's. BUF: const void, or
 * void. */
#define ASPX_P2P_WITH_REQUEST(NAME, BUF, COUNT, IS_OURS, CARRY)                \
    int aspx_p2p_MPI_##NAME(BUF *buf, COUNT count, MPI_Datatype type,          \
                            int peer, int tag, MPI_Comm comm,                  \
                            MPI_Request *request)                              \
    {                                                                          \
        const struct aspx_p2p_call call = ASPX_P2P_CALL(buf, count, type,      \
                                                        peer, tag, comm);      \
        struct aspx_p2p_post post;                                             \
                                                                               \
        return request && IS_OURS(&call, &post)                                \
                   ? CARRY(&call, &post, request)                              \
                   : aspx_p2p_behind.MPI_##NAME(buf, count, type, peer, tag,   \
                                                comm, request);                \
    }

/* Wait for the end of a request that was begun, and hand it out. */
int aspx_p2p_wait(MPI_Request handle, MPI_Status *status);

/* Send or receive and wait for the end. */
int aspx_p2p_do(const struct aspx_p2p_call *call,
                const struct aspx_p2p_post *post, MPI_Status *status);

/* The same without the wait: *handle is the request. */
int aspx_p2p_do_later(const struct aspx_p2p_call *call,
                      const struct aspx_p2p_post *post, MPI_Request *handle);

/* Make a persistent one; one that sends from a copy, as MPI_Bsend. */
int aspx_p2p_do_often(const struct aspx_p2p_call *call,
                      const struct aspx_p2p_post *post, MPI_Request *handle);
int aspx_p2p_do_often_buffered(const struct aspx_p2p_call *call,
                               const struct aspx_p2p_post *post,
                               MPI_Request *handle);

#endif
