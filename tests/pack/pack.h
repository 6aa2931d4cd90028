/* SPDX-License-Identifier: BSD-3-Clause */
/* Random datatypes, and the bytes that each must have. */
#ifndef ASPEN_TESTS_PACK_PACK_H
#define ASPEN_TESTS_PACK_PACK_H

#include "tests/random/prng.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* Memory for so many bytes, each of this value; for free(). */
void *filled(size_t bytes, int value);

/* The bytes of a type, one after the other in the order of its typemap: where
 * each lies from the address of an element. */
struct map {
    size_t n;
    long *at;
};

/* Add the bytes of another, moved by `by`. */
void map_add(struct map *map, const struct map *other, long by);
void map_free(struct map *map);

/* How many bytes lie between its first and last, these two included, and where
 * the first is. */
long map_span(const struct map *map, long *lo_p);

enum { TEXT_MAX = 4000 };

struct made {
    MPI_Datatype type; /* of MPI itself where is_named, else to be freed */
    bool is_named;
    bool is_odd; /* MPI_Pack gives, or may give, other bytes */
    struct map map;
    char *text; /* how it was made; malloc */
};

/* A type of at most `bytes` bytes, by creators within each other up to a depth;
 * not committed. */
struct made make_type(struct prng *prng, int depth, size_t bytes);
void free_type(struct made *made);

/* How often each creator was used, a line each. */
void print_creators(void);

#endif
