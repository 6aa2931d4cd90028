/* SPDX-License-Identifier: BSD-3-Clause */
/* Has a poll of MPI moved anything? MPI does not tell its callers. */
#ifndef ASPEN_RUNTIME_NET_MOVES_H
#define ASPEN_RUNTIME_NET_MOVES_H

#include <stdbool.h>

/* Poll, and tell: by the device's word; where that is not all (net.h) poll
 * twice and tell by the time that the second took, too. After aspx_net_count().
 *   alone  nobody else is inside MPI; otherwise a poll waits for them, and its
 *          time tells nothing
 * Threads: one. */
bool aspx_net_poll_moves(void (*poll)(void), bool alone);

#endif
