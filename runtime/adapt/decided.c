/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "decided.h"

static const char *const names[] = {
    [ASPX_DECIDED_PREDICTOR] = "predictor",
    [ASPX_DECIDED_ON] = "on",
    [ASPX_DECIDED_OFF] = "off",
    [ASPX_DECIDED_TRIAL] = "trial",
    [ASPX_DECIDED_NOTHING] = "nothing",
};

const char *aspx_decided_name(int32_t to)
{
    return names[to];
}
