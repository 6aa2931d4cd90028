/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of datatypes with gaps, packed and unpacked by Aspen's engine. MPICH
 * hands UCX a set of functions for each such type, of which UCX asks for pieces
 * of some 8 KiB; MPICH's datatype engine finds the way to the middle of an
 * element slowly, and cannot unpack a part of a basic element at all. Here
 * these functions stand in front of MPICH's. Requests, buffers and what matches
 * are not touched. */
#ifndef ASPEN_RUNTIME_PACK_MESSAGES_H
#define ASPEN_RUNTIME_PACK_MESSAGES_H

#include "runtime/mpi/entry.h"

#include <stdbool.h>
#include <stdint.h>

/* Before MPI_Init: stand in front of MPICH's functions, which go on as before;
 * unless the layout says pack=off. Its calls of the program (calls.c too) are
 * MPI's until aspx_pack_is_ready(). */
extern const struct aspx_interceptor aspx_pack_interceptor;

/* Begin, unless MPI, asked by a type of our own, turns out to do it in another
 * way. From then on each type with gaps that the program commits is described.
 * After MPI_Init, by the thread that may call MPI. Once. */
void aspx_pack_start(void);

/* Did it begin? */
bool aspx_pack_is_ready(void);

/* Of this rank so far. Messages to or from other ranks whose type has gaps; a
 * message that is sent and received counts at both ends. */
struct aspx_pack_counts {
    uint64_t described, undescribed; /* messages */
    uint64_t bytes, pieces;          /* of described ones */
};
struct aspx_pack_counts aspx_pack_counts(void);

#endif
