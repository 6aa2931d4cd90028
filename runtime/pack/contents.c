/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks MPI for the envelope and the contents of a type, and puts integers,
 * addresses and counts into one list in the order in which creators with large
 * counts have them. */
#include "config.h"

#include "contents.h"

#include "runtime/mpi/handle.h"
#include "runtime/mpi/real.h"

#include "mpi_behind.h"

#include <stdlib.h>

/* How many of each kind MPI tells. */
struct envelope {
    MPI_Count ints, addresses, counts, types;
};

bool aspx_contents_derived(int combiner)
{
    switch (combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY:
    case MPI_COMBINER_RESIZED:
        return true;
    default:
        return false;
    }
}

static bool get_envelope(MPI_Datatype type, struct envelope *e, int *combiner)
{
    return aspx_real.MPI_Type_get_envelope_c(type, &e->ints, &e->addresses,
                                             &e->counts, &e->types,
                                             combiner) == MPI_SUCCESS;
}

bool aspx_contents_combiner(MPI_Datatype type, int *combiner)
{
    struct envelope e;

    return get_envelope(type, &e, combiner);
}

/* What MPI fills in. One piece of memory behind `values` holds all of it: most
 * types have a handful of values, and malloc() would cost more than MPI. */
struct arrays {
    MPI_Aint *addresses;
    MPI_Count *counts;
    int *ints;
};

/* Never NULL for none: MPICH looks at the addresses. */
static bool get_room(const struct envelope *e, struct aspx_contents *contents,
                     struct arrays *arrays)
{
    size_t ints = (size_t) e->ints, addresses = (size_t) e->addresses;
    size_t counts = (size_t) e->counts, types = (size_t) e->types;

    contents->nvalues = ints + addresses + counts;
    contents->values = malloc(
        (contents->nvalues + addresses + counts + 1) * sizeof(int64_t) +
        (types + 1) * sizeof(MPI_Datatype) + (ints + 1) * sizeof(int));
    if (!contents->values)
        return false;
    arrays->addresses = (MPI_Aint *) (contents->values + contents->nvalues);
    arrays->counts = (MPI_Count *) (arrays->addresses + addresses);
    contents->types = (MPI_Datatype *) (arrays->counts + counts + 1);
    arrays->ints = (int *) (contents->types + types + 1);
    return true;
}

/* Into one list. MPI_Aint and MPI_Count are 64 bits wide. */
static void collect(struct aspx_contents *contents, const struct envelope *e,
                    const struct arrays *arrays)
{
    int64_t *value = contents->values;

    for (MPI_Count i = 0; i < e->ints; i++)
        *value++ = arrays->ints[i];
    for (MPI_Count i = 0; i < e->addresses; i++)
        *value++ = arrays->addresses[i];
    for (MPI_Count i = 0; i < e->counts; i++)
        *value++ = arrays->counts[i];
}

bool aspx_contents_get(MPI_Datatype type, struct aspx_contents *contents)
{
    struct envelope e;
    struct arrays arrays;

    *contents = (struct aspx_contents){0};
    if (!get_envelope(type, &e, &contents->combiner))
        return false;
    if (!aspx_contents_derived(contents->combiner))
        return true;
    contents->large = e.counts > 0;
    if (!get_room(&e, contents, &arrays))
        return false;
    if (aspx_real.MPI_Type_get_contents_c(
            type, e.ints, e.addresses, e.counts, e.types, arrays.ints,
            arrays.addresses, arrays.counts, contents->types) != MPI_SUCCESS) {
        free(contents->values);
        return false;
    }
    contents->ntypes = (size_t) e.types;
    collect(contents, &e, &arrays);
    return true;
}

/* As the library does it: what typemaps know is not asked. */
static int free_type(MPI_Datatype *type)
{
    return aspx_pack_behind.MPI_Type_free ? aspx_pack_behind.MPI_Type_free(type)
                                          : aspx_real.MPI_Type_free(type);
}

static void free_reference(MPI_Datatype *type)
{
    int combiner;

    if (!aspx_handle_basic_size(*type) &&
        aspx_contents_combiner(*type, &combiner) &&
        aspx_contents_derived(combiner))
        (void) free_type(type);
}

void aspx_contents_free(struct aspx_contents *contents)
{
    for (size_t i = 0; i < contents->ntypes; i++)
        free_reference(&contents->types[i]);
    free(contents->values); /* and the types */
}
