/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking collectives, as interceptors.c has the blocking ones. */
#include "config.h"

#include "posted.h"

#include "runtime/coll/call/call_forms.h"

#include "mpi_wrap.h"

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

int aspx_coll_MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return aspx_coll_post(
        &(struct aspx_coll_call){.op = ASP_COLL_BARRIER, .comm = comm}, request,
        mpi_Ibarrier);
}

#define FORM(NAME, ARGS, ...)                                                  \
    int aspx_coll_MPI_##NAME(ARGS, MPI_Request *request)                       \
    {                                                                          \
        return aspx_coll_post(&(struct aspx_coll_call){__VA_ARGS__}, request,  \
                              mpi_##NAME);                                     \
    }

BOTH(BCAST, Ibcast, BCAST)
BOTH(ROOTED_BLOCKS, Igather, GATHER)
BOTH(ROOTED_BLOCKS, Iscatter, SCATTER)
BOTH(BLOCKS, Iallgather, ALLGATHER)
BOTH(BLOCKS, Ialltoall, ALLTOALL)
BOTH(ROOTED_REDUCTION, Ireduce, REDUCE)
BOTH(REDUCTION, Iallreduce, ALLREDUCE)
BOTH(REDUCTION, Ireduce_scatter_block, REDUCE_SCATTER_BLOCK)
BOTH(REDUCTION, Iscan, SCAN)
BOTH(REDUCTION, Iexscan, EXSCAN)
