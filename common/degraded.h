/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout that is written without a plan (common/layout/layout.h): the roles
 * of this node's tasks, which follow from the counts, and the reason. */
#ifndef ASPEN_COMMON_DEGRADED_H
#define ASPEN_COMMON_DEGRADED_H

#include <stdint.h>

/* A step as a node knows it; everything is borrowed. */
struct asp_degraded {
    const char *job;    /* "12.0" */
    const char *mode;   /* "ghost" */
    const char *reason; /* why there is no plan */
    const char *spec;   /* the request: what of it needs no plan is in it */
    uint32_t ghosts;    /* the last ones of this node's tasks */
    uint32_t ntasks;    /* of the step */
    uint32_t nnodes;
    uint32_t node;               /* this one */
    uint32_t nlocal;             /* tasks of this node */
    const uint32_t *ranks_world; /* nlocal of them; read if there are no ghosts:
                                    then the ranks are the launcher's */
};

/* Its text, for the caller to free(); NULL with errno ENOMEM. */
char *asp_degraded_layout(const struct asp_degraded *step);

#endif
