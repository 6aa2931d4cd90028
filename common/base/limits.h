/* SPDX-License-Identifier: BSD-3-Clause */
/* How large a step may be: every count that comes from outside is held against
 * these before it is used. */
#ifndef ASPEN_COMMON_BASE_LIMITS_H
#define ASPEN_COMMON_BASE_LIMITS_H

#include <stdint.h>

enum {
    ASP_RANKS_MAX = 1 << 20, /* tasks of a step */
    ASP_NODES_MAX = 1 << 16, /* of a step */
    ASP_TASKS_MAX = 1024,    /* tasks on one node */
    ASP_GHOSTS_MAX = 64,     /* per node */
};

#define ASP_RANK_NONE UINT32_MAX

#endif
