/* SPDX-License-Identifier: BSD-3-Clause */
/* What the policy says about one-sided communication, read once at start. */
#ifndef ASPEN_RUNTIME_CASPER_ARENA_SETTINGS_H
#define ASPEN_RUNTIME_CASPER_ARENA_SETTINGS_H

#include "engine.h"

#include "common/layout/layout.h"

/* Does this node have a device by which its MPI can do RDMA? 0 or 1. */
unsigned aspx_settings_device(void);

/* Would memory that is exposed to the transport here be pinned, or mapped once
 * more by every process? Then the arena, most of which is never used, must not
 * be exposed as a whole. 0 or 1. */
unsigned aspx_settings_pins(void);

/* Read the knobs rma.binding, rma.balance, rma.direct, adapt and ghost.active.
 *   device  every node has one, so that `auto` may count on it
 *   pins    some node says so */
void aspx_settings_read(struct aspx_settings *settings,
                        const struct asp_layout *layout, bool device,
                        bool pins);

#endif
