/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests that MPI has and that have not ended. Offload thread only. */
#ifndef ASPEN_RUNTIME_OFFLOAD_FLIGHT_H
#define ASPEN_RUNTIME_OFFLOAD_FLIGHT_H

#include "slot.h"

#include <stdbool.h>
#include <stdint.h>

/* slot->real is under way from now on. */
void aspx_flight_add(struct aspx_slot *slot);

/* It is no more, and was not completed. */
void aspx_flight_remove(const struct aspx_slot *slot);

/* Let MPI make progress, and end what has ended. Returns how many. */
uint32_t aspx_flight_poll(void);

/* The same, for all that is under way. */
uint32_t aspx_flight_poll_all(void);

uint32_t aspx_flight_count(void);

#endif
