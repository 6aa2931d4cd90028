/* SPDX-License-Identifier: BSD-3-Clause */
/* A tunable call, from its arguments to what carries it out. */
#ifndef ASPEN_RUNTIME_COLL_SELECT_TUNE_H
#define ASPEN_RUNTIME_COLL_SELECT_TUNE_H

#include "runtime/coll/call/call.h"

#include <stdbool.h>

/* Have the ranks agreed? Else every call is MPI's. */
extern bool aspx_coll_active;

/* Did it begin in this process? Stays when it has ended. */
extern bool aspx_coll_began;

/* Returns what the call is to return. Threads: as MPI has it for calls on a
 * communicator. */
int aspx_coll_tuned(const struct aspx_coll_call *call);

#endif
