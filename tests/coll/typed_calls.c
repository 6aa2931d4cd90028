/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI calls of coll_typed: blocking or not, with int or large counts. */
#include "typed.h"

#if MPI_VERSION >= 4
#define NOW(NAME, ...)                                                         \
    (op->large ? MPI_##NAME##_c(__VA_ARGS__) : MPI_##NAME(__VA_ARGS__))
#else
#define NOW(NAME, ...) MPI_##NAME(__VA_ARGS__)
#endif
#define CALL(NAME, LATER, ...)                                                 \
    (op->later ? NOW(LATER, __VA_ARGS__, &op->request) : NOW(NAME, __VA_ARGS__))

static void with_counts(struct op *op, const void *send, void *recv)
{
    const struct side *from = &op->from, *to = &op->to;

#if MPI_VERSION >= 4
    /* As long as the calls are under way. */
    static MPI_Count counts[16][RANKS_MOST];
    static MPI_Aint displs[16][RANKS_MOST];
    static int next;

    if (op->large) {
        next = (next + 1) % 16;
        for (int r = 0; r < op->size; r++) {
            counts[next][r] = op->kind == ALLGATHERV ? to->count[r]
                                                     : op->counts[r];
            displs[next][r] = to->first[r];
        }
        if (op->kind == ALLGATHERV && op->later)
            MPI_Iallgatherv_c(send, from->count[0], from->type, recv,
                              counts[next], displs[next], to->type, op->comm,
                              &op->request);
        else if (op->kind == ALLGATHERV)
            MPI_Allgatherv_c(send, from->count[0], from->type, recv,
                             counts[next], displs[next], to->type, op->comm);
        else if (op->later)
            MPI_Ireduce_scatter_c(send, recv, counts[next], to->type,
                                  op->reduction, op->comm, &op->request);
        else
            MPI_Reduce_scatter_c(send, recv, counts[next], to->type,
                                 op->reduction, op->comm);
        return;
    }
#endif
    if (op->kind == ALLGATHERV && op->later)
        MPI_Iallgatherv(send, from->count[0], from->type, recv, to->count,
                        to->first, to->type, op->comm, &op->request);
    else if (op->kind == ALLGATHERV)
        MPI_Allgatherv(send, from->count[0], from->type, recv, to->count,
                       to->first, to->type, op->comm);
    else if (op->later)
        MPI_Ireduce_scatter(send, recv, op->counts, to->type, op->reduction,
                            op->comm, &op->request);
    else
        MPI_Reduce_scatter(send, recv, op->counts, to->type, op->reduction,
                           op->comm);
}

static void exchange(struct op *op, const void *send, void *recv)
{
    const struct side *from = &op->from, *to = &op->to;

#if MPI_VERSION >= 4
    /* As long as the calls are under way. */
    static MPI_Count sent[16][RANKS_MOST], counts[16][RANKS_MOST];
    static MPI_Aint sent_at[16][RANKS_MOST], displs[16][RANKS_MOST];
    static int next;

    if (op->large) {
        next = (next + 1) % 16;
        for (int r = 0; r < op->size; r++) {
            sent[next][r] = from->count[r];
            sent_at[next][r] = from->first[r];
            counts[next][r] = to->count[r];
            displs[next][r] = to->first[r];
        }
        if (op->later)
            MPI_Ialltoallv_c(send, sent[next], sent_at[next], from->type, recv,
                             counts[next], displs[next], to->type, op->comm,
                             &op->request);
        else
            MPI_Alltoallv_c(send, sent[next], sent_at[next], from->type, recv,
                            counts[next], displs[next], to->type, op->comm);
        return;
    }
#endif
    if (op->later)
        MPI_Ialltoallv(send, from->count, from->first, from->type, recv,
                       to->count, to->first, to->type, op->comm, &op->request);
    else
        MPI_Alltoallv(send, from->count, from->first, from->type, recv,
                      to->count, to->first, to->type, op->comm);
}

static void move_blocks(struct op *op, const void *send, void *recv)
{
    int ns = op->from.count[0], nr = op->to.count[0], root = op->root;
    MPI_Datatype sent = op->from.type, received = op->to.type;

    switch (op->kind) {
    case BCAST:
        CALL(Bcast, Ibcast, recv, nr, received, root, op->comm);
        break;
    case SCATTER:
        CALL(Scatter, Iscatter, send, ns, sent, recv, nr, received, root,
             op->comm);
        break;
    case GATHER:
        CALL(Gather, Igather, send, ns, sent, recv, nr, received, root,
             op->comm);
        break;
    case ALLGATHER:
        CALL(Allgather, Iallgather, send, ns, sent, recv, nr, received,
             op->comm);
        break;
    default:
        CALL(Alltoall, Ialltoall, send, ns, sent, recv, nr, received, op->comm);
    }
}

static void reduce(struct op *op, const void *send, void *recv)
{
    MPI_Datatype type = op->to.type;
    MPI_Op reduction = op->reduction;
    int n = op->n;

    switch (op->kind) {
    case REDUCE:
        CALL(Reduce, Ireduce, send, recv, n, type, reduction, op->root,
             op->comm);
        break;
    case ALLREDUCE:
        CALL(Allreduce, Iallreduce, send, recv, n, type, reduction, op->comm);
        break;
    case REDUCE_SCATTER_BLOCK:
        CALL(Reduce_scatter_block, Ireduce_scatter_block, send, recv, n, type,
             reduction, op->comm);
        break;
    case SCAN:
        CALL(Scan, Iscan, send, recv, n, type, reduction, op->comm);
        break;
    default:
        CALL(Exscan, Iexscan, send, recv, n, type, reduction, op->comm);
    }
}

void op_call(struct op *op)
{
    const void *send = op->from.buf;
    void *recv = op->to.buf;

    op->request = MPI_REQUEST_NULL;
    if (op->in_place && op->kind == SCATTER)
        recv = MPI_IN_PLACE;
    else if (op->in_place)
        send = MPI_IN_PLACE;
    if (op->kind == BARRIER) {
        if (op->later)
            MPI_Ibarrier(op->comm, &op->request);
        else
            MPI_Barrier(op->comm);
    } else if (op->kind == ALLTOALLV) {
        exchange(op, send, recv);
    } else if (op->kind == ALLGATHERV || op->kind == REDUCE_SCATTER) {
        with_counts(op, send, recv);
    } else if (op->reduction != MPI_OP_NULL) {
        reduce(op, send, recv);
    } else {
        move_blocks(op, send, recv);
    }
}
