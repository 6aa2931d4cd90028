/* SPDX-License-Identifier: BSD-3-Clause */
/* The gate's slow ways: a call that waits, and the helper's side. */
#include "config.h"

#include "gate.h"

#include "runtime/base/await.h"

#include <stddef.h>

_Atomic uint32_t aspx_gate;

static struct aspx_event helper_left = {.kind = ASPX_EVENT_BOTH_FENCE};

static _Thread_local bool helper __attribute__((tls_model("initial-exec")));

void aspx_gate_i_am_helper(void)
{
    helper = true;
}

bool aspx_gate_is_helper(void)
{
    return helper;
}

static bool helper_is_out(void *unused)
{
    (void) unused;
    return !(atomic_load_explicit(&aspx_gate, memory_order_acquire) &
             ASPX_GATE_HELPER);
}

static struct aspx_event *event_of(void *unused)
{
    (void) unused;
    return &helper_left;
}

void aspx_gate_wait(void)
{
    static const struct aspx_await how = {
        .look = helper_is_out,
        .event = event_of,
        .row = &aspx_wait_table[ASPX_WAIT_GATE],
    };

    if (!helper)
        aspx_await(&how, NULL);
}

bool aspx_gate_try(void)
{
    uint32_t nobody = 0;

    if (atomic_load_explicit(&aspx_gate, memory_order_acquire) != 0)
        return false; /* its line stays with the call that is about to leave */
    return atomic_compare_exchange_strong_explicit(
        &aspx_gate, &nobody, ASPX_GATE_HELPER, memory_order_acquire,
        memory_order_relaxed);
}

void aspx_gate_out(void)
{
    uint32_t before = atomic_fetch_and_explicit(
        &aspx_gate, ~(uint32_t) ASPX_GATE_HELPER, memory_order_release);

    if (before >= ASPX_GATE_CALL)
        aspx_event_notify(&helper_left);
}
