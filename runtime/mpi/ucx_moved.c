/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands before UCX's progress call, as libmpich calls it, and counts the calls
 * that reported an event. */
#include "config.h"

#include "ucx_moved.h"

#include "plt_patch.h"

#include <stdatomic.h>

typedef unsigned progress_f(void *worker);

static progress_f *progress; /* UCX's, or what stood in front of it */
static _Atomic uint64_t moved;

/* Polls of one worker are one at a time (MPICH's lock). Of several, one may not
 * be counted; who compares is alone inside MPI. */
static unsigned poll_and_count(void *worker)
{
    unsigned events = progress(worker);

    if (events)
        atomic_store_explicit(
            &moved, 1 + atomic_load_explicit(&moved, memory_order_relaxed),
            memory_order_relaxed);
    return events;
}

void aspx_ucx_moved_start(void)
{
    (void) aspx_plt_patch_lead("ucp_worker_progress", poll_and_count,
                               &progress);
}

uint64_t aspx_ucx_moved(void)
{
    return atomic_load_explicit(&moved, memory_order_relaxed);
}
