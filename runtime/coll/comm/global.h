/* SPDX-License-Identifier: BSD-3-Clause */
/* What all communicators share once the ranks have agreed. */
#ifndef ASPEN_RUNTIME_COLL_COMM_GLOBAL_H
#define ASPEN_RUNTIME_COLL_COMM_GLOBAL_H

#include "state.h"

#include "common/layout/layout.h"
#include "common/tune/search.h"
#include "common/tune/table.h"

#include <stdint.h>

/* Read the settings of the request. Returns whether there is anything to do. */
bool aspx_coll_prepare(const struct asp_layout *layout);

/* Agree with the other ranks (join.h). Returns whether collectives are tuned.
 */
bool aspx_coll_begin(const struct asp_layout *layout);

/* NULL: none. Its configurations, by the numbers of asp_tune_table.configs. */
const struct asp_tune_table *aspx_coll_table(void);
const struct aspx_coll_config *aspx_coll_table_config(uint32_t config);

/* How much may be tried. */
const struct asp_search_effort *aspx_coll_effort(void);

/* Of what all ranks have alike. */
uint64_t aspx_coll_seed(void);

/* The first of ASP_COLL_TAGS tags of an operation on its duplicate: not that of
 * the operations just before it, whose messages may still be under way. */
int aspx_coll_tag(struct aspx_coll_comm *comm);

/* Say once in this process why something is not as it could be. */
void aspx_coll_say_once(const struct asp_err *err);

#endif
