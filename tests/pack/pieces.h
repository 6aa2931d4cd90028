/* SPDX-License-Identifier: BSD-3-Clause */
/* pieces.so, a preload that stands between MPICH, or Aspen, and UCX: what UCX
 * has packed and unpacked in pieces of some kilobytes is cut into smaller ones.
 * Programs look its functions up by name. Without cuts, bench/typed counts the
 * instructions of its measure_pack() and measure_unpack(), which are all that
 * messages spend on types with gaps. */
#ifndef ASPEN_TESTS_PACK_PIECES_H
#define ASPEN_TESTS_PACK_PIECES_H

#include <stddef.h>

/* Bytes. The first piece that is unpacked is not cut shorter: of transports it
 * is a packet at least (runtime/pack/messages.c). */
enum { PIECES_FIRST_MIN = 64 };

/* Of the messages of types with gaps that this process begins from now on, cut
 * the packed stream before byte `first`, and every `every` bytes from there on;
 * 0: nowhere else. As UCX does, where first is 0. */
typedef void pieces_cut_f(size_t first, size_t every);

/* How often a cut was made. */
typedef unsigned long pieces_count_f(void);

#endif
