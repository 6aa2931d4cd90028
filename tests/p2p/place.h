/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that messages are sent from and received into, of a type with or
 * without gaps, between guard bytes. */
#ifndef ASPEN_TESTS_P2P_PLACE_H
#define ASPEN_TESTS_P2P_PLACE_H

#include "tests/random/prng.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct place {
    /* It has elements of `first` units, `gap` units that are left out, and
     * `second` units; a unit is 1 (MPI_BYTE) or 4 bytes (MPI_INT). */
    int unit, units;
    int elements, first, gap, second;
    int extent;     /* units from an element to the next */
    bool backwards; /* the last element lies first */

    unsigned char *memory; /* of span bytes; bytes.h */
    size_t span;
    void *at; /* what MPI gets */
    int count;
    MPI_Datatype type;
    bool own_type; /* to be freed */
};

MPI_Datatype unit_type(int unit);

/* Of a form that is drawn, all bytes GUARD_BYTE. */
struct place place_new(struct prng *prng, int unit, int units);
void place_free_type(struct place *place);
void place_free(struct place *place); /* the type too */

/* Bytes of the first so many units, from or to memory without gaps. */
void place_write(struct place *place, const unsigned char *from, int units);
void place_read(const struct place *place, unsigned char *to, int units);

/* Whether the first so many units are these bytes, and all else, guards and
 * gaps too, is as place_new() made it. */
bool place_is(const struct place *place, const unsigned char *bytes, int units);
/* The same where the units may be anything. */
bool place_gaps_are_whole(const struct place *place);

#endif
