/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between ranks, carried by ghosts (docs/design/p2p.md). */
#ifndef ASPEN_RUNTIME_P2P_P2P_H
#define ASPEN_RUNTIME_P2P_P2P_H

#include "runtime/mpi/entry.h"

#include <stdint.h>

/* It starts if the knob p2p or a rule says so, in mode ghost. */
extern const struct aspx_interceptor aspx_p2p_interceptor;

/* This rank, for the record: 0 or 1. Set once, when the ranks join. */
struct aspx_p2p_join {
    uint64_t asked;  /* its messages were to be carried */
    uint64_t cannot; /* its ghost cannot; so none are, of any rank */
};
extern struct aspx_p2p_join aspx_p2p_join;

#endif
