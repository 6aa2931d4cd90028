/* SPDX-License-Identifier: BSD-3-Clause */
/* Built-in machines. The numbers inside a node are those of shared memory of
 * the time; copy and reduce are those of one core. */
#include "common/coll/model/simulate.h"

#include <errno.h>
#include <string.h>

const struct asp_coll_machine asp_coll_machines[] = {
    {
        .name = "sun",
        .source = "Sun Constellation with InfiniBand: L 2.0 us, o 0.5 us, "
                  "g 2.0 us, G 1 ns/B; Nishtala, thesis (2009), table 5.1. "
                  "Inside: a cache line of an Opteron of 2008, 2 GB/s",
        .inside = {250000, 150000, 50000, 500},
        .between = {2000000, 500000, 2000000, 1000},
        .copy = 400,
        .reduce = 500,
    },
    {
        .name = "infiniband",
        .source = "like HDR InfiniBand (200 Gb/s): 1.0 us and 24 GB/s between "
                  "nodes, as MPI benchmarks print them; inside: 0.3 us and "
                  "8 GB/s a pair, shared memory with one copy",
        .inside = {150000, 80000, 20000, 125},
        .between = {700000, 150000, 30000, 42},
        .copy = 80,
        .reduce = 125,
    },
    {
        .name = "tcp",
        .source = "like TCP over 10 Gb/s Ethernet: 25 us and 1.1 GB/s, with "
                  "3 us of the kernel at each end; inside as infiniband",
        .inside = {150000, 80000, 20000, 125},
        .between = {19000000, 3000000, 1000000, 900},
        .copy = 80,
        .reduce = 125,
    },
    {.name = NULL},
};

const struct asp_coll_machine *asp_coll_machine_find(const char *name)
{
    for (size_t i = 0; asp_coll_machines[i].name; i++)
        if (strcmp(asp_coll_machines[i].name, name) == 0)
            return &asp_coll_machines[i];
    errno = EINVAL;
    return NULL;
}
