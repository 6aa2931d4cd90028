/* SPDX-License-Identifier: BSD-3-Clause */
/* See reducible.h. */
#include "config.h"

#include "reducible.h"

#include "runtime/mpi/handle.h"

#include <stddef.h>

enum class { OTHER, INTEGER, FLOATING, COMPLEX, BYTES };

static const MPI_Datatype integers[] = {
    MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR,
    MPI_SHORT,       MPI_UNSIGNED_SHORT,
    MPI_INT,         MPI_UNSIGNED,
    MPI_LONG,        MPI_UNSIGNED_LONG,
    MPI_LONG_LONG,   MPI_UNSIGNED_LONG_LONG,
    MPI_INT8_T,      MPI_INT16_T,
    MPI_INT32_T,     MPI_INT64_T,
    MPI_UINT8_T,     MPI_UINT16_T,
    MPI_UINT32_T,    MPI_UINT64_T,
    MPI_AINT,        MPI_OFFSET,
    MPI_COUNT,       MPI_INTEGER,
};
static const MPI_Datatype floatings[] = {
    MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION,
    MPI_REAL4, MPI_REAL8,
};
static const MPI_Datatype complexes[] = {
    MPI_C_FLOAT_COMPLEX,
    MPI_C_DOUBLE_COMPLEX,
    MPI_C_LONG_DOUBLE_COMPLEX,
    MPI_COMPLEX,
    MPI_DOUBLE_COMPLEX,
    MPI_COMPLEX8,
    MPI_COMPLEX16,
    MPI_CXX_FLOAT_COMPLEX,
    MPI_CXX_DOUBLE_COMPLEX,
    MPI_CXX_LONG_DOUBLE_COMPLEX,
};

/* By the number of a built-in type, the lowest byte of its handle. */
static struct {
    MPI_Datatype type;
    enum class class;
} classes[256];

static void set_class(const MPI_Datatype *types, size_t n, enum class class)
{
    for (size_t i = 0; i < n; i++)
        if (aspx_handle_basic_size(types[i]) > 0) {
            classes[types[i] & 0xff].type = types[i];
            classes[types[i] & 0xff].class = class;
        }
}

#define SET(types, class)                                                      \
    set_class(types, sizeof(types) / sizeof((types)[0]), class)

void aspx_coll_reducible_start(void)
{
    SET(integers, INTEGER);
    SET(floatings, FLOATING);
    SET(complexes, COMPLEX);
    set_class(&(MPI_Datatype){MPI_BYTE}, 1, BYTES);
}

static enum class class_of(MPI_Datatype type) {
    return classes[type & 0xff].type == type ? classes[type & 0xff].class
                                             : OTHER;
}

/* MPI 4.0, 6.9.2; what is not sure to be allowed is left to MPI. All of these
 * are commutative. */
static bool can_reduce(MPI_Op op, enum class class)
{
    switch (op) {
    case MPI_SUM:
    case MPI_PROD:
        return class == INTEGER || class == FLOATING || class == COMPLEX;
    case MPI_MAX:
    case MPI_MIN:
        return class == INTEGER || class == FLOATING;
    case MPI_LAND:
    case MPI_LOR:
    case MPI_LXOR:
        return class == INTEGER;
    case MPI_BAND:
    case MPI_BOR:
    case MPI_BXOR:
        return class == INTEGER || class == BYTES;
    default:
        return false;
    }
}

bool aspx_coll_can_reduce(MPI_Op op, MPI_Datatype type, bool *floating_p)
{
    enum class class = class_of(type);

    *floating_p = class == FLOATING || class == COMPLEX;
    return can_reduce(op, class);
}
