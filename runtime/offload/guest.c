/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "guest.h"

#include "request.h"

#include <stdatomic.h>
#include <stdint.h>

_Thread_local bool aspx_guest_inside ASPX_TLS;

static bool allowed;
static _Atomic uint32_t inside; /* guests */

void aspx_guest_allow(int level)
{
    allowed = level == MPI_THREAD_MULTIPLE;
}

static void nothing(void *unused)
{
    (void) unused;
}

bool aspx_guest_enter(void)
{
    if (!allowed || !aspx_offload_twins())
        return false;
    if (!aspx_command_has_looked(aspx_command_posted()))
        aspx_request_in_thread(nothing, NULL);
    atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed);
    aspx_offload_self = aspx_guest_inside = true;
    return true;
}

void aspx_guest_leave(void)
{
    aspx_offload_self = aspx_guest_inside = false;
    atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
}

bool aspx_guest_any(void)
{
    return atomic_load_explicit(&inside, memory_order_relaxed) != 0;
}
