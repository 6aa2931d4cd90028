/* SPDX-License-Identifier: BSD-3-Clause */
/* What `aspen explain coll` prints of a set of schedules. */
#ifndef ASPEN_TOOLS_EXPLAIN_COLL_H
#define ASPEN_TOOLS_EXPLAIN_COLL_H

#include "common/coll/model/simulate.h"

#include <stdio.h>

/* Schedules of all ranks of one configuration. */
struct aspt_coll {
    const struct asp_coll_problem *problem;
    const struct asp_coll_machine *machine;
    const struct asp_coll_schedule *schedules;
};

/* The tree, if each rank but the root has one parent, and the messages round by
 * round. Returns 0, or -1 with err. coll_draw.c. */
int aspt_coll_draw(FILE *to, const struct aspt_coll *coll, struct asp_err *err);

/* The schedules in the text form of LogGOPSim, GOAL: for each rank its steps as
 * "l1: send 8b to 1 tag 0", with calc for copies and reductions, in picoseconds
 * since a byte takes less than a nanosecond, and "l2 requires l1" for the
 * needs; in a comment how long our simulator has it take. Returns 0, or -1 with
 * err. coll_goal.c. */
int aspt_coll_goal(FILE *to, const struct aspt_coll *coll, struct asp_err *err);

#endif
