/* SPDX-License-Identifier: BSD-3-Clause */
/* The variables of state.h. */
#include "config.h"

#include "state.h"

struct aspx_real aspx_behind, aspx_offload_entries;
_Thread_local bool aspx_offload_self ASPX_TLS, aspx_in_direct_call ASPX_TLS;
_Atomic uint32_t aspx_direct_calls;
bool aspx_offload_many;
_Atomic bool aspx_offload_handlers_set, aspx_offload_has_unseen,
    aspx_offload_had_caller_progressed;
int aspx_offload_ranks = INT32_MAX;
struct aspx_offload_counts aspx_offload_counts;
struct aspx_callbacks aspx_callbacks;
