/* SPDX-License-Identifier: BSD-3-Clause */
/* What has to be known of datatypes: span, size, gaps, basic elements. */
#include "config.h"

#include "types.h"

#include "runtime/mpi/real.h"

#include <limits.h>
#include <stdlib.h>

/* Less data than that needs no long description: 16 bytes for each block, of a
 * byte or more, against the 8,000 of MPICH's header of a message. */
enum { IRREGULAR_BYTES = 500 };

bool aspx_type_span(MPI_Count count, MPI_Datatype type, MPI_Count *lo_p,
                    MPI_Count *hi_p)
{
    MPI_Count lb, extent, true_lb, true_extent, reach;

    if (aspx_type_plain(type)) {
        *lo_p = 0;
        return !__builtin_mul_overflow(count, aspx_type_plain_bytes(type),
                                       hi_p);
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
    MPI_Count size = 0;

    if (aspx_type_plain(type))
        return (uint64_t) count * aspx_type_plain_bytes(type);
    aspx_real.MPI_Type_size_x(type, &size);
    return (uint64_t) (count * size);
}

bool aspx_type_dense(MPI_Datatype type)
{
    MPI_Count lb, extent, true_lb, true_extent, size;

    if (aspx_type_plain(type))
        return true;
    return aspx_real.MPI_Type_size_x(type, &size) == MPI_SUCCESS &&
           aspx_real.MPI_Type_get_extent_x(type, &lb, &extent) == MPI_SUCCESS &&
           aspx_real.MPI_Type_get_true_extent_x(type, &true_lb, &true_extent) ==
               MPI_SUCCESS &&
           lb == 0 && true_lb == 0 && extent == size && true_extent == size;
}

bool aspx_type_is_irregular(MPI_Datatype type)
{
    int nints, naddrs, ntypes, combiner;

    if (aspx_type_dense(type) || aspx_type_bytes(1, type) < IRREGULAR_BYTES ||
        aspx_real.MPI_Type_get_envelope(type, &nints, &naddrs, &ntypes,
                                        &combiner) != MPI_SUCCESS)
        return false;
    return combiner != MPI_COMBINER_VECTOR &&
           combiner != MPI_COMBINER_HVECTOR &&
           combiner != MPI_COMBINER_SUBARRAY;
}

/* Types of accumulates have one basic type throughout, so the first one that
 * is found is it. */
MPI_Datatype aspx_type_basic(MPI_Datatype type)
{
    int nints, naddrs, ntypes, combiner, *ints;
    MPI_Aint *addrs;
    MPI_Datatype *types, found = type;

    if (aspx_type_plain(type))
        return type;
    aspx_real.MPI_Type_get_envelope(type, &nints, &naddrs, &ntypes, &combiner);
    if (combiner == MPI_COMBINER_NAMED || ntypes == 0)
        return type;
    ints = calloc((size_t) nints + 1, sizeof(*ints));
    addrs = calloc((size_t) naddrs + 1, sizeof(*addrs));
    types = calloc((size_t) ntypes, sizeof(*types));
    if (ints && addrs && types &&
        aspx_real.MPI_Type_get_contents(type, nints, naddrs, ntypes, ints,
                                        addrs, types) == MPI_SUCCESS) {
        found = MPI_DATATYPE_NULL;
        for (int i = 0; i < ntypes; i++) {
            int a, b, c;

            if (found == MPI_DATATYPE_NULL && aspx_type_bytes(1, types[i]) > 0)
                found = aspx_type_basic(types[i]);
            aspx_real.MPI_Type_get_envelope(types[i], &a, &b, &c, &combiner);
            if (combiner != MPI_COMBINER_NAMED)
                aspx_real.MPI_Type_free(&types[i]);
        }
    }
    free(ints);
    free(addrs);
    free(types);
    return found;
}

/* One pass: pack bytes that tell digit `digit` of their own displacement. */
static bool pack_digit(MPI_Datatype type, unsigned char *image,
                       MPI_Count true_lb, MPI_Count span, unsigned char *packed,
                       int size, unsigned digit)
{
    int at = 0;

    for (MPI_Count i = 0; i < span; i++)
        image[i] = (unsigned char) (i >> 8 * digit);
    return aspx_real.MPI_Pack(image - true_lb, 1, type, packed, size, &at,
                              MPI_COMM_SELF) == MPI_SUCCESS &&
           at == size;
}

/* Displacements of the bytes of one element of the type, by having MPI pack a
 * buffer whose bytes say where they are: every way to make a type is covered,
 * the rare ones too. */
static MPI_Aint *find_bytes(MPI_Datatype type, int size)
{
    MPI_Count true_lb, span;
    MPI_Aint *at = calloc((size_t) size, sizeof(*at));
    unsigned char *packed = malloc((size_t) size), *image;
    bool ok;

    aspx_real.MPI_Type_get_true_extent_x(type, &true_lb, &span);
    image = malloc((size_t) span);
    ok = at && packed && image;
    for (unsigned digit = 0;
         ok && digit < sizeof(MPI_Aint) && (span - 1) >> 8 * digit; digit++) {
        ok = pack_digit(type, image, true_lb, span, packed, size, digit);
        for (int i = 0; ok && i < size; i++)
            at[i] |= (MPI_Aint) packed[i] << 8 * digit;
    }
    for (int i = 0; ok && i < size; i++)
        at[i] += true_lb;
    free(packed);
    free(image);
    if (ok)
        return at;
    free(at);
    return NULL;
}

MPI_Aint *aspx_type_flatten(MPI_Count count, MPI_Datatype type,
                            MPI_Datatype *basic_p, size_t *count_p)
{
    MPI_Datatype basic = aspx_type_basic(type);
    uint64_t unit = aspx_type_bytes(1, basic), size = aspx_type_bytes(1, type);
    MPI_Count lb, extent;
    MPI_Aint *first, *all;
    size_t each;

    *count_p = 0;
    if (basic == MPI_DATATYPE_NULL || unit == 0 || size > INT_MAX)
        return NULL;
    each = size / unit;
    first = find_bytes(type, (int) size);
    all = malloc((each * (size_t) count + 1) * sizeof(*all));
    aspx_real.MPI_Type_get_extent_x(type, &lb, &extent);
    for (size_t i = 0; first && all && i < (size_t) count; i++)
        for (size_t k = 0; k < each; k++)
            all[i * each + k] = first[k * unit] + (MPI_Aint) i * extent;
    if (first && all) {
        *basic_p = basic;
        *count_p = each * (size_t) count;
        free(first);
        return all;
    }
    free(first);
    free(all);
    return NULL;
}
