/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators whose messages ghosts carry. All ranks of one agree on it
 * in the call that makes it; then each message of it goes that way, of every
 * size, so that one process matches them all (docs/design/p2p.md). */
#ifndef ASPEN_RUNTIME_P2P_COMM_H
#define ASPEN_RUNTIME_P2P_COMM_H

#include "common/layout/layout.h"
#include "common/rules/objrule.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct aspx_p2p_comm {
    MPI_Comm comm;
    /* None twice in a job: the rank in MPI_COMM_WORLD of its rank 0, and how
     * many that one has numbered. */
    uint64_t number;
    int32_t rank, size;
    uint32_t *users; /* rank in MPI_COMM_WORLD of each of its ranks */
    /* Messages of so many bytes and less are MPI's, which sender and receiver
     * know alike (mpi_assert_exact_length); -1: none is. */
    int64_t small;
    bool by_knob; /* neither a rule nor the program says that */
    /* What the program says by info keys, which duplicates inherit: enum
     * asp_p2p
     * + 1 or 0, and whether it promises exact lengths. */
    uint64_t said;
    bool exact;
};

/* Begin with MPI_COMM_WORLD and MPI_COMM_SELF. Collective over MPI_COMM_WORLD.
 *   can  this rank has a ghost that carries its messages
 * Returns whether all can; then ghosts carry those of communicators for which
 * the policy or the program says so. */
bool aspx_p2p_comm_start(const struct asp_layout *layout, bool can);

/* Of a handle; NULL: its messages are MPI's, or were given back to it. */
const struct aspx_p2p_comm *aspx_p2p_comm_of(MPI_Comm comm);

/* From now on messages are MPI's, but for communicators of which a rule or the
 * program says something. On all ranks at once. */
void aspx_p2p_comms_give_back(void);

/* A call has made a communicator, or MPI_COMM_NULL, or failed. Collective over
 * it. Returns rc.
 *   like  what it is a duplicate of; MPI_COMM_NULL: of none */
int aspx_p2p_comm_made(int rc, MPI_Comm like, MPI_Info info,
                       const MPI_Comm *comm);

/* Communicators so far of which this process is rank 0, for the record: so each
 * counts once. MPI_COMM_SELF counts in rank 0 of MPI_COMM_WORLD. */
struct aspx_p2p_comms {
    _Atomic uint64_t carried, left; /* to MPI */
    _Atomic uint64_t as_all;        /* carried: large, without the promise */
    _Atomic uint64_t held[ASP_OBJRULES_MAX]; /* for which this rule holds */
};
extern struct aspx_p2p_comms aspx_p2p_comms;

/* The rules that are in force, the same in all processes. */
const struct asp_objrules *aspx_p2p_rules(void);

#endif
