/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that can be tuned, each with its twin for large counts: both fill
 * in a struct aspx_coll_call and go the same way, since one rank may call the
 * one and another the other. */
#include "config.h"

#include "interceptors.h"

#include "info.h"

#include "runtime/coll/call/call_forms.h"
#include "runtime/coll/select/comm.h"
#include "runtime/coll/comm/global.h"
#include "runtime/coll/select/report.h"
#include "runtime/coll/nonblocking/context.h"
#include "runtime/coll/comm/straight.h"
#include "runtime/coll/select/tune.h"
#include "runtime/coll/machine/machine.h"
#include "runtime/posted/look_thread.h"
#include "runtime/posted/posted.h"

#include "mpi_wrap.h"

#include <stdbool.h>

/* ---- as MPI carries them out ------------------------------------------------ */

static int mpi_Barrier(const struct aspx_coll_call *c)
{
    return aspx_coll_behind.MPI_Barrier(c->comm);
}

/* One form with int counts, one with MPI_Count; arguments in the order of the
 * standard. */
#define BEHIND(NAME, ...)                                                      \
    static inline __attribute__((always_inline)) int mpi_##NAME(               \
        const struct aspx_coll_call *c)                                        \
    {                                                                          \
        return aspx_coll_behind.MPI_##NAME(__VA_ARGS__);                       \
    }

#define COUNTS(TYPE) (const TYPE *) c->counts

BEHIND(Bcast, c->recv, ONE_COUNT(int), c->root, c->comm)
BEHIND(Bcast_c, c->recv, ONE_COUNT(MPI_Count), c->root, c->comm)
BEHIND(Reduce, BUFFERS(int), c->root, c->comm)
BEHIND(Reduce_c, BUFFERS(MPI_Count), c->root, c->comm)
BEHIND(Gather, TWO_COUNTS(int), c->root, c->comm)
BEHIND(Gather_c, TWO_COUNTS(MPI_Count), c->root, c->comm)
BEHIND(Scatter, TWO_COUNTS(int), c->root, c->comm)
BEHIND(Scatter_c, TWO_COUNTS(MPI_Count), c->root, c->comm)
BEHIND(Allgather, TWO_COUNTS(int), c->comm)
BEHIND(Allgather_c, TWO_COUNTS(MPI_Count), c->comm)
BEHIND(Alltoall, TWO_COUNTS(int), c->comm)
BEHIND(Alltoall_c, TWO_COUNTS(MPI_Count), c->comm)
BEHIND(Allreduce, BUFFERS(int), c->comm)
BEHIND(Allreduce_c, BUFFERS(MPI_Count), c->comm)
BEHIND(Reduce_scatter_block, BUFFERS(int), c->comm)
BEHIND(Reduce_scatter_block_c, BUFFERS(MPI_Count), c->comm)
BEHIND(Scan, BUFFERS(int), c->comm)
BEHIND(Scan_c, BUFFERS(MPI_Count), c->comm)
BEHIND(Exscan, BUFFERS(int), c->comm)
BEHIND(Exscan_c, BUFFERS(MPI_Count), c->comm)
BEHIND(Reduce_scatter, c->send, c->recv, COUNTS(int), c->recv_type,
       c->reduction, c->comm)
BEHIND(Reduce_scatter_c, c->send, c->recv, COUNTS(MPI_Count), c->recv_type,
       c->reduction, c->comm)

/* Its counts may be others than the program's (execute_call.c). */
static int mpi_Allgatherv(const struct aspx_coll_call *c)
{
    if (c->large)
        return aspx_coll_behind.MPI_Allgatherv_c(
            c->send, c->nsend, c->send_type, c->recv, COUNTS(MPI_Count),
            (const MPI_Aint *) c->displs, c->recv_type, c->comm);
    return aspx_coll_behind.MPI_Allgatherv(
        c->send, (int) c->nsend, c->send_type, c->recv, COUNTS(int),
        (const int *) c->displs, c->recv_type, c->comm);
}

