/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alltoallv's data as the memory that ranks of a node share takes it. */
#include "config.h"

#include "alltoallv.h"

#include "runtime/coll/call/blocks.h"
#include "runtime/coll/call/typed.h"

#include "runtime/mpi/handle.h"

#include <stddef.h>

/* A side as the node's memory takes it. */
struct dense {
    char *data;
    struct aspx_node_blocks blocks;
    bool packed; /* one block after the other, in the communicator's memory */
};

/* Where they lie, from the first byte of them all: a block may lie before the
 * buffer. */
static void find_there(const struct aspx_coll_blocks *blocks, uint32_t n,
                       size_t *offsets, struct dense *dense)
{
    uintptr_t lowest = UINTPTR_MAX;

    for (uint32_t r = 0; r < n; r++) {
        uintptr_t at = (uintptr_t) aspx_coll_block_at(blocks, r);

        if (dense->blocks.sizes[r] > 0 && at < lowest)
            lowest = at;
    }
    lowest = lowest == UINTPTR_MAX ? 0 : lowest;
    for (uint32_t r = 0; r < n; r++)
        offsets[r] = dense->blocks.sizes[r] > 0
                         ? (uintptr_t) aspx_coll_block_at(blocks, r) - lowest
                         : 0;
    dense->data = (char *) lowest;
}

/* Returns an error code.
 *   scratch  for two numbers of each rank
 *   packed   for the bytes, if they are packed */
static int lay_out(const struct aspx_coll_blocks *blocks, uint32_t n,
                   size_t *scratch, struct aspx_coll_scratch *packed,
                   struct dense *dense)
{
    size_t *sizes = scratch, *offsets = scratch + n, bytes = 0;

    *dense = (struct dense){
        .blocks = {.sizes = sizes, .offsets = offsets},
        .packed = aspx_handle_basic_size(blocks->type) == 0,
    };
    for (uint32_t r = 0; r < n; r++) {
        sizes[r] = (size_t) aspx_coll_block_bytes(blocks, r);
        offsets[r] = bytes;
        bytes += sizes[r];
    }
    if (!dense->packed) {
        find_there(blocks, n, offsets, dense);
        return MPI_SUCCESS;
    }
    dense->data = aspx_coll_scratch(packed, bytes);
    return dense->data ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int pack(const struct aspx_coll_blocks *blocks, uint32_t n,
                const struct dense *dense, MPI_Comm comm)
{
    int rc = MPI_SUCCESS;

    for (uint32_t r = 0; r < n && rc == MPI_SUCCESS && dense->packed; r++)
        if (dense->blocks.sizes[r] > 0)
            rc = aspx_coll_pack(aspx_coll_block_at(blocks, r),
                                aspx_coll_block_count(blocks, r), blocks->type,
                                dense->data + dense->blocks.offsets[r],
                                (MPI_Count) dense->blocks.sizes[r], comm);
    return rc;
}

static int unpack(const struct aspx_coll_blocks *blocks, uint32_t n,
                  const struct dense *dense, MPI_Comm comm)
{
    int rc = MPI_SUCCESS;

    for (uint32_t r = 0; r < n && rc == MPI_SUCCESS && dense->packed; r++)
        if (dense->blocks.sizes[r] > 0)
            rc = aspx_coll_unpack(dense->data + dense->blocks.offsets[r],
                                  (MPI_Count) dense->blocks.sizes[r],
                                  aspx_coll_block_at(blocks, r),
                                  aspx_coll_block_count(blocks, r),
                                  blocks->type, comm);
    return rc;
}

int aspx_coll_alltoallv_in_memory(const struct aspx_coll_job *job,
                                  const struct aspx_node_config *how)
{
    struct aspx_coll_comm *comm = job->comm;
    uint32_t n = comm->size;
    size_t *numbers = aspx_coll_scratch(&comm->levels,
                                        4 * n * sizeof(*numbers));
    struct dense in = {.data = NULL}, out = in;
    int rc = numbers ? MPI_SUCCESS : MPI_ERR_NO_MEM, moved;

    if (rc == MPI_SUCCESS)
        rc = lay_out(job->sent, n, numbers, &comm->in, &in);
    if (rc == MPI_SUCCESS)
        rc = lay_out(job->received, n, numbers + 2 * n, &comm->out, &out);
    if (rc == MPI_SUCCESS)
        rc = pack(job->sent, n, &in, comm->own);
    /* The others wait for this rank: then it has nothing, which is their error.
     */
    if (rc != MPI_SUCCESS)
        in.blocks = out.blocks = (struct aspx_node_blocks){.size = 0};
    moved = aspx_node_alltoall(comm->area, how, in.data, &in.blocks, out.data,
                               &out.blocks);
    if (rc == MPI_SUCCESS)
        rc = moved;
    return rc == MPI_SUCCESS ? unpack(job->received, n, &out, comm->own) : rc;
}

int aspx_coll_move_blocks(struct aspx_coll_job *job,
                          const struct aspx_coll_config *config,
                          aspx_coll_move_f *move)
{
    struct aspx_coll_blocks from = aspx_coll_sent(job->call);
    struct aspx_coll_blocks to = aspx_coll_received(job->call);

    job->sent = &from;
    job->received = &to;
    return move(job, config);
}
