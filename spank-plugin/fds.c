/* SPDX-License-Identifier: BSD-3-Clause */
/* Called in the agent's process before exec, and in a ghost's helper. */
#include "config.h"

#include "fds.h"

#include <sys/syscall.h>
#include <unistd.h>

enum { FD_MAX_WITHOUT_CLOSE_RANGE = 65536 };

void asps_close_from(unsigned first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0U, 0) == 0)
        return;
#endif
    for (unsigned fd = first; fd < FD_MAX_WITHOUT_CLOSE_RANGE; fd++)
        close((int) fd);
}
