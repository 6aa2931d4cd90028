/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy `heap: shared`, as seen by the ghost engine of a user rank. */
#ifndef ASPEN_RUNTIME_HEAP_OFFER_H
#define ASPEN_RUNTIME_HEAP_OFFER_H

#include "runtime/casper/arena/arena.h"
#include "runtime/world/world.h"

/* Offer the own slice to libaspenheap.so, if the policy says so. Afterwards
 * the arena stays mapped until the process ends (aspx_arena.kept).
 *   arena  must stay where it is for as long
 * Says on stderr of user rank 0 when the library is not there. */
void aspx_heap_start(struct aspx_arena *arena, const struct aspx_world *world);

/* No further memory from there. Takes never having been started. */
void aspx_heap_stop(void);

#endif
