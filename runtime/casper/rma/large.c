/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "flush.h"
#include "large.h"
#include "types.h"

#include "runtime/mpi/handle.h"
#include "runtime/mpi/real.h"

enum { ORIGIN, TARGET, RESULT, SIDES };

/* The sides that the operation looks at: with MPI_NO_OP not the origin. */
struct sides {
    int n;
    struct aspx_side *side[SIDES];
    uint64_t bytes[SIDES]; /* of an element */
    MPI_Count extent[SIDES];
    uint64_t total; /* bytes, of each side */
};

/* Returns false when they do not have the same number of bytes. */
static bool add(struct sides *sides, struct aspx_side *side)
{
    int s = sides->n++;
    MPI_Count lb;
    uint64_t all;

    if (!aspx_handle_is(side->type, ASPX_HANDLE_DATATYPE))
        return false;
    all = aspx_type_bytes(side->count, side->type);
    sides->side[s] = side;
    sides->bytes[s] = aspx_type_bytes(1, side->type);
    aspx_real.MPI_Type_get_extent_x(side->type, &lb, &sides->extent[s]);
    if (s == 0)
        sides->total = all;
    return all == sides->total;
}

/* Make every side the piece of these bytes that begins `done` bytes after its
 * own begin. */
static void cut(const struct sides *sides, const struct aspx_side *begin,
                uint64_t done, uint64_t bytes)
{
    for (int s = 0; s < sides->n; s++) {
        uint64_t element = sides->bytes[s];

        sides->side[s]->addr = (const char *) begin[s].addr +
                               (MPI_Aint) (done / element) * sides->extent[s];
        sides->side[s]->count = (MPI_Count) (bytes / element);
    }
}

/* The addresses of the target's side are displacements. */
static int send_pieces(struct sides *sides, struct aspx_acc *piece,
                       struct aspx_side *target, uint64_t step,
                       const struct aspx_route *route, aspx_large_send_f *send)
{
    struct aspx_side begin[SIDES];
    int rc = MPI_SUCCESS;

    for (int s = 0; s < sides->n; s++)
        begin[s] = *sides->side[s];
    for (uint64_t done = 0; rc == MPI_SUCCESS && done < sides->total;
         done += step) {
        uint64_t left = sides->total - done, bytes = left < step ? left : step;
        struct aspx_route to = *route;

        cut(sides, begin, done, bytes);
        piece->target.count = target->count;
        to.start += (MPI_Aint) (uintptr_t) target->addr;
        to.addr += (MPI_Aint) (uintptr_t) target->addr;
        to.bytes = bytes;
        rc = send(piece, &to);
    }
    return rc;
}

int aspx_large_run(const struct aspx_acc *whole, const struct aspx_route *route,
                   aspx_large_send_f *send, MPI_Request *request)
{
    struct aspx_acc piece = *whole;
    struct aspx_side target = {NULL, whole->target.count, whole->target.type};
    struct sides sides = {.n = 0};
    uint64_t step = 0;
    int rc = MPI_SUCCESS;

    if (whole->op == MPI_NO_OP)
        piece.origin.count = 0;
    if (piece.origin.count < 0 || piece.result.count < 0)
        return aspx_win_raise(route->win, MPI_ERR_COUNT);
    if (!add(&sides, &target) ||
        (whole->op != MPI_NO_OP && !add(&sides, &piece.origin)) ||
        (whole->result.type != MPI_DATATYPE_NULL &&
         !add(&sides, &piece.result)))
        return aspx_win_raise(route->win, MPI_ERR_TYPE);
    if (sides.total > 0) {
        step = aspx_piece_bytes(sides.bytes, sides.n);
        if (step == 0)
            return aspx_win_raise(route->win, MPI_ERR_COUNT);
        rc = send_pieces(&sides, &piece, &target, step, route, send);
    }
    if (rc != MPI_SUCCESS || !request)
        return rc;
    rc = aspx_flush(route->win, whole->target.rank);
    return aspx_win_pass(route->win,
                         rc == MPI_SUCCESS ? aspx_route_done(request) : rc);
}
