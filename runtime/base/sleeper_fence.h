/* SPDX-License-Identifier: BSD-3-Clause */
/* Who goes to sleep announces it, then looks once more; who makes news
 * publishes it, then looks for sleepers. A full fence between the two steps on
 * each side means that one of them sees the other. Fences cost as much as a
 * message between CPUs, so where sleeps are rare the sleeper has the kernel put
 * one into all threads of the process (membarrier), and who makes news needs
 * none. Where the kernel knows none, both sides fence. */
#ifndef ASPEN_RUNTIME_BASE_SLEEPER_FENCE_H
#define ASPEN_RUNTIME_BASE_SLEEPER_FENCE_H

#include <linux/membarrier.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Once in each process: will the sleeper's be enough? */
static inline bool aspx_fence_is_sleepers(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
                   0) == 0;
}

/* Between publishing news and looking for sleepers. */
static inline void aspx_fence_of_news(bool is_sleepers)
{
    if (is_sleepers)
        atomic_signal_fence(memory_order_seq_cst); /* the compiler's order */
    else
        atomic_thread_fence(memory_order_seq_cst);
}

/* Between announcing a sleep and looking once more. */
static inline void aspx_fence_of_sleeper(bool is_sleepers)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (is_sleepers)
        (void) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

#endif
