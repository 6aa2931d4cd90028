/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "basics.h"

#include <stddef.h>
#include <stdlib.h>

#define NUMBER(name)                                                           \
    {                                                                          \
#name, name, 0, 0                                                      \
    }
#define PAIR(name, member)                                                     \
    {                                                                          \
#name, name, sizeof(member),                                           \
            offsetof(                                                          \
                struct {                                                       \
                    member value;                                              \
                    int index;                                                 \
                },                                                             \
                index)                                                         \
    }

const struct basic basics[] = {
    NUMBER(MPI_CHAR),
    NUMBER(MPI_SIGNED_CHAR),
    NUMBER(MPI_UNSIGNED_CHAR),
    NUMBER(MPI_BYTE),
    NUMBER(MPI_PACKED),
    NUMBER(MPI_WCHAR),
    NUMBER(MPI_SHORT),
    NUMBER(MPI_UNSIGNED_SHORT),
    NUMBER(MPI_INT),
    NUMBER(MPI_UNSIGNED),
    NUMBER(MPI_LONG),
    NUMBER(MPI_UNSIGNED_LONG),
    NUMBER(MPI_LONG_LONG),
    NUMBER(MPI_UNSIGNED_LONG_LONG),
    NUMBER(MPI_FLOAT),
    NUMBER(MPI_DOUBLE),
    NUMBER(MPI_LONG_DOUBLE),
    NUMBER(MPI_INT8_T),
    NUMBER(MPI_INT16_T),
    NUMBER(MPI_INT32_T),
    NUMBER(MPI_INT64_T),
    NUMBER(MPI_UINT8_T),
    NUMBER(MPI_UINT16_T),
    NUMBER(MPI_UINT32_T),
    NUMBER(MPI_UINT64_T),
    NUMBER(MPI_C_BOOL),
    NUMBER(MPI_C_FLOAT_COMPLEX),
    NUMBER(MPI_C_DOUBLE_COMPLEX),
    NUMBER(MPI_C_LONG_DOUBLE_COMPLEX),
    NUMBER(MPI_AINT),
    NUMBER(MPI_OFFSET),
    NUMBER(MPI_COUNT),
    NUMBER(MPI_CXX_BOOL),
    NUMBER(MPI_CXX_FLOAT_COMPLEX),
    NUMBER(MPI_CXX_DOUBLE_COMPLEX),
    NUMBER(MPI_CXX_LONG_DOUBLE_COMPLEX),
    NUMBER(MPI_CHARACTER),
    NUMBER(MPI_INTEGER),
    NUMBER(MPI_REAL),
    NUMBER(MPI_DOUBLE_PRECISION),
    NUMBER(MPI_COMPLEX),
    NUMBER(MPI_DOUBLE_COMPLEX),
    NUMBER(MPI_LOGICAL),
    NUMBER(MPI_2INTEGER),
    NUMBER(MPI_2REAL),
    NUMBER(MPI_2DOUBLE_PRECISION),
    NUMBER(MPI_INTEGER1),
    NUMBER(MPI_INTEGER2),
    NUMBER(MPI_INTEGER4),
    NUMBER(MPI_INTEGER8),
    NUMBER(MPI_REAL4),
    NUMBER(MPI_REAL8),
    NUMBER(MPI_COMPLEX8),
    NUMBER(MPI_COMPLEX16),
    NUMBER(MPI_2INT),
    PAIR(MPI_FLOAT_INT, float),
    PAIR(MPI_DOUBLE_INT, double),
    PAIR(MPI_LONG_INT, long),
    PAIR(MPI_SHORT_INT, short),
    PAIR(MPI_LONG_DOUBLE_INT, long double),
    {NULL, MPI_DATATYPE_NULL, 0, 0},
};

static void add_bytes(struct map *map, size_t at, size_t n)
{
    map->at = realloc(map->at, (map->n + n) * sizeof(*map->at));
    if (!map->at)
        abort();
    for (size_t i = 0; i < n; i++)
        map->at[map->n + i] = (long) (at + i);
    map->n += n;
}

struct map basic_map(const struct basic *basic)
{
    struct map map = {0};
    int size = 0;

    if (basic->value) {
        add_bytes(&map, 0, basic->value);
        add_bytes(&map, basic->index, sizeof(int));
        return map;
    }
    if (basic->type != MPI_DATATYPE_NULL)
        MPI_Type_size(basic->type, &size);
    if (size > 0)
        add_bytes(&map, 0, (size_t) size);
    return map;
}
