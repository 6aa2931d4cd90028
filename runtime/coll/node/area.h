/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory that the ranks of one communicator on one node share for its
 * collectives: flags and two slots of each rank. A file without a name where
 * the others may open it through /proc, else an object of /dev/shm that loses
 * its name at once; all of it is allocated when it is made, so that a full
 * memory is an error then and no signal later. */
#ifndef ASPEN_RUNTIME_COLL_NODE_AREA_H
#define ASPEN_RUNTIME_COLL_NODE_AREA_H

#include "common/base/err.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct aspx_node_area;
struct aspx_real;

/* Room of a slot: what goes at once, at most. Two of each rank are within its
 * share of most second-level caches. */
enum { ASPX_NODE_SLOT_BYTES = 65536 };

/* Who takes part. */
struct aspx_node_place {
    const struct aspx_real *mpi; /* through which MPI is called; borrowed.
                                    NULL: aspx_real */
    MPI_Comm comm;      /* private; MPI_ERRORS_RETURN; borrowed until the free.
                           Waiting ranks call MPI_Iprobe on it, nothing else */
    const int *members; /* ranks in comm on this node, ascending */
    uint32_t count;     /* of them, 1..ASPX_NODE_RANKS_MAX */
    uint32_t index;     /* of this rank among them */
};

/* Make the area of this node. Collective over comm, whose nodes each make their
 * own: two MPI_Allgathers and two MPI_Allreduces at most.
 *   slot_bytes  ASPX_NODE_SEGMENT_MIN.., rounded up to pages; the same on all
 * Returns it; or NULL with errno and text, on all ranks of comm or on none.
 * ENOSPC, ENOMEM: memory; EFBIG: RLIMIT_FSIZE; EPROTO: another rank could not,
 * and its text says why. */
struct aspx_node_area *aspx_node_area_make(const struct aspx_node_place *place,
                                           size_t slot_bytes,
                                           struct asp_err *err);

/* The same for other memory of the ranks of a node, zeroed but for 16 bytes at
 * its begin.
 *   bytes   whole pages; those from `filled` on get memory when they are first
 *           written, and who writes them looks whether there is some
 * Returns where it is mapped here. */
void *aspx_node_memory_make(const struct aspx_node_place *place, size_t bytes,
                            size_t filled, struct asp_err *err);
void aspx_node_memory_free(void *memory, size_t bytes);

/* What waiting ranks call to keep MPI going, instead of MPI_Iprobe: for a mode
 * in which another thread is inside MPI. Threads: that of the operations. */
void aspx_node_area_set_poll(struct aspx_node_area *area,
                             void (*poll)(void *arg), void *arg);

/* Local; takes NULL. No operation of this rank is in progress; those of others
 * still find what this rank has left for them. */
void aspx_node_area_free(struct aspx_node_area *area);

#endif