static int mpi_Alltoallv(const struct aspx_coll_call *c)
{
    if (c->large)
        return aspx_coll_behind.MPI_Alltoallv_c(
            c->send, (const MPI_Count *) c->send_counts,
            (const MPI_Aint *) c->send_displs, c->send_type, c->recv,
            COUNTS(MPI_Count), (const MPI_Aint *) c->displs, c->recv_type,
            c->comm);
    return aspx_coll_behind.MPI_Alltoallv(
        c->send, (const int *) c->send_counts, (const int *) c->send_displs,
        c->send_type, c->recv, COUNTS(int), (const int *) c->displs,
        c->recv_type, c->comm);
}

/* ---- as the program calls them ---------------------------------------------- */

/* A call that does not go straight; this one is in memory. */
static __attribute__((noinline)) int coll_tuned(
    enum asp_coll_op op, MPI_Comm comm, const void *send, void *recv,
    MPI_Count nsend, MPI_Count nrecv, MPI_Datatype send_type,
    MPI_Datatype recv_type, MPI_Op reduction, int root,
    int (*mpi)(const struct aspx_coll_call *call))
{
    return aspx_coll_tuned(&(struct aspx_coll_call){.op = op,
                                                    .root = root,
                                                    .send = send,
                                                    .recv = recv,
                                                    .nsend = nsend,
                                                    .nrecv = nrecv,
                                                    .send_type = send_type,
                                                    .recv_type = recv_type,
                                                    .reduction = reduction,
                                                    .comm = comm,
                                                    .mpi = mpi});
}

/* `c` is never in memory: what goes straight pays for nothing. */
#define FORM(NAME, ARGS, ...)                                                  \
    int aspx_coll_MPI_##NAME(ARGS)                                             \
    {                                                                          \
        const struct aspx_coll_call c = {__VA_ARGS__};                         \
                                                                               \
        if (__builtin_expect(aspx_goes_straight(&c), 1))                       \
            return mpi_##NAME(&c);                                             \
        return coll_tuned(c.op, c.comm, c.send, c.recv, c.nsend, c.nrecv,      \
                          c.send_type, c.recv_type, c.reduction, c.root,       \
                          mpi_##NAME);                                         \
    }

FORM(Barrier, MPI_Comm comm, .op = ASP_COLL_BARRIER, .comm = comm)

/* Each rank's block has its own size (counts.h). */
#define ALLGATHERV(NAME, COUNT, DISPL, LARGE)                                  \
    int aspx_coll_MPI_##NAME(const void *send, COUNT nsend, MPI_Datatype sent, \
                             void *recv, const COUNT *counts,                  \
                             const DISPL *displs, MPI_Datatype received,       \
                             MPI_Comm comm)                                    \
    {                                                                          \
        return aspx_coll_tuned(                                                \
            &(struct aspx_coll_call){.op = ASP_COLL_ALLGATHERV,                \
                                     .send = send,                             \
                                     .recv = recv,                             \
                                     .nsend = nsend,                           \
                                     .send_type = sent,                        \
                                     .recv_type = received,                    \
                                     .counts = counts,                         \
                                     .displs = displs,                         \
                                     .large = LARGE,                           \
                                     .comm = comm,                             \
                                     .mpi = mpi_Allgatherv});                  \
    }
/* Each pair of ranks has its own two (alltoallv.h). */
#define ALLTOALLV(NAME, COUNT, DISPL, LARGE)                                   \
    int aspx_coll_MPI_##NAME(                                                  \
        const void *send, const COUNT *send_counts, const DISPL *send_displs,  \
        MPI_Datatype sent, void *recv, const COUNT *counts,                    \
        const DISPL *displs, MPI_Datatype received, MPI_Comm comm)             \
    {                                                                          \
        return aspx_coll_tuned(                                                \
            &(struct aspx_coll_call){.op = ASP_COLL_ALLTOALLV,                 \
                                     .send = send,                             \
                                     .recv = recv,                             \
                                     .send_type = sent,                        \
                                     .recv_type = received,                    \
                                     .counts = counts,                         \
                                     .displs = displs,                         \
                                     .send_counts = send_counts,               \
                                     .send_displs = send_displs,               \
                                     .large = LARGE,                           \
                                     .comm = comm,                             \
                                     .mpi = mpi_Alltoallv});                   \
    }
