/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process has sent through UCX, by end point. Two halves of one
 * preload: count_ucx.c counts, count_messages.c says which process of
 * MPI_COMM_WORLD an end point leads to, and prints. */
#ifndef ASPEN_TESTS_COLL_COUNT_H
#define ASPEN_TESTS_COLL_COUNT_H

#include <stdbool.h>
#include <stddef.h>

/* messages: how often something was sent, typed: in how many of them the bytes
 * are not known, because UCX asks MPI to pack them piece by piece. */
struct count {
    long messages, bytes, typed;
};

/* Count from now on, or no longer; any thread. */
void count_switch(bool on);

/* The address that this process has told others, of *bytes bytes; NULL before
 * MPI has opened UCX. It stays. */
const void *count_own_address(size_t *bytes);

/* Call see(state, address, count) for each end point that was used since the
 * last call, and begin anew with zero. address: that of the process at the
 * other end, as long as the own one. */
void count_take(void (*see)(void *state, const void *address,
                            const struct count *count),
                void *state);

/* End points that had no place in the table, and what was sent to those. */
int count_lost(void);

#endif
