/* SPDX-License-Identifier: BSD-3-Clause */
/* A preload for ghosts that shall be late: it sleeps now and then instead of
 * polling, so that what was sent to a ghost is still under way when whoever
 * forgot to complete it goes on. For tests of what must be complete when. */
#include "config.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* One poll of so many sleeps, up to so long, or to ASPEN_LAG_US microseconds.
 */
enum { POLLS = 16, LONGEST_NS = 2000000 };

typedef unsigned progress_f(void *worker);

/* Interposes UCX's progress call. */
__attribute__((visibility("default"))) unsigned ucp_worker_progress(
    void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static progress_f *progress;
    static uint32_t state = 1;
    static long longest_ns = LONGEST_NS;
    struct timespec nap = {0, 0};

    if (!progress) {
        const char *us = getenv("ASPEN_LAG_US");

        *(void **) &progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
        longest_ns = us ? 1000 * atol(us) : LONGEST_NS;
    }
    state = state * 1664525u + 1013904223u;
    nap.tv_nsec = (long) (state >> 8) % longest_ns;
    if ((state >> 27) % POLLS == 0)
        nanosleep(&nap, NULL);
    return progress(worker);
}
