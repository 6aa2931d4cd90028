/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "backoff.h"

static void in_vain(struct aspx_naps *naps)
{
    if (aspx_naps_may_be_woken(naps))
        naps->in_vain++;
}

static uint32_t longer(struct aspx_naps *naps)
{
    naps->us = naps->us < ASPX_NAP_FIRST_US ? ASPX_NAP_FIRST_US
                                            : naps->us + naps->us / 4;
    if (naps->us > ASPX_NAP_MOST_US)
        naps->us = ASPX_NAP_MOST_US;
    return naps->us;
}

static uint32_t first(struct aspx_naps *naps)
{
    return naps->us = ASPX_NAP_FIRST_US;
}

uint32_t aspx_naps_after(struct aspx_naps *naps, enum aspx_look found,
                         bool news)
{
    bool was = aspx_naps_may_be_woken(naps);

    naps->idle = 0;
    switch (found) {
    case ASPX_LOOK_KEPT_OUT:
        naps->near = 0;
        in_vain(naps);
        break;
    case ASPX_LOOK_NOTHING:
        if (!was) {
            naps->in_vain--;
            return first(naps);
        }
        if (naps->near > 0) {
            naps->near--;
            return naps->us = ASPX_NAP_NEAR_US;
        }
        break;
    case ASPX_LOOK_MOVED:
        naps->in_vain = 0;
        naps->near = ASPX_NAPS_NEAR - 1;
        return naps->us = ASPX_NAP_NEAR_US;
    }
    return news && was ? first(naps) : longer(naps);
}

uint32_t aspx_naps_idle(struct aspx_naps *naps, bool news)
{
    bool was = aspx_naps_may_be_woken(naps), begins = naps->idle == 0;

    naps->near = 0;
    if (news && !begins) { /* posted and over since the last nap */
        in_vain(naps);
        naps->idle = 0;
    }
    naps->idle++;
    if (was ? !begins && naps->us >= ASPX_NAP_IDLE_US
            : naps->idle > ASPX_NAPS_IDLE)
        return ASPX_NAP_SLEEP;
    return was && begins ? first(naps) : longer(naps);
}
