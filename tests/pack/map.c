/* SPDX-License-Identifier: BSD-3-Clause */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

/* One byte more, as there may be none. */
void *filled(size_t bytes, int value)
{
    void *memory = malloc(bytes + 1);

    if (!memory)
        abort();
    return memset(memory, value, bytes + 1);
}

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

long map_span(const struct map *map, long *lo_p)
{
    long lo = 0, hi = 0;

    for (size_t i = 0; i < map->n; i++) {
        if (i == 0 || map->at[i] < lo)
            lo = map->at[i];
        if (i == 0 || map->at[i] >= hi)
            hi = map->at[i] + 1;
    }
    *lo_p = lo;
    return hi - lo;
}
