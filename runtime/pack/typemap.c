/* SPDX-License-Identifier: BSD-3-Clause */
/* Descends from a type into those that it was made of, by
 * MPI_Type_get_contents, and makes nodes on the way back. Each inner type is
 * looked at once; types that are too deep, too long or unknown are refused. */
#include "config.h"

#include "typemap.h"

#include "basic.h"
#include "creators.h"
#include "extent.h"

#include "runtime/mpi/handle.h"
#include "runtime/mpi/real.h"

#include <stdlib.h>
#include <uthash.h>

enum {
    /* Of one typemap. MPICH itself keeps some 30 bytes for each entry of a
     * list; this is as much for ASPX_TYPEMAP_ENTRIES_MAX of them. */
    REGION_BYTES_MAX = 32 << 20,
    /* Types within types: each is a call of place_type(). */
    LEVELS_MAX = 200,
};

/* What was found of a type within the type: it may occur often. */
struct seen {
    MPI_Datatype type;
    struct aspx_placed placed;
    UT_hash_handle hh;
};

struct maker {
    struct aspx_region *region;
    struct seen *seen;
    int64_t entries_max;
    int levels;
    unsigned number; /* as in struct aspx_typemap; 0: none as yet */
    enum aspx_no_typemap why;
};

static bool refuse(struct maker *m, enum aspx_no_typemap why)
{
    m->why = why;
    return false;
}

/* ---- types within types --------------------------------------------------- */

static bool place_type(struct maker *m, MPI_Datatype type,
                       struct aspx_placed *placed);

static bool place_inner(struct maker *m, const struct aspx_contents *contents,
                        struct aspx_inner_type *inner)
{
    for (size_t i = 0; i < contents->ntypes; i++) {
        MPI_Datatype type = contents->types[i];
        MPI_Count lb, extent;

        if (i > 0 && type == contents->types[i - 1]) {
            inner[i] = inner[i - 1];
            continue;
        }
        if (aspx_real.MPI_Type_get_extent_x(type, &lb, &extent) != MPI_SUCCESS)
            return refuse(m, ASPX_NO_TYPEMAP_MPI);
        inner[i].extent = extent;
        if (!place_type(m, type, &inner[i].placed))
            return false;
    }
    return true;
}

static bool place_contents(struct maker *m,
                           const struct aspx_contents *contents,
                           struct aspx_placed *placed)
{
    struct aspx_inner_type one,
        *inner = contents->ntypes > 1 ? calloc(contents->ntypes, sizeof(*inner))
                                      : &one;
    const struct aspx_creation creation = {m->region, contents, inner,
                                           m->entries_max};
    bool ok;

    if (!inner)
        return refuse(m, ASPX_NO_TYPEMAP_LARGE);
    ok = place_inner(m, contents, inner);
    if (ok && !aspx_create(&creation, placed))
        ok = refuse(m, m->region->full ? ASPX_NO_TYPEMAP_LARGE
                                       : ASPX_NO_TYPEMAP_DEEP);
    if (inner != &one)
        free(inner);
    return ok;
}

/* To the standard these are two, in MPICH one. */
static bool is_two_numbers(MPI_Datatype type)
{
    return type == MPI_2INT || type == MPI_2INTEGER || type == MPI_2REAL ||
           type == MPI_2DOUBLE_PRECISION;
}

static void note_number(struct maker *m, unsigned bytes)
{
    m->number = m->number == 0 || m->number == bytes ? bytes : 1;
}

static bool place_derived(struct maker *m, MPI_Datatype type,
                          struct aspx_placed *placed)
{
    struct aspx_contents contents;
    bool ok;

    if (!aspx_contents_get(type, &contents))
        return refuse(m, ASPX_NO_TYPEMAP_MPI);
    if (aspx_contents_derived(contents.combiner))
        ok = place_contents(m, &contents, placed);
    else
        ok = aspx_basic_place(m->region, type, placed) ||
             refuse(m, ASPX_NO_TYPEMAP_COMBINER);
    if (!aspx_contents_derived(contents.combiner))
        note_number(m, 1);
    aspx_contents_free(&contents);
    return ok;
}

/* It only saves time. The type that has it inside keeps the handle from being
 * another type's meanwhile. */
static void remember(struct maker *m, MPI_Datatype type,
                     struct aspx_placed placed)
{
    struct seen *seen = malloc(sizeof(*seen));

