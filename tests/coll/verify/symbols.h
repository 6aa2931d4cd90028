/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers that hold symbols instead of data: for verify.c. */
#ifndef ASPEN_TESTS_COLL_VERIFY_SYMBOLS_H
#define ASPEN_TESTS_COLL_VERIFY_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes start to end - 1 of a buffer are the bytes from offset on of the inputs
 * of ranks, reduced as `expression` says. */
struct asp_coll_symbol {
    size_t start, end;
    size_t offset;
    uint64_t ranks; /* bit r: rank r */
    /* A hash of the tree of reductions, its operands in order; where the
     * operation is commutative, up to the order of the two operands of each
     * reduction. Of an input it is `ranks`. Two results of floating-point
     * numbers have the same bits on all data only if their trees are the same.
     */
    uint64_t expression;
};

/* Disjoint, ascending; what lies between is undefined. */
struct asp_coll_symbols {
    struct asp_coll_symbol *list;
    uint32_t n, capacity;
};

/* Append, to the end of to, what is in [start, end) of from, moved so that
 * start becomes at. False with errno ENODATA when some of it is undefined, or
 * ENOMEM.
 */
bool asp_coll_symbols_read(const struct asp_coll_symbols *from, size_t start,
                           size_t end, size_t at, struct asp_coll_symbols *to);

/* Put what, which is all of [start, end), in the place of what is there. False
 * with errno ENOMEM. */
bool asp_coll_symbols_write(struct asp_coll_symbols *to, size_t start,
                            size_t end, const struct asp_coll_symbols *what);

/* Append, to the end of into, left op right: both of the same bytes. False with
 * the reason in *why_p when it is no legal reduction, or (NULL) memory was
 * short. */
bool asp_coll_symbols_reduce(const struct asp_coll_symbols *left,
                             const struct asp_coll_symbols *right,
                             size_t element_size, bool commutative,
                             struct asp_coll_symbols *into, const char **why_p);

bool asp_coll_symbols_add(struct asp_coll_symbols *to,
                          struct asp_coll_symbol symbol);

#endif
