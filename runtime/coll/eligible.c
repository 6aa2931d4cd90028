/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "eligible.h"

#include "candidates.h"
#include "counts.h"

#include "runtime/mpi/handle.h"

#include <stdint.h>

/* ---- which operations on which types ---------------------------------------- */

enum class { OTHER, INTEGER, FLOATING, COMPLEX, BYTES };

static const MPI_Datatype integers[] = {
    MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR,
    MPI_SHORT,       MPI_UNSIGNED_SHORT,
    MPI_INT,         MPI_UNSIGNED,
    MPI_LONG,        MPI_UNSIGNED_LONG,
    MPI_LONG_LONG,   MPI_UNSIGNED_LONG_LONG,
    MPI_INT8_T,      MPI_INT16_T,
    MPI_INT32_T,     MPI_INT64_T,
    MPI_UINT8_T,     MPI_UINT16_T,
    MPI_UINT32_T,    MPI_UINT64_T,
    MPI_AINT,        MPI_OFFSET,
    MPI_COUNT,       MPI_INTEGER,
};
static const MPI_Datatype floatings[] = {
    MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION,
    MPI_REAL4, MPI_REAL8,
};
static const MPI_Datatype complexes[] = {
    MPI_C_FLOAT_COMPLEX,
    MPI_C_DOUBLE_COMPLEX,
    MPI_C_LONG_DOUBLE_COMPLEX,
    MPI_COMPLEX,
    MPI_DOUBLE_COMPLEX,
    MPI_COMPLEX8,
    MPI_COMPLEX16,
    MPI_CXX_FLOAT_COMPLEX,
    MPI_CXX_DOUBLE_COMPLEX,
    MPI_CXX_LONG_DOUBLE_COMPLEX,
};

/* By the number of a built-in type, the lowest byte of its handle. */
static unsigned char classes[256];

static void set_class(const MPI_Datatype *types, size_t n, enum class class)
{
    for (size_t i = 0; i < n; i++)
        if (aspx_handle_basic_size(types[i]) > 0)
            classes[types[i] & 0xff] = (unsigned char) class;
}

#define SET(types, class)                                                      \
    set_class(types, sizeof(types) / sizeof((types)[0]), class)

void aspx_coll_eligible_start(void)
{
    SET(integers, INTEGER);
    SET(floatings, FLOATING);
    SET(complexes, COMPLEX);
    set_class(&(MPI_Datatype){MPI_BYTE}, 1, BYTES);
}

static enum class class_of(MPI_Datatype type) {
    return aspx_handle_basic_size(type) > 0 ? (enum class) classes[type & 0xff]
                                            : OTHER;
}

/* MPI 4.0, 6.9.2; what is not sure to be allowed is left to MPI. All of these
 * are commutative. */
static bool can_fold(MPI_Op op, enum class class)
{
    switch (op) {
    case MPI_SUM:
    case MPI_PROD:
        return class == INTEGER || class == FLOATING || class == COMPLEX;
    case MPI_MAX:
    case MPI_MIN:
        return class == INTEGER || class == FLOATING;
    case MPI_LAND:
    case MPI_LOR:
    case MPI_LXOR:
        return class == INTEGER;
    case MPI_BAND:
    case MPI_BOR:
    case MPI_BXOR:
        return class == INTEGER || class == BYTES;
    default:
        return false;
    }
}

static bool folds(const struct aspx_coll_call *call, struct asp_tune_args *args)
{
    enum class class = class_of(call->recv_type);

    if (!(asp_tune_ops[call->op].rules & ASP_TUNE_FOLD))
        return true;
    args->fold = ASP_TUNE_BUILTIN;
    args->floating = class == FLOATING || class == COMPLEX;
    return can_fold(call->fold, class);
}

/* ---- sizes ------------------------------------------------------------------ */

