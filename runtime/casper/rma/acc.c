/* SPDX-License-Identifier: BSD-3-Clause */
/* The accumulate family. Every byte of a window has one ghost that carries out
 * all of it, in every kind of epoch and for every window on the same memory:
 * one executor per byte makes it atomic and ordered. */
#include "config.h"

#include "acc.h"

#include "types.h"

#include "runtime/mpi/fixes.h"
#include "runtime/mpi/handle.h"
#include "runtime/casper/window/native.h"
#include "runtime/mpi/real.h"
#include "mpi_wrap.h"

/* MPICH asks the origin for the data when the target knows the type, if that
 * takes a message of its own. Since 4.2 the target completes no other
 * accumulate before, of any origin: and this one may compute now. So it waits
 * for the ghost, which answers at once. */
static void see_through(const struct aspx_acc *acc, const struct aspx_route *to)
{
    if (aspx_handle_basic_size(acc->target.type) ||
        !aspx_fix_is_for_release(ASPX_FIX_ACC_TYPE) ||
        !aspx_type_is_irregular(acc->target.type))
        return;
    aspx_route_ring(to);
    aspx_real.MPI_Win_flush(to->rank, to->on);
}

static int issue(const struct aspx_acc *acc, const struct aspx_route *to,
                 MPI_Request *request)
{
    const struct aspx_buffer *o = &acc->origin, *r = &acc->result;
    const struct aspx_target_access *t = &acc->target;
    void *result = (void *) (uintptr_t) r->addr;

    if (r->type == MPI_DATATYPE_NULL && !request)
        return aspx_real.MPI_Accumulate_c(o->addr, o->count, o->type, to->rank,
                                          to->addr, t->count, t->type, acc->op,
                                          to->on);
    if (r->type == MPI_DATATYPE_NULL)
        return aspx_real.MPI_Raccumulate_c(o->addr, o->count, o->type, to->rank,
                                           to->addr, t->count, t->type, acc->op,
                                           to->on, request);
    if (!request)
        return aspx_real.MPI_Get_accumulate_c(
            o->addr, o->count, o->type, result, r->count, r->type, to->rank,
            to->addr, t->count, t->type, acc->op, to->on);
    return aspx_real.MPI_Rget_accumulate_c(
        o->addr, o->count, o->type, result, r->count, r->type, to->rank,
        to->addr, t->count, t->type, acc->op, to->on, request);
}

int aspx_acc_send(const struct aspx_acc *acc, const struct aspx_route *to,
                  MPI_Request *request)
{
    int rc = issue(acc, to, request);

    if (rc == MPI_SUCCESS)
        see_through(acc, to);
    return rc;
}

static int send_piece(const struct aspx_acc *piece, struct aspx_route *to)
{
    return aspx_route_sent(to, aspx_acc_send(piece, to, NULL));
}

static int split_piece(const struct aspx_acc *piece, struct aspx_route *to)
{
    return aspx_acc_split(piece, to, NULL);
}

/* Returns false when MPI's own call has to run. */
static bool carry_out(struct aspx_acc *acc, MPI_Win win, MPI_Request *request,
                      int *rc)
{
    enum aspx_path path;
    struct aspx_route to;

    path = aspx_route_find(win, &acc->target, NULL, &to);
    if ((path == ASPX_PATH_SEND || path == ASPX_PATH_SPLIT) &&
        aspx_is_large(&acc->origin, &acc->target)) {
        *rc = aspx_large_run(acc, &to,
                             path == ASPX_PATH_SEND ? send_piece : split_piece,
                             request);
        return true;
    }
    switch (path) {
    case ASPX_PATH_SEND:
        *rc = aspx_route_sent(&to, aspx_acc_send(acc, &to, request));
        if (request)
            aspx_route_ring(&to);
        return true;
    case ASPX_PATH_SPLIT:
        *rc = aspx_acc_split(acc, &to, request);
        return true;
    case ASPX_PATH_ERROR:
        *rc = to.code;
        return true;
    case ASPX_PATH_COPY: /* Put and Get only */
    case ASPX_PATH_NATIVE:
        break;
    }
    return false;
}

int aspx_wrap_MPI_Fetch_and_op(const void *origin_addr, void *result_addr,
                               MPI_Datatype type, int rank, MPI_Aint disp,
                               MPI_Op op, MPI_Win win)
{
    struct aspx_target_access access = {
        ASPX_CALL_FETCH_AND_OP, rank, disp, 1, type, false, false};
    struct aspx_route to;

    switch (aspx_route_find(win, &access, NULL, &to)) {
    case ASPX_PATH_SEND:
        return aspx_route_sent(
            &to, aspx_real.MPI_Fetch_and_op(origin_addr, result_addr, type,
                                            to.rank, to.addr, op, to.on));
    case ASPX_PATH_ERROR:
        return to.code;
    default:
        return aspx_real.MPI_Fetch_and_op(origin_addr, result_addr, type, rank,
                                          access.disp, op, aspx_native_of(win));
    }
}

