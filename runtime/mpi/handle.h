/* SPDX-License-Identifier: BSD-3-Clause */
/* What an MPICH handle tells of itself, without asking MPI: two bits of
 * storage (0: null), four bits of kind. For arguments that may be wrong. */
#ifndef ASPEN_RUNTIME_MPI_HANDLE_H
#define ASPEN_RUNTIME_MPI_HANDLE_H

#include <stdbool.h>

enum aspx_handle_kind {
    ASPX_HANDLE_COMM = 1,
    ASPX_HANDLE_GROUP = 2,
    ASPX_HANDLE_DATATYPE = 3,
    ASPX_HANDLE_OP = 6,
    ASPX_HANDLE_INFO = 7,
    ASPX_HANDLE_WIN = 8,
    ASPX_HANDLE_REQUEST = 11,
};

static inline bool aspx_handle_is(int handle, enum aspx_handle_kind kind)
{
    return (unsigned) handle >> 30 != 0 &&
           ((unsigned) handle >> 26 & 0xf) == (unsigned) kind;
}

/* Bytes of a datatype that is built in, without gaps; 0 of any other, and of
 * MPI's pairs but MPI_2INT. */
static inline unsigned aspx_handle_basic_size(int datatype)
{
    return (unsigned) datatype >> 26 == (1 << 4 | ASPX_HANDLE_DATATYPE)
               ? (unsigned) datatype >> 8 & 0xff
               : 0;
}

/* A reduction with a function of the program. */
static inline bool aspx_handle_is_own_op(int op)
{
    return (unsigned) op >> 31 != 0 && aspx_handle_is(op, ASPX_HANDLE_OP);
}

/* A request that is built in, of which MPICH has a handful: one for each kind
 * of operation that was over when MPI had taken it, as a small send is. */
static inline bool aspx_handle_is_over(int request)
{
    return (unsigned) request >> 26 == (1 << 4 | ASPX_HANDLE_REQUEST);
}

#endif
