/* SPDX-License-Identifier: BSD-3-Clause */
/* The event descriptor of MPICH's UCX worker; defined in arming_preload.c, and
 * looked up by arming_app.c. */
#ifndef ASPEN_BENCH_ARMING_H
#define ASPEN_BENCH_ARMING_H

#include <stdbool.h>

#define ARMING_EXPORT __attribute__((visibility("default")))

/* Returns false where something has come: poll MPI, and try again. */
typedef bool arming_arm_f(void);
ARMING_EXPORT arming_arm_f arming_arm;

/* Returns whether the descriptor is readable within so many milliseconds. */
typedef bool arming_wait_f(int ms);
ARMING_EXPORT arming_wait_f arming_wait;

#endif
