/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "adapt.h"
#include "trace.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool able;
static const char *mode = "off";
static double interval_s;

enum aspx_async aspx_async_read(const char *value)
{
    static const char *const words[] = {
        [ASPX_ASYNC_ON] = "on",
        [ASPX_ASYNC_OFF] = "off",
        [ASPX_ASYNC_AUTO] = "auto",
        [ASPX_ASYNC_NATIVE] = "native",
    };

    for (unsigned w = ASPX_ASYNC_ON; w <= ASPX_ASYNC_NATIVE; w++)
        if (strcasecmp(value, words[w]) == 0)
            return (enum aspx_async) w;
    return ASPX_ASYNC_UNSAID;
}

void aspx_adapt_start(const struct asp_layout *layout, bool is_able)
{
    able = is_able;
    mode = asp_layout_knob(layout, "adapt", "off");
    interval_s = atof(asp_layout_knob(layout, "adapt.interval_ms", "1000")) /
                 1000;
    aspx_trace_start();
}

bool aspx_adapt_able(void)
{
    return able;
}

const char *aspx_adapt_mode(void)
{
    return mode;
}

double aspx_adapt_interval_s(void)
{
    return interval_s;
}

bool aspx_adapt_native(enum aspx_async said)
{
    return said == ASPX_ASYNC_NATIVE || (said == ASPX_ASYNC_OFF && !able);
}

bool aspx_adapt_wish(enum aspx_async said)
{
    return said != ASPX_ASYNC_OFF;
}

int aspx_adapt_why(enum aspx_async said)
{
    (void) said;
    return ASPX_WHY_ASKED;
}
