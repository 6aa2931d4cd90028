/* SPDX-License-Identifier: BSD-3-Clause */
/* Large messages that were matched: piece by piece into the receiver's mailbox,
 * from where it copies them when it looks, or, where its buffer is in the
 * arena, there. A piece that finds no room waits, with its sender's data where
 * they are. */
#ifndef ASPEN_RUNTIME_CASPER_SERVER_MESSAGE_TRANSFER_H
#define ASPEN_RUNTIME_CASPER_SERVER_MESSAGE_TRANSFER_H

#include "message.h"

/* Both are the transfer's from now on. Returns 0, or -1: no memory. */
int aspx_transfer_begin(struct aspx_ghost_message *message,
                        struct aspx_ghost_receive *receive);

/* A piece each. Returns whether something moved, or -1. */
int aspx_transfer_step(void);

bool aspx_transfer_is_busy(void);

#endif
