/* SPDX-License-Identifier: BSD-3-Clause */
/* A preload for machines with fewer processors than processes: MPICH over UCX
 * spins while it waits and has no setting that yields, so a handover between
 * two ranks on one processor costs a whole time slice. This gives the
 * processor up after a run of idle polls. Tests and benchmarks on few cores
 * preload it into every contender, with and without Aspen; a real cluster
 * never needs it.
 *
 * It defines no MPI function and can stand beside any library that does. */
#include "config.h"

#include <dlfcn.h>
#include <sched.h>

enum { IDLE_POLLS = 32 };

typedef unsigned progress_f(void *worker);

/* RTLD_NEXT does not see a UCX that was loaded into a scope of its own, as
 * Python and dlopen() do. */
static progress_f *find_progress(void)
{
    void *found = dlsym(RTLD_NEXT, "ucp_worker_progress");
    progress_f *progress;

    if (!found)
        found = dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD),
                      "ucp_worker_progress");
    *(void **) &progress = found;
    return progress;
}

/* Interposes UCX's progress call. */
__attribute__((visibility("default"))) unsigned ucp_worker_progress(
    void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static progress_f *progress;
    static __thread unsigned idle;
    unsigned events;

    if (!progress)
        progress = find_progress();
    events = progress(worker);
    if (events) {
        idle = 0;
    } else if (++idle >= IDLE_POLLS) {
        idle = 0;
        sched_yield();
    }
    return events;
}
