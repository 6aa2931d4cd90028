/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "adapt.h"
#include "trace.h"

#include "runtime/profile/predict.h"
#include "runtime/profile/profile.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool able;
static const char *mode = "off";
static double interval_s;

/* The profile: its wish, and the share of the time in MPI that led to it, in
 * percent. One for all windows. */
static bool profiled;
static struct aspx_predict predict;
static int percent;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

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

static double number(const struct asp_layout *layout, const char *knob,
                     const char *otherwise)
{
    return strtod(asp_layout_knob(layout, knob, otherwise), NULL);
}

void aspx_adapt_start(const struct asp_layout *layout, bool is_able)
{
    able = is_able;
    mode = asp_layout_knob(layout, "adapt", "off");
    profiled = able && strcmp(mode, "profile") == 0;
    interval_s = number(layout, "adapt.interval_ms", "1000") / 1000;
    aspx_trace_start();
    if (!profiled)
        return;
    aspx_profile_start();
    aspx_predict_init(&predict, interval_s,
                      number(layout, "adapt.high", "90") / 100,
                      number(layout, "adapt.low", "85") / 100,
                      aspx_trace_clock(), aspx_profile_mpi_seconds());
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

static bool was_said(enum aspx_async said)
{
    return said == ASPX_ASYNC_ON || said == ASPX_ASYNC_OFF;
}

static bool wish_of_profile(void)
{
    double now = aspx_trace_clock(), mpi = aspx_profile_mpi_seconds();
    bool on, was;
    double share;

    pthread_mutex_lock(&mutex);
    was = predict.on;
    share = now > predict.last_t
                ? (mpi - predict.last_mpi) / (now - predict.last_t) : 0;
    on = aspx_predict_update(&predict, now, mpi);
    if (on != was)
        percent = (int) (100 * share + 0.5);
    pthread_mutex_unlock(&mutex);
    return on;
}

bool aspx_adapt_wish(enum aspx_async said)
{
    if (was_said(said))
        return said == ASPX_ASYNC_ON;
    return !profiled || wish_of_profile();
}

int aspx_adapt_why(enum aspx_async said)
{
    return was_said(said) || !profiled ? ASPX_WHY_ASKED : percent;
}
