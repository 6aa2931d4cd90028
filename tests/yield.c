/* SPDX-License-Identifier: BSD-3-Clause */
/* A preload for machines with fewer processors than processes: MPICH spins
 * while it waits and has no setting that yields, so a handover between two
 * ranks on one processor costs a whole time slice. This gives the processor up
 * after a run of idle polls, of UCX, or of the sockets below libfabric's tcp.
 * Tests and benchmarks on few cores preload it into every contender, with and
 * without Aspen; a real cluster never needs it.
 *
 * It defines no MPI function and can stand beside any library that does. */
#include "config.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/epoll.h>

enum { IDLE_POLLS = 32 };

typedef unsigned progress_f(void *worker);
typedef int epoll_wait_f(int epoll, struct epoll_event *events, int room,
                         int timeout_ms);

static __thread bool in_ucx; /* whose tcp looks at its sockets likewise */

static void count_poll(bool idle)
{
    static __thread unsigned in_a_row;

    in_a_row = idle ? in_a_row + 1 : 0;
    if (in_a_row >= IDLE_POLLS) {
        in_a_row = 0;
        sched_yield();
    }
}

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
    unsigned events;

    if (!progress)
        progress = find_progress();
    in_ucx = true;
    events = progress(worker);
    in_ucx = false;
    count_poll(events == 0);
    return events;
}

/* Interposes the call by which libfabric's tcp looks at its sockets, in each
 * poll that MPICH makes. */
__attribute__((visibility("default"))) int epoll_wait(
    int epoll, struct epoll_event *events, int room, int timeout_ms)
{
    static epoll_wait_f *next;
    int ready;

    if (!next)
        *(void **) &next = dlsym(RTLD_NEXT, "epoll_wait");
    ready = next(epoll, events, room, timeout_ms);
    if (timeout_ms == 0 && !in_ucx)
        count_poll(ready == 0);
    return ready;
}
