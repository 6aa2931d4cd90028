/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "idle_hint.h"

void aspx_unwanted_say(struct aspx_unwanted *u, bool unwanted, uint64_t now_us)
{
    if (!unwanted)
        u->since_us = 0;
    else if (u->since_us == 0)
        u->since_us = now_us;
}

static bool within(uint64_t then_us, uint64_t now_us, uint64_t most_us)
{
    return then_us && now_us - then_us < most_us;
}

void aspx_unwanted_called(struct aspx_unwanted *u, uint64_t now_us)
{
    if (u->since_us == 0 || now_us - u->since_us <= ASPX_UNWANTED_LATE_US)
        return;
    if (!within(u->called_us, now_us, ASPX_UNWANTED_AGAIN_US))
        u->first_us = now_us;
    else if (now_us - u->first_us > ASPX_UNWANTED_ONCE_US)
        u->again_us = now_us;
    u->called_us = now_us;
}

bool aspx_unwanted_sure(const struct aspx_unwanted *u, uint64_t now_us)
{
    return u->since_us && !within(u->again_us, now_us, ASPX_UNWANTED_AGAIN_US);
}
