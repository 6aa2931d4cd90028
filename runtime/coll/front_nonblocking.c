/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking collectives, as front.c has the blocking ones. */
#include "config.h"

#include "front_nonblocking.h"

#include "posted.h"
#include "requests.h"

/* ---- as MPI carries them out ------------------------------------------------ */

static int mpi_Ibarrier(const struct aspx_coll_call *c, MPI_Request *request)
{
    return aspx_coll_behind.MPI_Ibarrier(c->comm, request);
}

#define BEHIND(NAME, ...)                                                      \
    static int mpi_##NAME(const struct aspx_coll_call *c,                      \
                          MPI_Request *request)                                \
    {                                                                          \
        return aspx_coll_behind.MPI_##NAME(__VA_ARGS__, c->comm, request);     \
    }

/* clang-format off */
#define ONE_COUNT(TYPE) (TYPE) c->nrecv, c->recv_type
#define TWO_COUNTS(TYPE)                                                       \
    c->send, (TYPE) c->nsend, c->send_type, c->recv, (TYPE) c->nrecv,          \
        c->recv_type
#define BUFFERS(TYPE) c->send, c->recv, (TYPE) c->nrecv, c->recv_type, c->fold
/* clang-format on */

BEHIND(Ibcast, c->recv, ONE_COUNT(int), c->root)
BEHIND(Ibcast_c, c->recv, ONE_COUNT(MPI_Count), c->root)
BEHIND(Ireduce, BUFFERS(int), c->root)
BEHIND(Ireduce_c, BUFFERS(MPI_Count), c->root)
BEHIND(Igather, TWO_COUNTS(int), c->root)
BEHIND(Igather_c, TWO_COUNTS(MPI_Count), c->root)
BEHIND(Iscatter, TWO_COUNTS(int), c->root)
BEHIND(Iscatter_c, TWO_COUNTS(MPI_Count), c->root)
BEHIND(Iallgather, TWO_COUNTS(int))
BEHIND(Iallgather_c, TWO_COUNTS(MPI_Count))
BEHIND(Ialltoall, TWO_COUNTS(int))
BEHIND(Ialltoall_c, TWO_COUNTS(MPI_Count))
BEHIND(Iallreduce, BUFFERS(int))
BEHIND(Iallreduce_c, BUFFERS(MPI_Count))
BEHIND(Ireduce_scatter_block, BUFFERS(int))
BEHIND(Ireduce_scatter_block_c, BUFFERS(MPI_Count))
BEHIND(Iscan, BUFFERS(int))
BEHIND(Iscan_c, BUFFERS(MPI_Count))
BEHIND(Iexscan, BUFFERS(int))
BEHIND(Iexscan_c, BUFFERS(MPI_Count))

/* ---- as the program calls them ---------------------------------------------- */

static int coll_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return aspx_coll_post(
        &(struct aspx_coll_call){.op = ASP_COLL_BARRIER, .comm = comm}, request,
        mpi_Ibarrier);
}

#define IBCAST(NAME, COUNT)                                                    \
    static int coll_##NAME(void *buffer, COUNT count, MPI_Datatype type,       \
                           int root, MPI_Comm comm, MPI_Request *request)      \
    {                                                                          \
        return aspx_coll_post(&(struct aspx_coll_call){.op = ASP_COLL_BCAST,   \
                                                       .root = root,           \
                                                       .recv = buffer,         \
                                                       .nrecv = count,         \
                                                       .recv_type = type,      \
                                                       .comm = comm},          \
                              request, mpi_##NAME);                            \
    }

#define BLOCKS_BODY(NAME, OP, ROOT)                                            \
    {                                                                          \
        return aspx_coll_post(&(struct aspx_coll_call){.op = ASP_COLL_##OP,    \
                                                       .root = ROOT,           \
                                                       .send = send,           \
                                                       .recv = recv,           \
                                                       .nsend = nsend,         \
                                                       .nrecv = nrecv,         \
                                                       .send_type = sent,      \
                                                       .recv_type = received,  \
                                                       .comm = comm},          \
                              request, mpi_##NAME);                            \
    }
#define BLOCKS(NAME, OP, COUNT)                                                \
    static int coll_##NAME(const void *send, COUNT nsend, MPI_Datatype sent,   \
                           void *recv, COUNT nrecv, MPI_Datatype received,     \
                           MPI_Comm comm, MPI_Request *request)                \
        BLOCKS_BODY(NAME, OP, 0)
#define ROOTED_BLOCKS(NAME, OP, COUNT)                                         \
    static int coll_##NAME(const void *send, COUNT nsend, MPI_Datatype sent,   \
                           void *recv, COUNT nrecv, MPI_Datatype received,     \
                           int root, MPI_Comm comm, MPI_Request *request)      \
        BLOCKS_BODY(NAME, OP, root)

#define REDUCTION_BODY(NAME, OP, ROOT)                                         \
    {                                                                          \
        return aspx_coll_post(&(struct aspx_coll_call){.op = ASP_COLL_##OP,    \
                                                       .root = ROOT,           \
                                                       .send = send,           \
                                                       .recv = recv,           \
                                                       .nsend = count,         \
                                                       .nrecv = count,         \
                                                       .send_type = type,      \
                                                       .recv_type = type,      \
                                                       .fold = fold,           \
                                                       .comm = comm},          \
                              request, mpi_##NAME);                            \
    }
#define REDUCTION(NAME, OP, COUNT)                                             \
    static int coll_##NAME(const void *send, void *recv, COUNT count,          \
                           MPI_Datatype type, MPI_Op fold, MPI_Comm comm,      \
                           MPI_Request *request) REDUCTION_BODY(NAME, OP, 0)
#define ROOTED_REDUCTION(NAME, OP, COUNT)                                      \
    static int coll_##NAME(const void *send, void *recv, COUNT count,          \
                           MPI_Datatype type, MPI_Op fold, int root,           \
                           MPI_Comm comm, MPI_Request *request)                \
        REDUCTION_BODY(NAME, OP, root)

#define BOTH(FORM, NAME, OP)                                                   \
    FORM(NAME, OP, int)                                                        \
    FORM(NAME##_c, OP, MPI_Count)

IBCAST(Ibcast, int)
IBCAST(Ibcast_c, MPI_Count)
BOTH(ROOTED_BLOCKS, Igather, GATHER)
BOTH(ROOTED_BLOCKS, Iscatter, SCATTER)
BOTH(BLOCKS, Iallgather, ALLGATHER)
BOTH(BLOCKS, Ialltoall, ALLTOALL)
BOTH(ROOTED_REDUCTION, Ireduce, REDUCE)
BOTH(REDUCTION, Iallreduce, ALLREDUCE)
BOTH(REDUCTION, Ireduce_scatter_block, REDUCE_SCATTER_BLOCK)
BOTH(REDUCTION, Iscan, SCAN)
BOTH(REDUCTION, Iexscan, EXSCAN)

/* ---- in front --------------------------------------------------------------- */

#define OURS(NAME)                                                             \
    (table->MPI_##NAME = coll_##NAME, table->MPI_##NAME##_c = coll_##NAME##_c)

void aspx_coll_nonblocking_in_front(struct aspx_real *table)
{
    table->MPI_Ibarrier = coll_Ibarrier;
    OURS(Ibcast);
    OURS(Igather);
    OURS(Iscatter);
    OURS(Iallgather);
    OURS(Ialltoall);
    OURS(Ireduce);
    OURS(Iallreduce);
    OURS(Ireduce_scatter_block);
    OURS(Iscan);
    OURS(Iexscan);
    aspx_coll_requests_in_front(table);
}
