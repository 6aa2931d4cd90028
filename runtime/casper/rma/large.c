/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends an operation of more elements than an int counts in pieces. */
#include "config.h"

#include "flush.h"
#include "acc.h"
#include "types.h"

#include "runtime/mpi/handle.h"
#include "runtime/mpi/real.h"

enum { ORIGIN, TARGET, RESULT, BUFFERS };

/* The buffers that the operation looks at: with MPI_NO_OP not the origin. */
struct buffers {
    int n;
    struct aspx_buffer *buffer[BUFFERS];
    uint64_t bytes[BUFFERS]; /* of an element */
    MPI_Count extent[BUFFERS];
    uint64_t total; /* bytes, of each buffer */
};

/* Returns false when they do not have the same number of bytes. */
static bool add_buffer(struct buffers *buffers, struct aspx_buffer *buffer)
{
    int s = buffers->n++;
    MPI_Count lb;
    uint64_t all;

    if (!aspx_handle_is(buffer->type, ASPX_HANDLE_DATATYPE))
        return false;
    all = aspx_type_bytes(buffer->count, buffer->type);
    buffers->buffer[s] = buffer;
    buffers->bytes[s] = aspx_type_bytes(1, buffer->type);
    aspx_real.MPI_Type_get_extent_x(buffer->type, &lb, &buffers->extent[s]);
    if (s == 0)
        buffers->total = all;
    return all == buffers->total;
}

/* Make every buffer the piece of these bytes that begins `done` bytes after its
 * own begin. */
static void set_piece(const struct buffers *buffers,
                      const struct aspx_buffer *begin, uint64_t done,
                      uint64_t bytes)
{
    for (int s = 0; s < buffers->n; s++) {
        uint64_t element = buffers->bytes[s];

        buffers->buffer[s]->addr = (const char *) begin[s].addr +
                                   (MPI_Aint) (done / element) *
                                       buffers->extent[s];
        buffers->buffer[s]->count = (MPI_Count) (bytes / element);
    }
}

/* The addresses of the target's buffer are displacements. */
static int send_pieces(struct buffers *buffers, struct aspx_acc *piece,
                       struct aspx_buffer *target, uint64_t step,
                       const struct aspx_route *route, aspx_large_send_f *send)
{
    struct aspx_buffer begin[BUFFERS];
    int rc = MPI_SUCCESS;

    for (int s = 0; s < buffers->n; s++)
        begin[s] = *buffers->buffer[s];
    for (uint64_t done = 0; rc == MPI_SUCCESS && done < buffers->total;
         done += step) {
        uint64_t left = buffers->total - done,
                 bytes = left < step ? left : step;
        struct aspx_route to = *route;

        set_piece(buffers, begin, done, bytes);
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
    struct aspx_buffer target = {NULL, whole->target.count, whole->target.type};
    struct buffers buffers = {.n = 0};
    uint64_t step = 0;
    int rc = MPI_SUCCESS;

    if (whole->op == MPI_NO_OP)
        piece.origin.count = 0;
    if (piece.origin.count < 0 || piece.result.count < 0)
        return aspx_win_raise(route->win, MPI_ERR_COUNT);
    if (!add_buffer(&buffers, &target) ||
        (whole->op != MPI_NO_OP && !add_buffer(&buffers, &piece.origin)) ||
        (whole->result.type != MPI_DATATYPE_NULL &&
         !add_buffer(&buffers, &piece.result)))
        return aspx_win_raise(route->win, MPI_ERR_TYPE);
    if (buffers.total > 0) {
        step = aspx_piece_bytes(buffers.bytes, buffers.n);
        if (step == 0)
            return aspx_win_raise(route->win, MPI_ERR_COUNT);
        rc = send_pieces(&buffers, &piece, &target, step, route, send);
    }
    if (rc != MPI_SUCCESS || !request)
        return rc;
    rc = aspx_flush(route->win, whole->target.rank);
    return aspx_win_pass(route->win,
                         rc == MPI_SUCCESS ? aspx_route_done(request) : rc);
}