#define REDUCE_SCATTER(NAME, COUNT, LARGE)                                     \
    int aspx_coll_MPI_##NAME(const void *send, void *recv,                     \
                             const COUNT *counts, MPI_Datatype type,           \
                             MPI_Op reduction, MPI_Comm comm)                  \
    {                                                                          \
        return aspx_coll_tuned(                                                \
            &(struct aspx_coll_call){.op = ASP_COLL_REDUCE_SCATTER,            \
                                     .send = send,                             \
                                     .recv = recv,                             \
                                     .send_type = type,                        \
                                     .recv_type = type,                        \
                                     .counts = counts,                         \
                                     .large = LARGE,                           \
                                     .reduction = reduction,                   \
                                     .comm = comm,                             \
                                     .mpi = mpi_##NAME});                      \
    }

BOTH(BCAST, Bcast, BCAST)
BOTH(ROOTED_BLOCKS, Gather, GATHER)
BOTH(ROOTED_BLOCKS, Scatter, SCATTER)
BOTH(BLOCKS, Allgather, ALLGATHER)
BOTH(BLOCKS, Alltoall, ALLTOALL)
BOTH(ROOTED_REDUCTION, Reduce, REDUCE)
BOTH(REDUCTION, Allreduce, ALLREDUCE)
BOTH(REDUCTION, Reduce_scatter_block, REDUCE_SCATTER_BLOCK)
ALLGATHERV(Allgatherv, int, int, false)
ALLGATHERV(Allgatherv_c, MPI_Count, MPI_Aint, true)
ALLTOALLV(Alltoallv, int, int, false)
ALLTOALLV(Alltoallv_c, MPI_Count, MPI_Aint, true)
REDUCE_SCATTER(Reduce_scatter, int, false)
REDUCE_SCATTER(Reduce_scatter_c, MPI_Count, true)
BOTH(REDUCTION, Scan, SCAN)
BOTH(REDUCTION, Exscan, EXSCAN)

/* ---- the life of communicators ---------------------------------------------- */

int aspx_coll_MPI_Comm_free(MPI_Comm *comm)
{
    return aspx_coll_comm_free(comm, aspx_coll_behind.MPI_Comm_free);
}

int aspx_coll_MPI_Comm_disconnect(MPI_Comm *comm)
{
    return aspx_coll_comm_free(comm, aspx_coll_behind.MPI_Comm_disconnect);
}

int aspx_coll_MPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    return aspx_coll_set_info(comm, info);
}

int aspx_coll_MPI_Comm_get_info(MPI_Comm comm, MPI_Info *info)
{
    return aspx_coll_get_info(comm, info);
}

int aspx_coll_MPI_Finalize(void)
{
    aspx_coll_stop();
    return aspx_coll_behind.MPI_Finalize();
}

/* ---- in front --------------------------------------------------------------- */

static bool start(const struct asp_layout *layout)
{
    bool asked = aspx_coll_prepare(layout);

    aspx_coll_context_start(layout);
    if (asked && aspx_coll_context_wanted())
        aspx_posted_want();
    if (asked)
        aspx_straight_start();
    return asked;
}

static void join(const struct asp_layout *layout)
{
    aspx_coll_began = aspx_coll_active = aspx_coll_begin(layout);
    aspx_posted_shares_cpus |= aspx_coll_shares_cpus();
}

const struct aspx_interceptor aspx_coll_interceptor = {
    .start = start,
    .join = join,
    .fill = aspx_coll_fill,
    .behind = &aspx_coll_behind,
};

void aspx_coll_stop(void)
{
    if (!aspx_coll_active)
        return;
    aspx_coll_comm_stop();
    aspx_look_threads_stop();
    aspx_coll_active = false;
    aspx_native_stop();
    aspx_coll_save();
}
