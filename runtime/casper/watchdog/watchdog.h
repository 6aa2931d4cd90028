/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread in each user rank that watches the ghosts of its node, since an
 * origin would wait for a lost ghost for ever. A ghost that dies is noticed
 * within two seconds, one that neither moves nor computes after
 * ghost.timeout_s: it is named and the job ends. */
#ifndef ASPEN_RUNTIME_CASPER_WATCHDOG_WATCHDOG_H
#define ASPEN_RUNTIME_CASPER_WATCHDOG_WATCHDOG_H

#include "runtime/casper/arena/engine.h"

/* Before the real MPI_Init: watch the ghosts that the board knows. Without a
 * board they are known only once the engine is up. */
void aspx_watchdog_start(const struct asp_layout *layout);

/* The real MPI_Init is over, so all ranks live: what follows has a limit. */
void aspx_watchdog_joining(void);

/* Ghosts serve from now on, and show heartbeats. */
void aspx_watchdog_serving(const struct aspx_engine *engine);

/* The ghosts are about to leave: their end is no accident any more. */
void aspx_watchdog_leaving(void);

/* MPI is finalized: wait until the ghosts of this node are gone, and see to it
 * that they go. */
void aspx_watchdog_finish(void);

/* Watch no more, for a process that stays without ghosts. */
void aspx_watchdog_stop(void);

#endif
