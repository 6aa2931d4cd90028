/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by publish.c, before the server starts. An allocation beyond the limit
 * ends the process, in the library: that costs the step its PMIx keys. */
#include "config.h"

#include "memory_limit.h"

#include <errno.h>
#include <sys/resource.h>

#define MIB (UINT64_C(1024) * 1024)

/* Seen with OpenPMIx 4.2.2: 18 MiB for a small step, 29 for 1024 tasks of a
 * step of a million ranks; a query for one of its process sets takes 310 bytes
 * per rank while it is answered, and several can come at once. Beside data
 * there are libraries and what malloc() reserves per thread: 240 MiB. */
enum { DATA_MIB = 64, RANK_BYTES = 1024, OTHER_MIB = 512 };

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

int aspa_memory_limit(uint32_t ranks, struct asp_err *err)
{
    uint64_t data = DATA_MIB * MIB + (uint64_t)RANK_BYTES * ranks;

    if (lower(RLIMIT_DATA, data) < 0 ||
        lower(RLIMIT_AS, data + OTHER_MIB * MIB) < 0)
        return asp_errf(err, errno, "cannot limit the agent's memory: %m");
    return 0;
}
