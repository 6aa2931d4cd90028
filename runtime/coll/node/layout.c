/* SPDX-License-Identifier: BSD-3-Clause */
/* Where things are in an area:
 *
 *   a line for its maker's number | flags of each rank | to the page's end
 *   rank 0: head, slot, head, slot | rank 1: ... */
#include "config.h"

#include "flags.h"

#include <unistd.h>

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static size_t slots_at(const struct aspx_node_area *area)
{
    return round_up(ASPX_NODE_LINE +
                        area->count * sizeof(struct aspx_node_flags),
                    (size_t) sysconf(_SC_PAGESIZE));
}

void aspx_node_lay_out(struct aspx_node_area *area, size_t slot_bytes)
{
    size_t ranks = area->count;

    if (slot_bytes < ranks * ASPX_NODE_LINE)
        slot_bytes = ranks * ASPX_NODE_LINE; /* of Scatter, a line for each */
    area->slot_head = round_up(sizeof(struct aspx_node_slot) +
                                   ranks * sizeof(uint64_t),
                               ASPX_NODE_LINE);
    area->slot_bytes = round_up(slot_bytes, (size_t) sysconf(_SC_PAGESIZE));
    area->map_bytes = slots_at(area) +
                      2 * ranks * (area->slot_head + area->slot_bytes);
}

void aspx_node_find_parts(struct aspx_node_area *area, void *map)
{
    area->map = map;
    area->flags = (void *) ((char *) map + ASPX_NODE_LINE);
    area->slots = (char *) map + slots_at(area);
}
