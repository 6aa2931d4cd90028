/* SPDX-License-Identifier: BSD-3-Clause */
/* A walk over the blocks of bytes that a typemap is made of. */
#ifndef ASPEN_RUNTIME_PACK_BLOCKS_H
#define ASPEN_RUNTIME_PACK_BLOCKS_H

#include "engine.h"

/* Bytes offset .. offset + bytes - 1 from the address of the first element. */
typedef void aspx_block_f(void *arg, int64_t offset, uint64_t bytes);

/* Call visit for each block of count elements, in the order of the packed
 * stream. Blocks that touch may come as one or as several. */
void aspx_typemap_blocks(const struct aspx_typemap *typemap, uint64_t count,
                         aspx_block_f *visit, void *arg);

#endif
