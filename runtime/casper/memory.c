/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alloc_mem from the arena, so that a window that the program makes on it
 * is served by ghosts; from MPI where the arena has no room. */
#include "config.h"

#include "engine.h"

#include "runtime/mpi/real.h"
#include "mpi_hand.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct block {
    void *addr;
    uint64_t off, bytes;
    UT_hash_handle hh;
};

static struct block *blocks;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct block *take(uint64_t bytes)
{
    struct block *block = calloc(1, sizeof(*block));

    if (!block)
        return NULL;
    block->bytes = bytes;
    block->addr = aspx_arena_alloc(&aspx_engine.arena, bytes, &block->off);
    if (!block->addr) {
        free(block);
        return NULL;
    }
    pthread_mutex_lock(&mutex);
    HASH_ADD_PTR(blocks, addr, block);
    pthread_mutex_unlock(&mutex);
    return block;
}

int aspx_hand_MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    struct block *block = NULL;

    /* What MPI would refuse it shall refuse itself. */
    if (aspx_engine.up && size > 0 && baseptr)
        block = take((uint64_t) size);
    if (!block)
        return aspx_real.MPI_Alloc_mem(size, info, baseptr);
    memcpy(baseptr, &block->addr, sizeof(block->addr));
    return MPI_SUCCESS;
}

int aspx_hand_MPI_Free_mem(void *base)
{
    struct block *block = NULL;

    pthread_mutex_lock(&mutex);
    HASH_FIND_PTR(blocks, &base, block);
    if (block)
        HASH_DEL(blocks, block);
    pthread_mutex_unlock(&mutex);
    if (!block)
        return aspx_real.MPI_Free_mem(base);
    aspx_arena_free(&aspx_engine.arena, block->off, block->bytes);
    free(block);
    return MPI_SUCCESS;
}
