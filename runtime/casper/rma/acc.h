/* SPDX-License-Identifier: BSD-3-Clause */
/* One accumulate, and its way to one ghost or to several. */
#ifndef ASPEN_RUNTIME_CASPER_RMA_ACC_H
#define ASPEN_RUNTIME_CASPER_RMA_ACC_H

#include "route.h"

#include <limits.h>

struct aspx_acc {
    struct aspx_buffer origin;
    struct aspx_buffer result; /* type MPI_DATATYPE_NULL: nothing is fetched */
    struct aspx_target_access target;
    MPI_Op op;
};

/* Issue it where the route leads. Returns MPI's code. */
int aspx_acc_send(const struct aspx_acc *acc, const struct aspx_route *to,
                  MPI_Request *request);

/* Cut it into parts that belong to one ghost each, and issue these. With a
 * request it waits until they are complete. Returns the code for the program.
 * Dissertation section 4.5.3.2. */
int aspx_acc_split(const struct aspx_acc *acc, struct aspx_route *to,
                   MPI_Request *request);

/* Operations of more elements than an int counts (MPI_Put_c and its kin). MPICH
 * 4.0.2 passes counts of one-sided operations on as int: it crashes, or moves
 * nothing and says that all is well. So these go in pieces. MPI promises order
 * and atomicity of single elements only, and no element is cut. */

/* Elements of a piece, on the buffer that has most of them. */
enum { ASPX_PIECE_MAX = 1 << 30 };

static inline bool aspx_is_large(const struct aspx_buffer *origin,
                                 const struct aspx_target_access *access)
{
    return __builtin_expect(origin->count > INT_MAX || access->count > INT_MAX,
                            0);
}

/* Issue a piece where the route leads, and note it (aspx_route_sent). Returns
 * the code for the program. */
typedef int aspx_large_send_f(const struct aspx_acc *piece,
                              struct aspx_route *to);

/* Issue all of it. With a request it waits until it is complete.
 *   whole  Put and Get: without a result
 * Returns the code for the program; MPI_ERR_TYPE when the buffers do not have
 * the same number of bytes, MPI_ERR_COUNT when no piece is small enough: one
 * element of one buffer has more than ASPX_PIECE_MAX of another one. */
int aspx_large_run(const struct aspx_acc *whole, const struct aspx_route *route,
                   aspx_large_send_f *send, MPI_Request *request);

/* Bytes of each piece but the last one, for buffers of elements of these bytes
 * (not 0) and as many bytes in all: as many as ASPX_PIECE_MAX allows, in whole
 * elements of every buffer. Returns 0 when there is no such piece. */
uint64_t aspx_piece_bytes(const uint64_t *element, int nbuffers);

#endif
