/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests that MPI has and that have not ended. Offload thread only. */
#ifndef ASPEN_RUNTIME_OFFLOAD_PENDING_H
#define ASPEN_RUNTIME_OFFLOAD_PENDING_H

#include "request_pool.h"

#include <stdbool.h>
#include <stdint.h>

/* So many requests MPI is asked about at once. */
enum { ASPX_PENDING_WINDOW = 64 };

/* In the offload thread, or a direct call: MPI was asked to take the operation,
 * and said rc. */
void aspx_request_posted(struct aspx_request *slot, int rc);

/* Likewise: the operation has ended so. */
void aspx_request_ended(struct aspx_request *slot, int rc);

/* It is no more, and was not completed. */
void aspx_pending_remove(struct aspx_request *slot);

/* Let MPI make progress, and end what has ended: of what was posted or asked
 * for lately, and of some of the others. Where that completes a sweep, so that
 * all have been looked at, that is published (aspx_command_looked()).
 *   run  so many of the commands taken have been carried out
 * Returns how many ended. */
uint32_t aspx_pending_poll(uint64_t run);

/* Somebody asks for these, a window's worth at most: test those that are under
 * way. Outside of polls a few of them count as posted lately from now on. */
void aspx_pending_test(struct aspx_request *const slots[], uint32_t count);

uint32_t aspx_pending_count(void);

/* MPI has ended, and with it what was under way: nobody waits for that any
 * more. */
void aspx_pending_forget(void);

#endif
