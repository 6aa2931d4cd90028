/* SPDX-License-Identifier: BSD-3-Clause */
/* See moves.h. */
#include "config.h"

#include "moves.h"
#include "net.h"

#include "runtime/base/clock.h"

enum { BUSY_NS = 3000 /* a poll that finds nothing takes some 500 */ };

bool aspx_net_poll_moves(void (*poll)(void), bool alone)
{
    uint64_t before = aspx_net_events(), began;

    poll();
    if (aspx_net_sees_all() || !alone)
        return aspx_net_events() != before;
    /* After a nap the first one takes long because caches are cold; where more
     * than one message has come, the second does, too. */
    began = aspx_clock_ns(CLOCK_MONOTONIC);
    poll();
    return aspx_net_events() != before ||
           aspx_clock_ns(CLOCK_MONOTONIC) - began > BUSY_NS;
}
