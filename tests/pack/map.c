/* SPDX-License-Identifier: BSD-3-Clause */
#include "pack.h"

#include <stdlib.h>

void map_add(struct map *map, const struct map *other, long by)
{
    size_t n = map->n + other->n;

    map->at = realloc(map->at, (n + 1) * sizeof(*map->at));
    if (!map->at)
        abort();
    for (size_t i = 0; i < other->n; i++)
        map->at[map->n + i] = other->at[i] + by;
    map->n = n;
}

void map_free(struct map *map)
{
    free(map->at);
    *map = (struct map){0};
}
