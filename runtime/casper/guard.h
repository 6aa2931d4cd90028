/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread in each user rank that sleeps until a ghost of its node dies, since
 * an origin would wait for a dead ghost for ever. */
#ifndef ASPEN_RUNTIME_CASPER_GUARD_H
#define ASPEN_RUNTIME_CASPER_GUARD_H

#include "engine.h"

/* Watch the ghosts of this node. Quietly none where pidfds do not exist. */
void aspx_guard_start(const struct aspx_engine *engine);

/* The ghosts are about to leave: their end is no accident any more. */
void aspx_guard_stop(void);

#endif
