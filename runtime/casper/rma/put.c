/* SPDX-License-Identifier: BSD-3-Clause */
/* Put, Get and their twins: with a request, with large counts. One body for
 * all; it returns false when MPI's own call has to run. */
#include "config.h"

#include "copy.h"
#include "runtime/casper/arena/contig_win.h"
#include "acc.h"

#include "runtime/casper/window/native.h"
#include "runtime/mpi/real.h"
#include "mpi_wrap.h"

static int send_plainly(const struct aspx_buffer *o,
                        const struct aspx_target_access *t,
                        const struct aspx_route *to)
{
    void *out = (void *) (uintptr_t) o->addr; /* Get writes there */

    if (t->call == ASPX_CALL_PUT)
        return aspx_real.MPI_Put_c(o->addr, o->count, o->type, to->rank,
                                   to->addr, t->count, t->type, to->on);
    return aspx_real.MPI_Get_c(out, o->count, o->type, to->rank, to->addr,
                               t->count, t->type, to->on);
}

static int send_move(const struct aspx_buffer *o,
                     const struct aspx_target_access *t, struct aspx_route *to,
                     MPI_Request *request)
{
    void *out = (void *) (uintptr_t) o->addr;
    bool entered;
    int rc;

    if (!request) {
        entered = aspx_route_to_contig(to) && aspx_contig_win_enter();
        rc = send_plainly(o, t, to);
        aspx_contig_win_leave(entered);
        return rc;
    }
    if (t->call == ASPX_CALL_PUT)
        return aspx_real.MPI_Rput_c(o->addr, o->count, o->type, to->rank,
                                    to->addr, t->count, t->type, to->on,
                                    request);
    return aspx_real.MPI_Rget_c(out, o->count, o->type, to->rank, to->addr,
                                t->count, t->type, to->on, request);
}

static int send_piece(const struct aspx_acc *piece, struct aspx_route *to)
{
    return aspx_route_sent(to,
                           send_move(&piece->origin, &piece->target, to, NULL));
}

static int send_large(const struct aspx_buffer *origin,
                      const struct aspx_target_access *access,
                      const struct aspx_route *to, MPI_Request *request)
{
    const struct aspx_acc whole = {
        *origin, {NULL, 0, MPI_DATATYPE_NULL}, *access, MPI_OP_NULL};

    return aspx_large_run(&whole, to, send_piece, request);
}

/* A Put to itself may name the very bytes it moves. */
static int copy_here(const struct aspx_buffer *origin,
                     const struct aspx_target_access *access,
                     const struct aspx_route *to, MPI_Request *request)
{
    void *out = (void *) (uintptr_t) origin->addr;

    if (to->bytes && access->call == ASPX_CALL_PUT)
        aspx_copy(to->here, origin->addr, to->bytes);
    else if (to->bytes)
        aspx_copy(out, to->here, to->bytes);
    return request ? aspx_route_done(request) : MPI_SUCCESS;
}

static bool carry_out(const struct aspx_buffer *origin,
                      struct aspx_target_access *access, MPI_Win win,
                      MPI_Request *request, int *rc)
{
    struct aspx_route to;

    switch (aspx_route_find(win, access, origin, &to)) {
    case ASPX_PATH_COPY:
        *rc = aspx_win_pass(to.win, copy_here(origin, access, &to, request));
        return true;
    case ASPX_PATH_SEND:
        if (aspx_is_large(origin, access)) {
            *rc = send_large(origin, access, &to, request);
            return true;
        }
        *rc = aspx_route_sent(&to, send_move(origin, access, &to, request));
        if (request)
            aspx_route_ring(&to);
        return true;
    case ASPX_PATH_ERROR:
        *rc = to.code;
        return true;
    case ASPX_PATH_SPLIT: /* accumulates only */
    case ASPX_PATH_NATIVE:
        break;
    }
    return false;
}

/* NAME and R##NAME, for one type of counts. */
#define TWINS(NAME, RNAME, CALL, BUFFER, COUNT)                                \
    int aspx_wrap_##NAME(BUFFER origin_addr, COUNT origin_count,               \
                         MPI_Datatype origin_type, int rank, MPI_Aint disp,    \
                         COUNT count, MPI_Datatype type, MPI_Win win)          \
    {                                                                          \
        const struct aspx_buffer origin = {origin_addr, origin_count,          \
                                           origin_type};                       \
        struct aspx_target_access access = {CALL, rank,  disp, count,          \
                                            type, false, false};               \
        int rc;                                                                \
                                                                               \
        if (carry_out(&origin, &access, win, NULL, &rc))                       \
            return rc;                                                         \
        return aspx_real.NAME(origin_addr, origin_count, origin_type, rank,    \
                              access.disp, count, type, aspx_native_of(win));  \
    }                                                                          \
                                                                               \
    int aspx_wrap_##RNAME(BUFFER origin_addr, COUNT origin_count,              \
                          MPI_Datatype origin_type, int rank, MPI_Aint disp,   \
                          COUNT count, MPI_Datatype type, MPI_Win win,         \
                          MPI_Request *request)                                \
    {                                                                          \
        const struct aspx_buffer origin = {origin_addr, origin_count,          \
                                           origin_type};                       \
        struct aspx_target_access access = {CALL, rank, disp, count,           \
                                            type, true, false};                \
        int rc;                                                                \
                                                                               \
        if (request && carry_out(&origin, &access, win, request, &rc))         \
            return rc;                                                         \
        return aspx_real.RNAME(origin_addr, origin_count, origin_type, rank,   \
                               access.disp, count, type, aspx_native_of(win),  \
                               request);                                       \
    }

TWINS(MPI_Put, MPI_Rput, ASPX_CALL_PUT, const void *, int)
TWINS(MPI_Put_c, MPI_Rput_c, ASPX_CALL_PUT, const void *, MPI_Count)
TWINS(MPI_Get, MPI_Rget, ASPX_CALL_GET, void *, int)
TWINS(MPI_Get_c, MPI_Rget_c, ASPX_CALL_GET, void *, MPI_Count)
