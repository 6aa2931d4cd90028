/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by publish.c, before the server starts. An allocation beyond the limit
 * ends the process, in the library: that costs the step its PMIx keys. */
#include "config.h"

#include "memory_limit.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#define KIB (UINT64_C(1024))
#define MIB (KIB * KIB)

/* Seen with OpenPMIx 4.2.2: 18 MiB for a small step, 29 for 1024 tasks of a
 * step of a million ranks; a query for one of its process sets takes 310 bytes
 * per rank while it is answered, and several can come at once. Beside data
 * there are libraries and what malloc() reserves per thread: 240 MiB. */
enum { DATA_MIB = 64, RANK_BYTES = 1024, OTHER_MIB = 512 };

/* All tasks of the node may ask for the job data at once, and each gets a copy
 * of its own: up to 253 bytes for each task of the node, the layout, and once
 * more what is in it, as maps of ranks and nodes. */
enum { ENTRY_BYTES = 384, TEXT_COPIES = 2 };

/* Of the library's threads. It would be RLIMIT_STACK, all of which counts as
 * data: a slurmd with a limit of 32 MiB would leave no room for them. This is
 * what libc takes where there is no limit. */
enum { STACK_MIB = 2 };

static int lower(int what, uint64_t most)
{
    struct rlimit now;

    if (getrlimit(what, &now) < 0)
        return -1;
    if (now.rlim_max > most)
        now.rlim_max = most;
    if (now.rlim_cur > now.rlim_max)
        now.rlim_cur = now.rlim_max;
    return setrlimit(what, &now);
}

static uint64_t job_data(const struct asp_layout *layout, const char *text)
{
    uint64_t one = TEXT_COPIES * strlen(text) +
                   (uint64_t) ENTRY_BYTES * layout->ntasks;

    return one * layout->ntasks;
}

static int set_stacks(void)
{
    pthread_attr_t attr;

    errno = pthread_attr_init(&attr);
    if (errno != 0)
        return -1;
    errno = pthread_attr_setstacksize(&attr, STACK_MIB * MIB);
    if (errno == 0)
        errno = pthread_setattr_default_np(&attr);
    pthread_attr_destroy(&attr);
    return errno == 0 ? 0 : -1;
}

int aspa_memory_limit(const struct asp_layout *layout, const char *text,
                      struct asp_err *err)
{
    uint64_t data = DATA_MIB * MIB + job_data(layout, text) +
                    (uint64_t) RANK_BYTES * layout->size_world;

    if (set_stacks() < 0 || lower(RLIMIT_DATA, data) < 0 ||
        lower(RLIMIT_AS, data + OTHER_MIB * MIB) < 0)
        return asp_errf(err, errno, "cannot limit the agent's memory: %m");
    return 0;
}
