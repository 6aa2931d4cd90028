/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules of messages, for those between the leaders of nodes, too. */
#ifndef ASPEN_RUNTIME_COLL_ALGORITHMS_MESSAGES_H
#define ASPEN_RUNTIME_COLL_ALGORITHMS_MESSAGES_H

#include "list.h"

#include "runtime/coll/comm/coll_config.h"

/* Fill in config->messages. Returns 0, or -1 with the reason. */
int aspx_coll_parse_messages(const char *text, struct aspx_coll_config *config,
                             struct asp_err *err);

/* Add the schedules for a problem, the best by the simulator first.
 *   common  what their configurations have in common
 *   more    what each takes besides, us */
void aspx_coll_list_messages(struct aspx_coll_list *list,
                             const struct aspx_coll_config *common,
                             const struct asp_coll_problem *problem,
                             double more);

#endif
