/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alloc_mem from the arena, so that a window that the program makes on it
 * is served by ghosts; from MPI where the arena has no room. Small blocks come
 * from slabs, large ones have pages of their own. */
#include "config.h"

#include "hints.h"
#include "runtime/casper/arena/engine.h"
#include "runtime/casper/arena/slabs.h"

#include "runtime/mpi/handle.h"
#include "runtime/mpi/real.h"
#include "mpi_wrap.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* A large one. */
struct block {
    void *addr;
    uint64_t off, bytes;
    UT_hash_handle hh;
};

static struct block *blocks;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *take_large(uint64_t bytes, uint64_t align)
{
    struct block *block = calloc(1, sizeof(*block));

    if (!block)
        return NULL;
    block->bytes = bytes;
    block->addr = aspx_arena_alloc(&aspx_engine.arena, bytes, align,
                                   &block->off);
    if (!block->addr) {
        free(block);
        return NULL;
    }
    pthread_mutex_lock(&mutex);
    HASH_ADD_PTR(blocks, addr, block);
    pthread_mutex_unlock(&mutex);
    return block->addr;
}

static bool give_large(void *addr)
{
    struct block *block;

    pthread_mutex_lock(&mutex);
    HASH_FIND_PTR(blocks, &addr, block);
    if (block)
        HASH_DEL(blocks, block);
    pthread_mutex_unlock(&mutex);
    if (!block)
        return false;
    aspx_arena_free(&aspx_engine.arena, block->off, block->bytes);
    free(block);
    return true;
}

static void *take_block(uint64_t bytes, uint64_t align)
{
    if (bytes <= ASPX_SLAB_BLOCK_MAX && align <= ASPX_SLAB_BLOCK_MAX)
        return aspx_slabs_take(&aspx_engine.arena, bytes, align);
    return take_large(bytes, align);
}

int aspx_wrap_MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    void *addr = NULL;

    /* What MPI would refuse it shall refuse itself. */
    if (aspx_engine.up && size > 0 && baseptr &&
        (info == MPI_INFO_NULL || aspx_handle_is(info, ASPX_HANDLE_INFO)))
        addr = take_block((uint64_t) size, aspx_hints_align(info));
    if (!addr)
        return aspx_real.MPI_Alloc_mem(size, info, baseptr);
    memcpy(baseptr, &addr, sizeof(addr));
    return MPI_SUCCESS;
}

int aspx_wrap_MPI_Free_mem(void *base)
{
    if (aspx_slabs_give(&aspx_engine.arena, base) || give_large(base))
        return MPI_SUCCESS;
    return aspx_real.MPI_Free_mem(base);
}
