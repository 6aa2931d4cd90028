/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests that the helper works for, by their handles.
 *
 * A request is watched from the call that posts it, or starts it, to the call
 * that tells the program of its end. Those calls ask before MPI is called
 * whether a request is watched, and say afterwards that it has ended: by then
 * MPI may have given the number to another thread's request. So a number can be
 * watched more than once.
 *
 * Threads: as many at a time as was said at the start. */
#ifndef ASPEN_RUNTIME_PROGRESS_WATCH_H
#define ASPEN_RUNTIME_PROGRESS_WATCH_H

#include "runtime/base/message_counts.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Atomic uint32_t aspx_watch_outstanding; /* watched, and not ended */
extern uint64_t aspx_watch_total; /* ... that the helper might work for */

/* Of these, reductions with a function of the program: while there are any the
 * helper must not make progress, because MPI would call that function in it. It
 * was written for the program's threads and may use what they compute with. */
extern _Atomic uint32_t aspx_watch_own;

/* From now on there always is one. */
void aspx_watch_own_for_good(void);

/* Before the first request: may several threads call at once? (They may until
 * it is said.) A program that enters MPI with one at a time needs no lock here:
 * the helper reads the number that is outstanding, and nothing else. */
void aspx_watch_set_many(bool many_threads);

/* From now on others see there how many were watched; NULL: no more. */
void aspx_watch_publish(struct aspx_message_counts *to);

/* Nothing is watched any more; which requests are persistent is kept. */
void aspx_watch_clear(void);

/* Posted; own: a reduction with a function of the program. When the table is
 * full it is not remembered: many others are, and the helper works for all, or
 * after one that is own for none. */
void aspx_watch_add(MPI_Request request, bool own);

/* A persistent request was made, which is to be watched when it is started. */
void aspx_watch_persistent(MPI_Request request, bool own);

/* It was started. Returns whether it is watched. */
bool aspx_watch_started(MPI_Request request);

/* Is it outstanding? */
bool aspx_watch_has(MPI_Request request);

/* It has ended: the program was told. */
void aspx_watch_end(MPI_Request request);

/* The number is MPI's again. */
void aspx_watch_forget(MPI_Request request);

#endif
