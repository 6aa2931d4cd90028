/* SPDX-License-Identifier: BSD-3-Clause */
/* The types that MPI has itself. */
#ifndef ASPEN_TESTS_PACK_BASICS_H
#define ASPEN_TESTS_PACK_BASICS_H

#include "pack.h"

/* A number, or one of the pairs of MPI_MINLOC that are structs of C. */
struct basic {
    const char *name;
    MPI_Datatype type; /* may be one that this MPI has not: of size 0 */
    size_t value;      /* of a pair: bytes of its first member; else 0 */
    size_t index;      /* of a pair: where its int is */
};

extern const struct basic basics[]; /* ends with a name NULL */

/* Its bytes, to be freed; none where this MPI has it not. */
struct map basic_map(const struct basic *basic);

#endif