int aspx_wrap_MPI_Compare_and_swap(const void *origin_addr,
                                   const void *compare_addr, void *result_addr,
                                   MPI_Datatype type, int rank, MPI_Aint disp,
                                   MPI_Win win)
{
    struct aspx_target_access access = {
        ASPX_CALL_COMPARE_AND_SWAP, rank, disp, 1, type, false, false};
    struct aspx_route to;

    switch (aspx_route_find(win, &access, NULL, &to)) {
    case ASPX_PATH_SEND:
        return aspx_route_sent(&to, aspx_real.MPI_Compare_and_swap(
                                        origin_addr, compare_addr, result_addr,
                                        type, to.rank, to.addr, to.on));
    case ASPX_PATH_ERROR:
        return to.code;
    default:
        return aspx_real.MPI_Compare_and_swap(origin_addr, compare_addr,
                                              result_addr, type, rank,
                                              access.disp, aspx_native_of(win));
    }
}

/* The parameters of one kind of call, and how they are passed on. */
#define ADD_PARAMETERS(COUNT)                                                  \
    const void *origin_addr, COUNT origin_count, MPI_Datatype origin_type,     \
        int rank, MPI_Aint disp, COUNT count, MPI_Datatype type, MPI_Op op,    \
        MPI_Win win
#define ADD_ARGUMENTS                                                          \
    origin_addr, origin_count, origin_type, rank, acc.target.disp, count,      \
        type, op, aspx_native_of(win)
#define ADD_ACC                                                                \
    {                                                                          \
        {origin_addr, origin_count, origin_type},                              \
            {NULL, 0, MPI_DATATYPE_NULL},                                      \
            {ASPX_CALL_ACCUMULATE, rank, disp, count, type, false, false}, op  \
    }

#define FETCH_PARAMETERS(COUNT)                                                \
    const void *origin_addr, COUNT origin_count, MPI_Datatype origin_type,     \
        void *result_addr, COUNT result_count, MPI_Datatype result_type,       \
        int rank, MPI_Aint disp, COUNT count, MPI_Datatype type, MPI_Op op,    \
        MPI_Win win
#define FETCH_ARGUMENTS                                                        \
    origin_addr, origin_count, origin_type, result_addr, result_count,         \
        result_type, rank, acc.target.disp, count, type, op,                   \
        aspx_native_of(win)
#define FETCH_ACC                                                              \
    {                                                                          \
        {origin_addr, origin_count, origin_type},                              \
            {result_addr, result_count, result_type},                          \
            {ASPX_CALL_GET_ACCUMULATE, rank, disp, count, type, false, false}, \
            op                                                                 \
    }

/* NAME and RNAME, for one type of counts. What has no result type is MPI's to
 * refuse. */
#define TWINS(KIND, NAME, RNAME, COUNT, OK)                                    \
    int aspx_wrap_##NAME(KIND##_PARAMETERS(COUNT))                             \
    {                                                                          \
        struct aspx_acc acc = KIND##_ACC;                                      \
        int rc;                                                                \
                                                                               \
        if ((OK) && carry_out(&acc, win, NULL, &rc))                           \
            return rc;                                                         \
        return aspx_real.NAME(KIND##_ARGUMENTS);                               \
    }                                                                          \
                                                                               \
    int aspx_wrap_##RNAME(KIND##_PARAMETERS(COUNT), MPI_Request *request)      \
    {                                                                          \
        struct aspx_acc acc = KIND##_ACC;                                      \
        int rc;                                                                \
                                                                               \
        if ((OK) && request && carry_out(&acc, win, request, &rc))             \
            return rc;                                                         \
        return aspx_real.RNAME(KIND##_ARGUMENTS, request);                     \
    }

#define HAS_RESULT (result_type != MPI_DATATYPE_NULL)

TWINS(ADD, MPI_Accumulate, MPI_Raccumulate, int, true)
TWINS(ADD, MPI_Accumulate_c, MPI_Raccumulate_c, MPI_Count, true)
TWINS(FETCH, MPI_Get_accumulate, MPI_Rget_accumulate, int, HAS_RESULT)
TWINS(FETCH, MPI_Get_accumulate_c, MPI_Rget_accumulate_c, MPI_Count, HAS_RESULT)
