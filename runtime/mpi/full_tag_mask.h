/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives that UCX can look up. A receive has a tag and a mask; UCX keeps
 * those whose mask has all bits in a table, and walks through a list of the
 * others. MPICH clears two bits of each mask, which mark errors of collectives
 * (bits 29 and 30, MPICH's mpir_tags.h), so that all of its receives are in the
 * list: with 10,000 posted ones 28 us for a message. Point-to-point messages
 * never have these bits. So where a receive or probe that names source and tag
 * is of point-to-point communication, its mask is made full. Which messages
 * match stays the same, and UCX keeps the order of both kinds. */
#ifndef ASPEN_RUNTIME_MPI_FULL_TAG_MASK_H
#define ASPEN_RUNTIME_MPI_FULL_TAG_MASK_H

#include "common/layout/layout.h"

/* Begin, unless the layout says match=off or MPI, asked by a probe for a
 * message that there is not, turns out to have another form of tags: then all
 * stays as it is. The answer is in the record (fixes.h). Inside MPI, after
 * MPI_Init, by the thread that may call it. Once. */
void aspx_full_tag_mask(const struct asp_layout *layout);

#endif