/* Of count elements; 0 when there are none or the type is none. */
static uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = aspx_handle_basic_size(type);

    if (count <= 0 || !aspx_handle_is(type, ASPX_HANDLE_DATATYPE))
        return 0;
    if (size == 0 &&
        aspx_coll_behind.MPI_Type_size_c(type, &size) != MPI_SUCCESS)
        return 0;
    return (uint64_t) count * (uint64_t) size;
}

static bool is_root(const struct aspx_coll_comm *comm,
                    const struct aspx_coll_call *call)
{
    return (uint32_t) call->root == comm->rank;
}

const struct aspx_coll_call *aspx_coll_significant(
    const struct aspx_coll_comm *comm, const struct aspx_coll_call *call,
    struct aspx_coll_call *room)
{
    bool send = call->op == ASP_COLL_SCATTER && call->send == MPI_IN_PLACE;
    bool recv = (call->op == ASP_COLL_GATHER || call->op == ASP_COLL_REDUCE) &&
                call->recv == MPI_IN_PLACE;

    if ((!send && !recv) || is_root(comm, call))
        return call;
    *room = *call;
    if (send)
        room->send = NULL;
    else
        room->recv = NULL;
    return room;
}

/* The bytes that asp_tune_ops names: those of the side that is significant on
 * this rank. */
static uint64_t equal_bytes(const struct aspx_coll_comm *comm,
                            const struct aspx_coll_call *call)
{
    bool sent = false;

    if (call->op == ASP_COLL_GATHER)
        sent = !is_root(comm, call);
    else if (call->op == ASP_COLL_SCATTER)
        sent = is_root(comm, call);
    return sent ? bytes_of(call->nsend, call->send_type)
                : bytes_of(call->nrecv, call->recv_type);
}

/* ---- what MPI would report -------------------------------------------------- */

/* MPI_IN_PLACE where only the root may say it, or nobody. */
static bool in_place_is_right(const struct aspx_coll_comm *comm,
                              const struct aspx_coll_call *call)
{
    bool send = call->send == MPI_IN_PLACE, recv = call->recv == MPI_IN_PLACE;

    switch (call->op) {
    case ASP_COLL_SCATTER:
        return !send && (!recv || is_root(comm, call));
    case ASP_COLL_GATHER:
    case ASP_COLL_REDUCE:
        return !recv && (!send || is_root(comm, call));
    default:
        return !recv;
    }
}

static bool is_data(const void *data, MPI_Datatype type)
{
    return data || !aspx_handle_basic_size(type);
}

/* Is what is sent where it is to be received? Of two types it need not be the
 * same memory, even from one address, or MPI_BOTTOM: MPICH compares only where
 * they are one, and a call that is right must go the way of the other ranks. */
static bool is_alias(const struct aspx_coll_call *call, const void *to)
{
    return call->send == to && call->send_type == call->recv_type;
}

/* Where both sides are significant they must fit each other. */
static bool sides_are_right(const struct aspx_coll_comm *comm,
                            const struct aspx_coll_call *call, uint64_t bytes)
{
    bool root = is_root(comm, call);
    bool sends = true, receives = true;

    switch (call->op) {
    case ASP_COLL_BCAST:
        return is_data(call->recv, call->recv_type);
    case ASP_COLL_GATHER:
    case ASP_COLL_REDUCE:
        receives = root;
        break;
    case ASP_COLL_SCATTER:
        sends = root;
        break;
    default:
        break;
    }
    sends = sends && call->send != MPI_IN_PLACE;
    receives = receives && call->recv != MPI_IN_PLACE;
    if (sends && (!is_data(call->send, call->send_type) ||
                  bytes_of(call->nsend, call->send_type) != bytes))
        return false;
    if (receives && (!is_data(call->recv, call->recv_type) ||
                     bytes_of(call->nrecv, call->recv_type) != bytes))
        return false;
    return !sends || !receives || !is_alias(call, call->recv);
}

/* The same where blocks differ: a rank may have none, and no buffer for it. A
 * block that is sent from where it is to be received is an error to MPICH. */