    if (!seen)
        return;
    *seen = (struct seen){.type = type, .placed = placed};
    HASH_ADD_INT(m->seen, type, seen);
}

static bool place_type(struct maker *m, MPI_Datatype type,
                       struct aspx_placed *placed)
{
    unsigned bytes = aspx_handle_basic_size(type);
    struct seen *seen;

    if (bytes) {
        note_number(m, is_two_numbers(type) ? 1 : bytes);
        *placed = (struct aspx_placed){.size = bytes};
        return true;
    }
    HASH_FIND_INT(m->seen, &type, seen);
    if (seen) {
        *placed = seen->placed;
        return true;
    }
    if (m->levels == LEVELS_MAX)
        return refuse(m, ASPX_NO_TYPEMAP_DEEP);
    m->levels++;
    if (!place_derived(m, type, placed))
        return false;
    m->levels--;
    if (m->levels > 0)
        remember(m, type, *placed);
    return true;
}

static void forget(struct maker *m)
{
    struct seen *seen, *next;

    HASH_ITER(hh, m->seen, seen, next)
    {
        HASH_DEL(m->seen, seen);
        free(seen);
    }
}

/* ---- the typemap of a type ------------------------------------------------- */

/* Does MPI say the same? It has computed this in its own way. MPICH counts the
 * places of what is empty to the span, so ours may lie within. */
static bool agrees(const struct aspx_extent *mpi, struct aspx_placed placed)
{
    int64_t lo, hi;

    if ((uint64_t) mpi->size != placed.size)
        return false;
    return mpi->size == 0 ||
           (aspx_node_span(placed, &lo, &hi) && lo >= mpi->true_lb &&
            hi - mpi->true_lb <= mpi->true_extent);
}

static bool describe(MPI_Datatype type, struct aspx_typemap *typemap,
                     int64_t entries_max, enum aspx_no_typemap *why)
{
    struct maker m = {.region = &typemap->region, .entries_max = entries_max};
    struct aspx_placed placed;
    struct aspx_extent extent;
    bool ok = place_type(&m, type, &placed);

    if (ok && !aspx_extent_get(type, &extent))
        ok = refuse(&m, ASPX_NO_TYPEMAP_MPI);
    if (ok && !agrees(&extent, placed))
        ok = refuse(&m, ASPX_NO_TYPEMAP_DIFFERS);
    forget(&m);
    *why = m.why;
    if (!ok)
        return false;
    typemap->size = placed.size;
    typemap->node = placed.node;
    typemap->offset = placed.offset;
    typemap->extent = extent.extent;
    typemap->number = m.number ? m.number : 1;
    return true;
}

static struct aspx_typemap *make(MPI_Datatype type, size_t bytes_max,
                                 int64_t entries_max, enum aspx_no_typemap *why)
{
    struct aspx_typemap *typemap = calloc(1, sizeof(*typemap));

    if (!typemap) {
        *why = ASPX_NO_TYPEMAP_LARGE;
        return NULL;
    }
    typemap->region.left = bytes_max;
    if (describe(type, typemap, entries_max, why))
        return typemap;
    aspx_typemap_free(typemap);
    return NULL;
}

struct aspx_typemap *aspx_typemap_make(MPI_Datatype type,
                                       enum aspx_no_typemap *why)
{
    return make(type, REGION_BYTES_MAX, ASPX_TYPEMAP_ENTRIES_MAX, why);
}

struct aspx_typemap *aspx_typemap_make_large(MPI_Datatype type,
                                             enum aspx_no_typemap *why)
{
    return make(type, SIZE_MAX, INT64_MAX, why);
}

void aspx_typemap_free(struct aspx_typemap *typemap)
{
    if (!typemap)
        return;
    aspx_region_free(&typemap->region);
    free(typemap);
}

const char *aspx_no_typemap_name(enum aspx_no_typemap why)
{
    static const char *const names[ASPX_NO_TYPEMAPS] = {
        [ASPX_NO_TYPEMAP_COMBINER] = "combiner",
        [ASPX_NO_TYPEMAP_LARGE] = "large",
        [ASPX_NO_TYPEMAP_DEEP] = "deep",
        [ASPX_NO_TYPEMAP_DIFFERS] = "differs",
        [ASPX_NO_TYPEMAP_MPI] = "mpi",
    };

    return names[why];
}
