/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the ghosts that carry messages: one communicator and one tag, so that
 * what one says to another arrives in its order. Data of large messages have
 * tags of their own, of which the receiver has as many as it has pieces under
 * way.
 *
 *   sender's ghost                     receiver's ghost
 *     envelope (small: with data) ----->  matched
 *                 <----- matched (synchronous)
 *                 <----- pull: so many bytes from there on, with this tag
 *     piece ---------------------------->  landed
 *     cancel -------------------------->  still unexpected:
 *                 <----- cancelled */
#ifndef ASPEN_RUNTIME_CASPER_SERVER_MESSAGE_WIRE_H
#define ASPEN_RUNTIME_CASPER_SERVER_MESSAGE_WIRE_H

#include "message.h"

enum aspx_wire_verb {
    ASPX_WIRE_ENVELOPE,
    ASPX_WIRE_MATCHED,
    ASPX_WIRE_PULL,
    ASPX_WIRE_CANCEL,
    ASPX_WIRE_CANCELLED,
};

struct aspx_wire {
    uint8_t verb, flags; /* flags: of the post; pull: it is the last */
    uint16_t tag_data;   /* pull */
    uint32_t number;     /* of the send, at its ghost */
    uint64_t comm;
    uint32_t to;
    int32_t source, tag;
    uint32_t unused;
    uint64_t bytes;  /* of the message; of the piece */
    uint64_t offset; /* of the piece */
};

int aspx_wire_start(void);
void aspx_wire_stop(void);

/* Send; data of a small message go along. Returns 0, or -1. */
int aspx_wire_send(int32_t ghost, const struct aspx_wire *wire,
                   const void *data, uint64_t bytes);

/* Take what has come, and go on with what is under way. Returns whether there
 * was something, or -1. */
int aspx_wire_step(void);

/* Is so much under way that no more posts should be read? */
bool aspx_wire_is_full(void);
bool aspx_wire_is_busy(void);

#endif
