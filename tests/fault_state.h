/* SPDX-License-Identifier: BSD-3-Clause */
/* States in which a ghost does not move though nobody sent it a signal. */
#ifndef ASPEN_TESTS_FAULT_STATE_H
#define ASPEN_TESTS_FAULT_STATE_H

/* Be in the state called `name` for as long as the file `during` exists:
 *
 *   asleep   S, in the kernel
 *   blocked  D, in the kernel
 *   busy     R, and computes
 *   held     t, by a tracer
 *   starved  R, while another process has the CPU; needs root
 *
 * Returns -1 for any other name. */
int fault_state(const char *name, const char *during);

#endif
