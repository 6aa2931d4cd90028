/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts what MPICH hands to UCX, in the program itself: its symbols come
 * before those of the library. */
#ifndef ASPEN_TESTS_COLL_COUNT_SENDS_H
#define ASPEN_TESTS_COLL_COUNT_SENDS_H

/* Messages that this process has sent. */
extern long count_sends;

#endif
