/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of collective calls, for those that write a function for each
 * (interceptors.c, interceptors_nonblocking.c): as parameters, as a struct
 * aspx_coll_call, and out of it again. Names are those of the standard where
 * there is one. */
#ifndef ASPEN_RUNTIME_COLL_CALL_CALL_FORMS_H
#define ASPEN_RUNTIME_COLL_CALL_CALL_FORMS_H

#include "call.h"

/* clang-format off */

/* Parameters, up to the communicator. COUNT: int or MPI_Count. */
#define BCAST_ARGS(COUNT)                                                      \
    void *buffer, COUNT count, MPI_Datatype type, int root, MPI_Comm comm
#define SIDES(COUNT)                                                           \
    const void *send, COUNT nsend, MPI_Datatype sent, void *recv, COUNT nrecv, \
        MPI_Datatype received
#define BLOCKS_ARGS(COUNT)        SIDES(COUNT), MPI_Comm comm
#define ROOTED_BLOCKS_ARGS(COUNT) SIDES(COUNT), int root, MPI_Comm comm
#define VECTOR(COUNT)                                                          \
    const void *send, void *recv, COUNT count, MPI_Datatype type,              \
        MPI_Op reduction
#define REDUCTION_ARGS(COUNT)        VECTOR(COUNT), MPI_Comm comm
#define ROOTED_REDUCTION_ARGS(COUNT) VECTOR(COUNT), int root, MPI_Comm comm

/* The call that they make; ROOT: root, or 0 where there is none. */
#define BCAST_CALL                                                             \
    .op = ASP_COLL_BCAST, .root = root, .recv = buffer, .nrecv = count,        \
    .recv_type = type, .comm = comm
#define BLOCKS_CALL(OP, ROOT)                                                  \
    .op = ASP_COLL_##OP, .root = ROOT, .send = send, .recv = recv,             \
    .nsend = nsend, .nrecv = nrecv, .send_type = sent, .recv_type = received,  \
    .comm = comm
#define REDUCTION_CALL(OP, ROOT)                                               \
    .op = ASP_COLL_##OP, .root = ROOT, .send = send, .recv = recv,             \
    .nsend = count, .nrecv = count, .send_type = type, .recv_type = type,      \
    .reduction = reduction, .comm = comm

/* Arguments for MPI of a call `c`, up to root and communicator. */
#define ONE_COUNT(TYPE) (TYPE) c->nrecv, c->recv_type
#define TWO_COUNTS(TYPE)                                                       \
    c->send, (TYPE) c->nsend, c->send_type, c->recv, (TYPE) c->nrecv,          \
        c->recv_type
#define BUFFERS(TYPE)                                                          \
    c->send, c->recv, (TYPE) c->nrecv, c->recv_type, c->reduction

/* clang-format on */

/* A function for each, by FORM(NAME, its parameters, its call), which is the
 * includer's. Gather, Scatter and Reduce have a root, the others none. */
#define BCAST(NAME, OP, COUNT) FORM(NAME, BCAST_ARGS(COUNT), BCAST_CALL)
#define BLOCKS(NAME, OP, COUNT)                                                \
    FORM(NAME, BLOCKS_ARGS(COUNT), BLOCKS_CALL(OP, 0))
#define ROOTED_BLOCKS(NAME, OP, COUNT)                                         \
    FORM(NAME, ROOTED_BLOCKS_ARGS(COUNT), BLOCKS_CALL(OP, root))
#define REDUCTION(NAME, OP, COUNT)                                             \
    FORM(NAME, REDUCTION_ARGS(COUNT), REDUCTION_CALL(OP, 0))
#define ROOTED_REDUCTION(NAME, OP, COUNT)                                      \
    FORM(NAME, ROOTED_REDUCTION_ARGS(COUNT), REDUCTION_CALL(OP, root))

/* With both types of counts. */
#define BOTH(KIND, NAME, OP)                                                   \
    KIND(NAME, OP, int)                                                        \
    KIND(NAME##_c, OP, MPI_Count)

#endif
