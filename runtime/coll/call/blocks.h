/* SPDX-License-Identifier: BSD-3-Clause */
/* One side of MPI_Alltoallv: a block for each rank, as long and in such places
 * as this rank alone knows, of a type of its own. Two ranks know of the block
 * between them how many bytes it has, and no more. */
#ifndef ASPEN_RUNTIME_COLL_CALL_BLOCKS_H
#define ASPEN_RUNTIME_COLL_CALL_BLOCKS_H

#include "call.h"

#include <stdbool.h>
#include <stdint.h>

struct aspx_coll_blocks {
    const void *data; /* may be MPI_BOTTOM; written if it is received into */
    MPI_Datatype type;
    MPI_Count size; /* bytes of an element; -1: there is no such type */
    MPI_Aint extent;
    const void *counts, *displs; /* int, or MPI_Count and MPI_Aint */
    bool large;
};

/* The two sides of a call that is right. */
struct aspx_coll_blocks aspx_coll_sent(const struct aspx_coll_call *call);
struct aspx_coll_blocks aspx_coll_received(const struct aspx_coll_call *call);

static inline MPI_Count aspx_coll_block_count(
    const struct aspx_coll_blocks *blocks, uint32_t i)
{
    return blocks->large ? ((const MPI_Count *) blocks->counts)[i]
                         : ((const int *) blocks->counts)[i];
}

static inline MPI_Aint aspx_coll_block_displ(
    const struct aspx_coll_blocks *blocks, uint32_t i)
{
    return blocks->large ? ((const MPI_Aint *) blocks->displs)[i]
                         : ((const int *) blocks->displs)[i];
}

static inline MPI_Count aspx_coll_block_bytes(
    const struct aspx_coll_blocks *blocks, uint32_t i)
{
    return aspx_coll_block_count(blocks, i) * blocks->size;
}

/* By integers: the address may be relative to MPI_BOTTOM. */
static inline void *aspx_coll_block_at(const struct aspx_coll_blocks *blocks,
                                       uint32_t i)
{
    return (void *) ((uintptr_t) blocks->data +
                     (uintptr_t) (aspx_coll_block_displ(blocks, i) *
                                  blocks->extent));
}

/* Post the message of block i, which has bytes. As MPI_Isend and MPI_Irecv. */
int aspx_coll_block_send(const struct aspx_coll_blocks *blocks, uint32_t i,
                         int peer, int tag, MPI_Comm comm,
                         MPI_Request *request);
int aspx_coll_block_recv(const struct aspx_coll_blocks *blocks, uint32_t i,
                         int peer, int tag, MPI_Comm comm,
                         MPI_Request *request);

/* This rank's own block, by a message to itself where types have gaps.
 *   rank  in comm */
int aspx_coll_block_copy(const struct aspx_coll_blocks *from,
                         const struct aspx_coll_blocks *to, uint32_t rank,
                         int tag, MPI_Comm comm);

#endif
