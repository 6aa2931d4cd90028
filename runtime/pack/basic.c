/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of a value and an index are known by name, since their members may have
 * a gap between them. All others are blocks of bytes as long as MPI says. */
#include "config.h"

#include "basic.h"

#include "extent.h"

/* The types of MPI_MINLOC and MPI_MAXLOC, which are structs of C. Those of two
 * equal members have no gap, but are here all the same. */
#define PAIRS(PAIR)                                                            \
    PAIR(MPI_FLOAT_INT, float)                                                 \
    PAIR(MPI_DOUBLE_INT, double)                                               \
    PAIR(MPI_LONG_INT, long)                                                   \
    PAIR(MPI_SHORT_INT, short)                                                 \
    PAIR(MPI_LONG_DOUBLE_INT, long double)                                     \
    PAIR(MPI_2INT, int)

static const struct pair {
    MPI_Datatype type;
    size_t value, index; /* bytes of the first member; offset of the second */
} pairs[] = {
#define PAIR(name, member)                                                     \
    {name, sizeof(member),                                                     \
     offsetof(                                                                 \
         struct {                                                              \
             member value;                                                     \
             int index;                                                        \
         },                                                                    \
         index)},
    PAIRS(PAIR)
#undef PAIR
};

static bool place_pair(struct aspx_region *region, const struct pair *pair,
                       struct aspx_placed *placed)
{
    struct aspx_placed members[] = {
        {.size = pair->value},
        {.offset = (int64_t) pair->index, .size = sizeof(int)},
    };

    return aspx_node_list(region, members, 2, placed);
}

/* One number, or several without gaps: nothing else of MPI's own is as large
 * as its data. */
static bool place_number(MPI_Datatype type, struct aspx_placed *placed)
{
    struct aspx_extent extent;

    if (!aspx_extent_get(type, &extent))
        return false;
    *placed = (struct aspx_placed){.size = (uint64_t) extent.size};
    return extent.size == 0 || aspx_extent_is_dense(&extent);
}

bool aspx_basic_place(struct aspx_region *region, MPI_Datatype type,
                      struct aspx_placed *placed)
{
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (pairs[i].type == type)
            return place_pair(region, &pairs[i], placed);
    return place_number(type, placed);
}
