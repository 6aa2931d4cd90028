/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping on a word, bounded. */
#ifndef ASPEN_RUNTIME_BASE_FUTEX_H
#define ASPEN_RUNTIME_BASE_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleep while *word is value, us microseconds at most. */
static inline void aspx_futex_wait(_Atomic uint32_t *word, uint32_t value,
                                   uint32_t us)
{
    const struct timespec limit = {us / 1000000, us % 1000000 * 1000};

    (void) syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &limit, NULL, 0);
}

static inline void aspx_futex_wake(_Atomic uint32_t *word)
{
    (void) syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#endif
