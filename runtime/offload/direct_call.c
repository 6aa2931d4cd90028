/* SPDX-License-Identifier: BSD-3-Clause */
/* Entering MPI beside the offload thread, and leaving it. */
#include "config.h"

#include "direct_call.h"

#include "callback.h"
#include "command.h"

static bool allowed;

void aspx_direct_call_allow(int level)
{
    allowed = level == MPI_THREAD_MULTIPLE;
}

static void nothing(void *unused)
{
    (void) unused;
}

bool aspx_direct_call_enter(void)
{
    if (!allowed || !aspx_offload_twins())
        return false;
    if (!aspx_command_has_looked(aspx_command_posted()))
        aspx_command_in_thread(nothing, NULL);
    aspx_callback_serve_if_asked();
    atomic_fetch_add(&aspx_direct_calls, 1);
    aspx_offload_self = aspx_in_direct_call = true;
    return true;
}

void aspx_direct_call_leave(void)
{
    aspx_offload_self = aspx_in_direct_call = false;
    atomic_fetch_sub(&aspx_direct_calls, 1);
    if (atomic_load(&aspx_callbacks.state) != ASPX_CALLBACK_NONE)
        aspx_callback_end_direct_call();
}
