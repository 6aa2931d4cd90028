/* SPDX-License-Identifier: BSD-3-Clause */
/* How many large messages a rank has posted: the rank writes it while somebody
 * wants to know (progress/watch.c), its node's leader reads it
 * (adapt/node/node_stats.c). */
#ifndef ASPEN_RUNTIME_BASE_MESSAGE_COUNTS_H
#define ASPEN_RUNTIME_BASE_MESSAGE_COUNTS_H

#include <stdatomic.h>
#include <stdint.h>

struct aspx_message_counts {
    _Atomic uint64_t large;
    _Atomic uint64_t bursts; /* of these, the first after another had ended */
};

#endif
