/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests that MPI has and that have not ended. Offload thread only. */
#ifndef ASPEN_RUNTIME_OFFLOAD_FLIGHT_H
#define ASPEN_RUNTIME_OFFLOAD_FLIGHT_H

#include "guest.h"
#include "offload.h"
#include "slot.h"

#include <stdbool.h>
#include <stdint.h>

/* slot->real is under way from now on; or it was over when MPI had taken it, and
 * ends here. The slot may be somebody else's then. */
void aspx_flight_add(struct aspx_slot *slot);

/* It is no more, and was not completed. */
void aspx_flight_remove(const struct aspx_slot *slot);

/* Let MPI make progress, and end what has ended. Returns how many. */
uint32_t aspx_flight_poll(void);

/* The same, for all that is under way. */
uint32_t aspx_flight_poll_all(void);

/* In an error handler that was called by a poll: end this one, if it was there
 * before and has ended. */
void aspx_flight_test_older(const struct aspx_slot *slot);

/* Is this an error handler that is told of this one's failure? For it the
 * request is no more, as MPI has it. */
static inline bool aspx_flight_is_told(const struct aspx_slot *slot)
{
    return aspx_offload_is_self() && !aspx_guest_inside && slot->tested;
}

uint32_t aspx_flight_count(void);

/* MPI has ended, and with it what was under way: nobody waits for that any
 * more. */
void aspx_flight_forget(void);

#endif
