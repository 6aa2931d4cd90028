/* SPDX-License-Identifier: BSD-3-Clause */
/* What has to be known of datatypes: span, size, gaps, basic elements. */
#include "config.h"

#include "types.h"

#include "runtime/mpi/handle.h"
#include "runtime/mpi/real.h"
#include "runtime/pack/blocks.h"
#include "runtime/pack/contents.h"
#include "runtime/pack/extent.h"
#include "runtime/pack/typemap.h"

#include <stdlib.h>

/* Less data than that needs no long description: 16 bytes for each block, of a
 * byte or more, against the 8,000 of MPICH's header of a message. */
enum { IRREGULAR_BYTES = 500 };

bool aspx_type_span(MPI_Count count, MPI_Datatype type, MPI_Count *lo_p,
                    MPI_Count *hi_p)
{
    const unsigned basic = aspx_handle_basic_size(type);
    MPI_Count lb, extent, true_lb, true_extent, reach;

    if (basic) {
        *lo_p = 0;
        return !__builtin_mul_overflow(count, basic, hi_p);
    }
    if (aspx_real.MPI_Type_get_extent_x(type, &lb, &extent) != MPI_SUCCESS ||
        aspx_real.MPI_Type_get_true_extent_x(type, &true_lb, &true_extent) !=
            MPI_SUCCESS ||
        __builtin_mul_overflow(count - 1, extent, &reach) ||
        __builtin_add_overflow(true_lb, true_extent, hi_p))
        return false;
    *lo_p = true_lb;
    if (reach < 0)
        return !__builtin_add_overflow(*lo_p, reach, lo_p);
    return !__builtin_add_overflow(*hi_p, reach, hi_p);
}

uint64_t aspx_type_bytes(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = aspx_handle_basic_size(type);

    if (size == 0)
        aspx_real.MPI_Type_size_x(type, &size);
    return (uint64_t) (count * size);
}

bool aspx_type_dense(MPI_Datatype type)
{
    struct aspx_extent extent;

    return aspx_handle_basic_size(type) ||
           (aspx_extent_get(type, &extent) && aspx_extent_is_dense(&extent));
}

bool aspx_type_is_irregular(MPI_Datatype type)
{
    int combiner;

    if (aspx_type_dense(type) || aspx_type_bytes(1, type) < IRREGULAR_BYTES ||
        !aspx_contents_combiner(type, &combiner))
        return false;
    return combiner != MPI_COMBINER_VECTOR &&
           combiner != MPI_COMBINER_HVECTOR &&
           combiner != MPI_COMBINER_SUBARRAY;
}

/* ---- basic elements --------------------------------------------------------- */

/* A struct may name types that it has no element of. */
static bool has_data(const struct aspx_contents *contents, size_t i)
{
    return (contents->combiner != MPI_COMBINER_STRUCT ||
            contents->values[1 + i] > 0) &&
           aspx_type_bytes(1, contents->types[i]) > 0;
}

/* Types of accumulates have one basic type throughout, so the first one that
 * is found is it. MPI_DATATYPE_NULL: there is none, or MPI failed. */
static MPI_Datatype basic_type(MPI_Datatype type)
{
    struct aspx_contents contents;
    MPI_Datatype found = MPI_DATATYPE_NULL;

    if (aspx_handle_basic_size(type))
        return type;
    if (!aspx_contents_get(type, &contents))
        return MPI_DATATYPE_NULL;
    if (!aspx_contents_derived(contents.combiner))
        found = type;
    for (size_t i = 0; i < contents.ntypes && found == MPI_DATATYPE_NULL; i++)
        if (has_data(&contents, i))
            found = basic_type(contents.types[i]);
    aspx_contents_free(&contents);
    return found;
}

/* Elements as they are met on a walk over the blocks of a type. */
struct meeting {
    uint64_t unit;   /* bytes of an element */
    uint64_t before; /* bytes of the stream that were met */
    MPI_Aint *at;
    size_t n;
};

/* An element lies where its first byte does. One of MPI's pairs that has a gap
 * is two blocks. */
static void meet(void *arg, int64_t offset, uint64_t bytes)
{
    struct meeting *meeting = arg;
    const uint64_t end = meeting->before + bytes;

    for (uint64_t begin = meeting->n * meeting->unit; begin < end;
         begin += meeting->unit)
        meeting->at[meeting->n++] = offset +
                                    (int64_t) (begin - meeting->before);
    meeting->before = end;
}

static MPI_Aint *find_elements(const struct aspx_typemap *typemap,
                               MPI_Count count, uint64_t unit, size_t *count_p)
{
    struct meeting meeting = {.unit = unit};
    uint64_t bytes;

    if (typemap->size % unit != 0 ||
        !aspx_typemap_bytes(typemap, (uint64_t) count, &bytes))
        return NULL;
    meeting.at = calloc(bytes / unit + 1, sizeof(*meeting.at));
    if (!meeting.at)
        return NULL;
    aspx_typemap_blocks(typemap, (uint64_t) count, meet, &meeting);
    *count_p = meeting.n;
    return meeting.at;
}

/* A type that is too large for a typemap to keep gets one for this once. */
MPI_Aint *aspx_type_flatten(MPI_Count count, MPI_Datatype type,
                            MPI_Datatype *basic_p, size_t *count_p)
{
    const struct aspx_typemap *typemap = aspx_typemap_of(type);
    struct aspx_typemap *large = NULL;
    enum aspx_no_typemap why;
    MPI_Aint *at = NULL;

    *count_p = 0;
    *basic_p = basic_type(type);
    if (*basic_p == MPI_DATATYPE_NULL)
        return NULL;
    if (!typemap)
        typemap = large = aspx_typemap_make_large(type, &why);
    if (typemap)
        at = find_elements(typemap, count, aspx_type_bytes(1, *basic_p),
                           count_p);
    aspx_typemap_free(large);
    return at;
}
