/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy's rules for windows (common/rules/winrule.h), applied. What they
 * decide about a new window is the same in all its processes; docs/design/
 * window-rules.md says what may be decided when. */
#ifndef ASPEN_RUNTIME_CASPER_WINDOW_RULES_H
#define ASPEN_RUNTIME_CASPER_WINDOW_RULES_H

#include "request.h"

#include "common/rules/winrule.h"

#include "runtime/world/world.h"

#include <stdbool.h>
#include <stdint.h>

/* Agree on the rules. Collective over world->users. `listed`: windows are
 * counted even if there are no rules, because the record shall list them. */
void aspx_rules_start(const struct aspx_world *world, bool listed);

/* Are windows counted, or are there rules? Same in every process. */
bool aspx_rules_active(void);

/* Decide about a window that is to be made; replaces request->info where rules
 * set info keys. Collective over request->comm.
 * Returns MPI_SUCCESS, or the error class of a promise that the processes'
 * arguments break; the class is the same everywhere. */
int aspx_rules_choose(struct aspx_win_request *request);

/* Free what the verdict owns. */
void aspx_rules_done(struct aspx_verdict *verdict);

/* The last rule of `holds` that sets a key, or NULL; its value. */
const struct asp_objrule *aspx_rules_last(uint32_t holds,
                                          enum asp_winkey_id id);
const char *aspx_rules_value(uint32_t holds, enum asp_winkey_id id);

/* The rules of `could` that hold for a window of this name. */
uint32_t aspx_rules_named(uint32_t could, const char *name);

/* The rules; n is 0 when there are none. */
const struct asp_objrules *aspx_rules_all(void);

#endif
