/* SPDX-License-Identifier: BSD-3-Clause */
/* Entering MPI beside the offload thread, and leaving it. */
#include "config.h"

#include "direct_call.h"

#include "callback.h"
#include "command.h"

static bool allowed;
static atomic_bool streams; /* there may be some */
static atomic_bool lists;   /* and lists of them */

void aspx_direct_call_allow(int level)
{
    allowed = level == MPI_THREAD_MULTIPLE;
}

void aspx_direct_call_expect_streams(void)
{
    atomic_store(&streams, true);
}

void aspx_direct_call_expect_lists(void)
{
    atomic_store(&lists, true);
}

static bool may_use_stream(MPI_Comm comm)
{
#ifdef MPIX_STREAM_NULL
    MPIX_Stream stream = MPIX_STREAM_NULL;

    if (!atomic_load_explicit(&streams, memory_order_relaxed))
        return false;
    return comm == MPI_COMM_NULL || atomic_load(&lists) ||
           aspx_behind.MPIX_Comm_get_stream(comm, 0, &stream) != MPI_SUCCESS ||
           stream != MPIX_STREAM_NULL;
#else
    (void) comm;
    return false;
#endif
}

static void nothing(void *unused)
{
    (void) unused;
}

bool aspx_direct_call_enter(MPI_Comm comm)
{
    if (!allowed || !aspx_offload_twins() || may_use_stream(comm))
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
