/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters on the way of every operation. A locked instruction costs some 5 ns,
 * and there are several to an operation, so they are only taken where MPI lets
 * threads call at once (MPI_THREAD_MULTIPLE). */
#ifndef ASPEN_RUNTIME_BASE_COUNTER_H
#define ASPEN_RUNTIME_BASE_COUNTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* May several threads be in MPI at once? True until MPI_Init knows better. */
extern bool aspx_threads;

/* Add n; returns the sum. */
static inline uint64_t aspx_counter_add(_Atomic uint64_t *sum, uint64_t n)
{
    uint64_t now;

    if (aspx_threads)
        return atomic_fetch_add_explicit(sum, n, memory_order_seq_cst) + n;
    now = atomic_load_explicit(sum, memory_order_relaxed) + n;
    atomic_store_explicit(sum, now, memory_order_relaxed);
    return now;
}

#endif
