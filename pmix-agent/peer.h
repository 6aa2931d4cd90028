/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is at the other end of a TCP connection within this machine. */
#ifndef ASPEN_PMIX_AGENT_PEER_H
#define ASPEN_PMIX_AGENT_PEER_H

#include "common/base/err.h"

#include <stdbool.h>

/* Was the other end of this connection made by a process of our own user? The
 * kernel says it, not the peer. What cannot be found out is not ours.
 * Threads: reentrant.  Cost: one question to the kernel, 10 us; at most
 * 1 s. */
bool aspa_peer_is_ours(int fd);

/* Does this kernel answer such questions at all? Asked about a socket of ours
 * that listens. Returns 0, or -1 with errno and text in err. */
int aspa_peer_check(int listening, struct asp_err *err);

#endif
