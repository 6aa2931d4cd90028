/* SPDX-License-Identifier: BSD-3-Clause */
/* It stands in front only where somebody makes requests of our own. */
#include "config.h"

#include "posted.h"

static bool wanted;

void aspx_posted_want(void)
{
    wanted = true;
}

static bool start(const struct asp_layout *layout)
{
    (void) layout;
    aspx_posted_polls = &aspx_posted_behind;
    return wanted;
}

const struct aspx_interceptor aspx_posted_interceptor = {
    .start = start,
    .leave = aspx_posted_leave,
    .fill = aspx_posted_fill,
    .behind = &aspx_posted_behind,
};
