/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a call by what every rank sees alike: sizes, types, the operation,
 * MPI_IN_PLACE and the root. A call in which MPI would find an error is left to
 * MPI, which reports it. */
#include "config.h"

#include "eligible.h"

#include "alltoallv_args.h"
#include "counts.h"
#include "types.h"

#include "runtime/coll/call/reducible.h"
#include "common/coll/schedule/forms.h"
#include "runtime/mpi/handle.h"

#include <stdint.h>

/* ---- reductions -------------------------------------------------------------- */

static bool reduces(const struct aspx_coll_call *call,
                    struct asp_tune_args *args)
{
    if (!asp_coll_forms[call->op].reduces)
        return true;
    args->reduction = ASP_TUNE_BUILTIN;
    return aspx_coll_can_reduce(call->reduction, call->recv_type,
                                &args->floating);
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
    struct aspx_coll_call *masked)
{
    const struct asp_coll_form *form = &asp_coll_forms[call->op];
    bool roots = form->in_place == ASP_COLL_ROOT_IN_PLACE;
    bool send = roots && form->root == ASP_COLL_ROOT_SENDS &&
                call->send == MPI_IN_PLACE;
    bool recv = roots && form->root == ASP_COLL_ROOT_GETS &&
                call->recv == MPI_IN_PLACE;

    if ((!send && !recv) || is_root(comm, call))
        return call;
    *masked = *call;
    if (send)
        masked->send = NULL;
    else
        masked->recv = NULL;
    return masked;
}

/* The bytes of a block or vector: those of the side that is significant on
 * this rank. */
static uint64_t equal_bytes(const struct aspx_coll_comm *comm,
                            const struct aspx_coll_call *call)
{
    const struct asp_coll_form *form = &asp_coll_forms[call->op];
    bool root = is_root(comm, call);
    bool sent = form->root == ASP_COLL_ROOT_SENDS
                    ? asp_coll_gives(form, root)
                    : !form->reduces && !asp_coll_gets(form, root);
    return sent ? bytes_of(call->nsend, call->send_type)
                : bytes_of(call->nrecv, call->recv_type);
}

/* ---- what MPI would report -------------------------------------------------- */

/* MPI_IN_PLACE where only the root may say it, or nobody. */
static bool in_place_is_right(const struct aspx_coll_comm *comm,
                              const struct aspx_coll_call *call)
{
    const struct asp_coll_form *form = &asp_coll_forms[call->op];
    bool send = call->send == MPI_IN_PLACE, recv = call->recv == MPI_IN_PLACE;

    if (form->in_place != ASP_COLL_ROOT_IN_PLACE)
        return !recv;
    if (form->root == ASP_COLL_ROOT_SENDS)
        return !send && (!recv || is_root(comm, call));
    return !recv && (!send || is_root(comm, call));
}

static bool is_data(const void *data, MPI_Datatype type)
{
    return data || aspx_coll_has_address(type);
}

/* May MPI be given this side? */
static bool is_side(const struct aspx_coll_comm *comm, const void *data,
                    MPI_Datatype type)
{
    return aspx_coll_is_type(comm, type) && is_data(data, type);
}

MPI_Aint aspx_coll_alias(const struct aspx_coll_call *call, uint32_t rank)
{
    const struct asp_coll_form *form = &asp_coll_forms[call->op];

    if (form->reduces || form->in == form->out || !form->in)
        return 0;
    if (form->in == ASP_COLL_ALL_BLOCKS)
        return -(MPI_Aint) (rank * bytes_of(call->nsend, call->send_type));
    if (form->counts != ASP_COLL_EQUAL)
        return aspx_coll_displ(call, rank) *
               (MPI_Aint) bytes_of(1, call->recv_type);
    return (MPI_Aint) (rank * bytes_of(call->nrecv, call->recv_type));
}

/* Does MPICH report that this is sent from where it is to be received? No more
 * than that: where it does not, the other ranks have no error, and carry the
 * call out. For calls that move something. */
