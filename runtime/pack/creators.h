/* SPDX-License-Identifier: BSD-3-Clause */
/* What each creator of datatypes makes of the types that it is given, in
 * canonical form. Asks MPI nothing. */
#ifndef ASPEN_RUNTIME_PACK_CREATORS_H
#define ASPEN_RUNTIME_PACK_CREATORS_H

#include "contents.h"
#include "node.h"

/* A type that another is made of. */
struct aspx_inner_type {
    struct aspx_placed placed;
    int64_t extent;
};

struct aspx_creation {
    struct aspx_region *region;
    const struct aspx_contents *contents;
    const struct aspx_inner_type *inner; /* contents->ntypes of them */
    int64_t entries_max;                 /* of a list */
};

/* By its combiner, which is one of those that aspx_contents_derived() knows.
 * False: as aspx_node_loop(), or more entries than entries_max, which sets
 * region->full. */
bool aspx_create(const struct aspx_creation *creation,
                 struct aspx_placed *placed);

/* Of arrays, for it (arrays.c). */
bool aspx_create_subarray(const struct aspx_creation *creation,
                          struct aspx_placed *placed);
bool aspx_create_darray(const struct aspx_creation *creation,
                        struct aspx_placed *placed);

#endif
