/* SPDX-License-Identifier: BSD-3-Clause */
/* Does anybody want a ghost? Its leader may know that no user of its node is to
 * have ghosts (adapt/node/node_controller.h). Some call for them all the same:
 * who has not heard of it yet, for some milliseconds; who makes a window or
 * frees it, once; and who takes locks, or has windows that were told to have
 * ghosts, again and again. Only the last is a reason to be awake. No clock: one
 * after the other, what happened when. */
#ifndef ASPEN_RUNTIME_CASPER_SERVER_IDLE_HINT_H
#define ASPEN_RUNTIME_CASPER_SERVER_IDLE_HINT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ASPX_UNWANTED_LATE_US = 20000,    /* so long it takes all to hear of it */
    ASPX_UNWANTED_ONCE_US = 20000,    /* calls of one occasion */
    ASPX_UNWANTED_AGAIN_US = 1000000, /* who comes back does so within this */
};

/* To begin with all 0. Microseconds of any clock that is not at 0. */
struct aspx_unwanted {
    uint64_t since_us;  /* when the leader said so first; 0: it does not */
    uint64_t first_us;  /* of calls that came all the same, one after another */
    uint64_t called_us; /* the last of them; 0: none yet */
    uint64_t again_us;  /* the last one of another occasion; 0: none yet */
};

/* What the leader says now. */
void aspx_unwanted_say(struct aspx_unwanted *u, bool unwanted, uint64_t now_us);

/* Somebody called. */
void aspx_unwanted_called(struct aspx_unwanted *u, uint64_t now_us);

/* Is it sure that nobody of this node minds if the ghost is slow to wake up? */
bool aspx_unwanted_sure(const struct aspx_unwanted *u, uint64_t now_us);

#endif
