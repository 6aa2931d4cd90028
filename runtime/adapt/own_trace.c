/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "own_trace.h"

#include <pthread.h>

static struct aspx_trace trace;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void aspx_own_trace_start(void)
{
    aspx_trace_begin(&trace, aspx_trace_clock());
}

void aspx_own_trace_window(int by, bool on)
{
    pthread_mutex_lock(&mutex);
    aspx_trace_thing(&trace, aspx_trace_clock(), by, on);
    pthread_mutex_unlock(&mutex);
}

void aspx_own_trace_switched(uint32_t order, bool on, int why)
{
    pthread_mutex_lock(&mutex);
    aspx_trace_switched(&trace, aspx_trace_clock(), (int32_t) order, on, why);
    pthread_mutex_unlock(&mutex);
}

struct aspx_trace *aspx_own_trace_close(void)
{
    aspx_trace_close(&trace, aspx_trace_clock());
    return &trace;
}
