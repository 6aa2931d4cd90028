/* SPDX-License-Identifier: BSD-3-Clause */
/* The gate's slow ways: a call that waits, and the helper's side. */
#include "config.h"

#include "gate.h"

#include "runtime/base/futex.h"
#include "runtime/base/wait_table.h"

#include <ck_pr.h>

/* Of the gate, before a call sleeps: some 5 us. */
enum { LOOKS = 200 };

_Atomic uint32_t aspx_gate;

static _Thread_local bool helper __attribute__((tls_model("initial-exec")));

void aspx_gate_i_am_helper(void)
{
    helper = true;
}

bool aspx_gate_is_helper(void)
{
    return helper;
}

static uint32_t read_gate(void)
{
    return atomic_load_explicit(&aspx_gate, memory_order_acquire);
}

void aspx_gate_wait(void)
{
    uint32_t seen;

    if (helper)
        return;
    for (unsigned i = 0; i < LOOKS; i++) {
        if (!(read_gate() & ASPX_GATE_HELPER))
            return;
        ck_pr_stall();
    }
    while ((seen = read_gate()) & ASPX_GATE_HELPER)
        aspx_futex_wait(&aspx_gate, seen,
                        aspx_wait_table[ASPX_WAIT_GATE].max_us);
}

bool aspx_gate_try(void)
{
    uint32_t nobody = 0;

    if (read_gate() != 0)
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
        aspx_futex_wake(&aspx_gate);
}
