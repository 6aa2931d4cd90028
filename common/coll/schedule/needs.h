/* SPDX-License-Identifier: BSD-3-Clause */
/* Which steps of a schedule wait for which: a part of asp_coll_finish(). */
#ifndef ASPEN_COMMON_COLL_SCHEDULE_NEEDS_H
#define ASPEN_COMMON_COLL_SCHEDULE_NEEDS_H

#include "common/coll/schedule/schedule.h"

/* Fill in needs_first and nneeds of all steps and s->needs. Needs that follow
 * from others may be left out. Returns 0, or -1 with errno ENOMEM. */
int asp_coll_needs(struct asp_coll_schedule *s);

#endif