static bool gathered_is_right(const struct aspx_coll_comm *comm,
                              const struct aspx_coll_call *call)
{
    uint64_t own = comm->counts[comm->rank];
    const char *to = call->recv;
    MPI_Aint low, extent = aspx_handle_basic_size(call->recv_type);

    if (!is_data(call->recv, call->recv_type))
        return false;
    if (call->send == MPI_IN_PLACE)
        return true;
    if (extent == 0)
        aspx_coll_behind.MPI_Type_get_extent(call->recv_type, &low, &extent);
    to += aspx_coll_displ(call, comm->rank) * extent;
    return bytes_of(call->nsend, call->send_type) == own &&
           (own == 0 ||
            (is_data(call->send, call->send_type) && !is_alias(call, to)));
}

static bool scattered_is_right(const struct aspx_coll_comm *comm,
                               const struct aspx_coll_call *call)
{
    if (call->send == MPI_IN_PLACE)
        return call->recv;
    return call->send && (comm->counts[comm->rank] == 0 ||
                          (call->recv && call->send != call->recv));
}

/* Fills in comm->counts, and the bytes of all. */
static bool counted_is_right(const struct aspx_coll_comm *comm,
                             const struct aspx_coll_call *call,
                             struct asp_tune_args *args)
{
    bool gathers = call->op == ASP_COLL_ALLGATHERV;

    if (!call->counts || (gathers && !call->displs))
        return false;
    args->bytes = aspx_coll_take_counts(comm, call,
                                        bytes_of(1, call->recv_type));
    return args->bytes > 0 && (gathers ? gathered_is_right(comm, call)
                                       : scattered_is_right(comm, call));
}

static bool root_is_right(const struct aspx_coll_comm *comm,
                          const struct aspx_coll_call *call)
{
    return call->root >= 0 && (uint32_t) call->root < comm->size;
}

bool aspx_coll_is_eligible(const struct aspx_coll_comm *comm,
                           const struct aspx_coll_call *call,
                           struct asp_tune_args *args_p)
{
    *args_p = (struct asp_tune_args){.op = call->op,
                                     .root = (uint32_t) call->root};
    if (call->op == ASP_COLL_BARRIER)
        return true;
    if (!root_is_right(comm, call) || !in_place_is_right(comm, call) ||
        !folds(call, args_p))
        return false;
    args_p->in_place = call->send == MPI_IN_PLACE;
    if (aspx_coll_has_counts(call->op))
        return counted_is_right(comm, call, args_p);
    args_p->bytes = equal_bytes(comm, call);
    return args_p->bytes > 0 && sides_are_right(comm, call, args_p->bytes);
}

/* ---- ways ------------------------------------------------------------------- */

size_t aspx_coll_grain(const struct aspx_coll_call *call,
                       const struct asp_tune_args *args)
{
    return args->fold == ASP_TUNE_NO_FOLD
               ? 1
               : aspx_handle_basic_size(call->recv_type);
}

bool aspx_coll_fits(const struct aspx_coll_comm *comm,
                    const struct asp_tune_args *args, size_t grain,
                    const struct aspx_coll_way *way)
{
    struct asp_coll_problem problem;
    struct asp_err err;

    if (way->kind == ASPX_COLL_SHARED)
        return comm->area && comm->nnodes == 1;
    if (way->kind == ASPX_COLL_NATIVE)
        return aspx_native_fits(
            &way->native, &(struct aspx_native_problem){.op = args->op,
                                                        .ranks = comm->size,
                                                        .nodes = comm->nnodes,
                                                        .args = args});
    if (way->kind == ASPX_COLL_LEVELS && (!comm->area || comm->nnodes < 2))
        return false;
    aspx_coll_problem(comm, args, grain, &problem);
    if (way->kind == ASPX_COLL_LEVELS) {
        problem.ranks = comm->nnodes;
        problem.root = 0;
        problem.node = NULL;
        problem.in_place = false;
    }
    return asp_coll_fits(&way->messages, &problem, &err) == 0;
}
