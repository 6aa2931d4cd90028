/* SPDX-License-Identifier: BSD-3-Clause */
/* How long the thread may nap between two looks at MPI. A call of the program
 * ends a nap at once; what comes from elsewhere, and what ends meanwhile, waits
 * for the end of the nap. */
#ifndef ASPEN_RUNTIME_OFFLOAD_BACKOFF_H
#define ASPEN_RUNTIME_OFFLOAD_BACKOFF_H

#include "command.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    ASPX_OFFLOAD_NAP_FIRST_US = 20, /* they grow from there */
    ASPX_OFFLOAD_NAP_DIRECT_CALL_US = ASPX_NAP_AWAITED_US,
    ASPX_OFFLOAD_NAP_MAX_US = 1000,
    ASPX_OFFLOAD_NAP_IDLE_US = 2000,  /* nothing is under way */
    ASPX_OFFLOAD_NAP_ALONE_US = 4000, /* and there has been no window */
};

/* Why it may be long, or not. */
struct aspx_nap_reasons {
    bool own;          /* the thread has a CPU of its own */
    bool direct_calls; /* some are inside MPI (direct_call.h) */
    bool awaited;      /* a caller sleeps */
    bool pending;      /* operations are under way */
    bool window;       /* there has been one: others may want something here */
};

/* The longest nap. Guests mostly make progress for all, and what is looked for
 * here is but what has ended: elsewhere than on a CPU of its own each look may
 * take the CPU from a guest that is late. But some of their calls make none, as
 * those on files. */
static inline uint32_t aspx_nap_longest_us(struct aspx_nap_reasons why)
{
    if (why.direct_calls && (why.awaited || why.pending || why.window))
        return why.own ? ASPX_OFFLOAD_NAP_FIRST_US
                       : ASPX_OFFLOAD_NAP_DIRECT_CALL_US;
    if (why.awaited)
        return ASPX_OFFLOAD_NAP_FIRST_US;
    if (why.pending)
        return ASPX_OFFLOAD_NAP_MAX_US;
    return why.window ? ASPX_OFFLOAD_NAP_IDLE_US : ASPX_OFFLOAD_NAP_ALONE_US;
}

/* The nap after one of last_us; 0: the first. */
static inline uint32_t aspx_nap_next_us(uint32_t last_us, uint32_t longest_us)
{
    if (last_us == 0)
        return ASPX_OFFLOAD_NAP_FIRST_US;
    return 2 * last_us < longest_us ? 2 * last_us : longest_us;
}

#endif
