/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "contents.h"

#include "runtime/mpi/real.h"

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

/* Into one list. MPI_Aint and MPI_Count are 64 bits wide. */
static void collect(struct aspx_contents *contents, const struct envelope *e,
                    const int *ints, const MPI_Aint *addresses,
                    const MPI_Count *counts)
{
    int64_t *value = contents->values;

    for (MPI_Count i = 0; i < e->ints; i++)
        *value++ = ints[i];
    for (MPI_Count i = 0; i < e->addresses; i++)
        *value++ = addresses[i];
    for (MPI_Count i = 0; i < e->counts; i++)
        *value++ = counts[i];
}

/* n objects, and never NULL for none: MPICH looks at the addresses. */
static void *room(MPI_Count n, size_t bytes)
{
    return calloc((size_t) n + 1, bytes);
}

static bool get_contents(MPI_Datatype type, const struct envelope *e,
                         struct aspx_contents *contents)
{
    int *ints = room(e->ints, sizeof(*ints));
    MPI_Aint *addresses = room(e->addresses, sizeof(*addresses));
    MPI_Count *counts = room(e->counts, sizeof(*counts));
    bool ok = ints && addresses && counts && contents->values &&
              contents->types &&
              aspx_real.MPI_Type_get_contents_c(
                  type, e->ints, e->addresses, e->counts, e->types, ints,
                  addresses, counts, contents->types) == MPI_SUCCESS;

    if (ok)
        collect(contents, e, ints, addresses, counts);
    free(ints);
    free(addresses);
    free(counts);
    return ok;
}

bool aspx_contents_get(MPI_Datatype type, struct aspx_contents *contents)
{
    struct envelope e;

    *contents = (struct aspx_contents){0};
    if (!get_envelope(type, &e, &contents->combiner))
        return false;
    if (!aspx_contents_derived(contents->combiner))
        return true;
    contents->large = e.counts > 0;
    contents->nvalues = (size_t) (e.ints + e.addresses + e.counts);
    contents->values = room((MPI_Count) contents->nvalues, sizeof(int64_t));
    contents->types = room(e.types, sizeof(MPI_Datatype));
    if (get_contents(type, &e, contents)) {
        contents->ntypes = (size_t) e.types;
        return true;
    }
    aspx_contents_free(contents);
    return false;
}

static void free_reference(MPI_Datatype *type)
{
    struct envelope e;
    int combiner;

    if (get_envelope(*type, &e, &combiner) && aspx_contents_derived(combiner))
        aspx_real.MPI_Type_free(type);
}

void aspx_contents_free(struct aspx_contents *contents)
{
    for (size_t i = 0; i < contents->ntypes; i++)
        free_reference(&contents->types[i]);
    free(contents->types);
    free(contents->values);
}
