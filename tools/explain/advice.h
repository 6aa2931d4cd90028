/* SPDX-License-Identifier: BSD-3-Clause */
/* What the record of an earlier run says of the next one of the same program:
 * mode and ghosts per node, for mode auto (the knob `profile`). */
#ifndef ASPEN_TOOLS_EXPLAIN_ADVICE_H
#define ASPEN_TOOLS_EXPLAIN_ADVICE_H

#include "tools/record/record.h"

#include "common/policy/policy.h"

#include <stdio.h>

/* From a record. Returns false, with the reason in advice->why, when it is of
 * another program or shape; what facts do not say is not compared. */
bool aspt_advise(const struct aspt_record *record,
                 const struct asp_facts *facts, struct asp_advice *advice);

/* Resolve anew with the advice of the file that the resolved policy names, if
 * it does and auto is to choose. Says in remarks why it is left alone. Returns
 * 0 or what asp_policy_resolve() does. */
int aspt_advice_take(struct asp_policy *policy, const struct asp_facts *facts,
                     FILE *remarks, struct asp_err *err);

#endif
