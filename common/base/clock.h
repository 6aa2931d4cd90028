/* SPDX-License-Identifier: BSD-3-Clause */
/* Milliseconds of a clock that does not go back, for deadlines. */
#ifndef ASPEN_COMMON_BASE_CLOCK_H
#define ASPEN_COMMON_BASE_CLOCK_H

#include <time.h>

static inline long long asp_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

#endif
