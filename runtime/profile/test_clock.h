/* SPDX-License-Identifier: BSD-3-Clause */
/* A clock that tests turn, and how near is near enough. */
#ifndef ASPEN_RUNTIME_PROFILE_TEST_CLOCK_H
#define ASPEN_RUNTIME_PROFILE_TEST_CLOCK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t now = 1000000, reads;

static uint64_t turned_clock(void)
{
    reads++;
    return now;
}

/* (cmocka's own macro compares floats.) */
static void near(double is, double wanted, double margin)
{
    if (fabs(is - wanted) > margin)
        fail_msg("%.9g instead of %.9g", is, wanted);
}

#endif