static bool is_alias(const struct aspx_coll_comm *comm,
                     const struct aspx_coll_call *call)
{
    uintptr_t apart = (uintptr_t) call->send - (uintptr_t) call->recv;

    if (apart != (uintptr_t) aspx_coll_alias(call, comm->rank))
        return false;
    if (asp_coll_forms[call->op].reduces) /* one type, one count */
        return true;
    return call->send_type == call->recv_type &&
           (aspx_coll_has_counts(call->op) || call->nsend == call->nrecv);
}

/* Where both sides are significant they must fit each other. */
static bool sides_are_right(const struct aspx_coll_comm *comm,
                            const struct aspx_coll_call *call, uint64_t bytes)
{
    const struct asp_coll_form *form = &asp_coll_forms[call->op];
    bool root = is_root(comm, call);
    bool sends, receives;

    if (!form->in)
        return is_side(comm, call->recv, call->recv_type);
    sends = asp_coll_gives(form, root) && call->send != MPI_IN_PLACE;
    receives = asp_coll_gets(form, root) && call->recv != MPI_IN_PLACE;
    if (sends && (!is_side(comm, call->send, call->send_type) ||
                  bytes_of(call->nsend, call->send_type) != bytes))
        return false;
    if (receives && (!is_side(comm, call->recv, call->recv_type) ||
                     bytes_of(call->nrecv, call->recv_type) != bytes))
        return false;
    return !sends || !receives || !is_alias(comm, call);
}

/* Where displacements may be addresses. */
static bool has_places(const struct aspx_coll_comm *comm,
                       const struct aspx_coll_call *call)
{
    if (is_data(call->recv, call->recv_type))
        return true;
    for (uint32_t r = 0; r < comm->size; r++)
        if (comm->counts[r] > 0 && aspx_coll_displ(call, r) == 0)
            return false;
    return true;
}

/* The same where blocks differ: a rank may have none, and no buffer for it. */
static bool gathered_is_right(const struct aspx_coll_comm *comm,
                              const struct aspx_coll_call *call)
{
    uint64_t own = comm->counts[comm->rank];

    if (!aspx_coll_is_type(comm, call->recv_type) || !has_places(comm, call))
        return false;
    if (call->send == MPI_IN_PLACE)
        return true;
    return aspx_coll_is_type(comm, call->send_type) &&
           bytes_of(call->nsend, call->send_type) == own &&
           (own == 0 ||
            (is_data(call->send, call->send_type) && !is_alias(comm, call)));
}

static bool scattered_is_right(const struct aspx_coll_comm *comm,
                               const struct aspx_coll_call *call)
{
    if (call->send == MPI_IN_PLACE)
        return call->recv;
    return call->send && (comm->counts[comm->rank] == 0 || call->recv) &&
           !is_alias(comm, call);
}

/* Fills in comm->counts, and the bytes of all. */
static bool counted_is_right(const struct aspx_coll_comm *comm,
                             const struct aspx_coll_call *call,
                             struct asp_tune_args *args)
{
    bool gathers = !asp_coll_forms[call->op].reduces;

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
    if (!asp_coll_forms[call->op].out) /* nothing is moved */
        return true;
    if (!root_is_right(comm, call) || !in_place_is_right(comm, call) ||
        !reduces(call, args_p))
        return false;
    args_p->in_place = call->send == MPI_IN_PLACE;
    if (asp_coll_forms[call->op].counts == ASP_COLL_COUNTS_OWN)
        return aspx_coll_alltoallv_is_right(comm, call, args_p);
    if (aspx_coll_has_counts(call->op))
        return counted_is_right(comm, call, args_p);
    args_p->bytes = equal_bytes(comm, call);
    return args_p->bytes > 0 && sides_are_right(comm, call, args_p->bytes);
}

size_t aspx_coll_element_size(const struct aspx_coll_call *call,
                              const struct asp_tune_args *args)
{
    return args->reduction == ASP_TUNE_NO_REDUCTION
               ? 1
               : aspx_handle_basic_size(call->recv_type);
}
