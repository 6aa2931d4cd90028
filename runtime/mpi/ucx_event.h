/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking until UCX has something to do, so that a thread that makes progress
 * need not poll: UCX's worker has a file descriptor for that, which MPICH does
 * not ask for (UCP_FEATURE_WAKEUP). We ask in its place.
 *
 *     poll MPI until nothing comes
 *        |
 *     arm the worker ---UCS_ERR_BUSY: something has come---> poll MPI again
 *        | UCS_OK: from now on an event makes the descriptor readable
 *     ppoll(descriptor, doorbell, signals) for a bounded time
 *
 * UCX's transports look at whoever they send to, and signal only a receiver
 * that has armed: senders need nothing of this. Where a transport has no
 * events, where MPI has several workers, or none (another device), it says
 * ASPX_UCX_CANNOT, and the caller naps.
 *
 * Threads: the one that polls MPI; nobody else may be inside MPI while it arms.
 */
#ifndef ASPEN_RUNTIME_MPI_UCX_EVENT_H
#define ASPEN_RUNTIME_MPI_UCX_EVENT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Before MPI_Init, after aspx_real_resolve(): have libmpich's calls of UCX led
 * through us. Idempotent. */
void aspx_ucx_event_start(void);

/* Can this process block on UCX's events, as far as is known? True after
 * MPI_Init with one worker that has a descriptor, until arming fails. */
bool aspx_ucx_event_usable(void);

/* What UCX says goes past it: do not block on its events any more. */
void aspx_ucx_event_disable(void);

enum aspx_ucx_wait {
    ASPX_UCX_WOKEN,     /* UCX, the doorbell or a signal */
    ASPX_UCX_TIMED_OUT, /* nothing in us microseconds */
    ASPX_UCX_BUSY,      /* did not block: something has come, poll MPI */
    ASPX_UCX_CANNOT,    /* did not block, and never will */
};

/* Arm. Returns ASPX_UCX_WOKEN when armed, ASPX_UCX_BUSY or ASPX_UCX_CANNOT. */
enum aspx_ucx_wait aspx_ucx_event_arm(void);

/* Block for us microseconds at most: also on UCX's events if it is armed. What
 * woke it before may keep the descriptor readable until it is.
 *   doorbell  a descriptor that becomes readable, or -1
 *   signals   the mask while it blocks, as of ppoll(); NULL: as it is */
enum aspx_ucx_wait aspx_ucx_event_wait(int doorbell, const sigset_t *signals,
                                       uint32_t us);

/* Where a process is, as far as UCX's shared memory cares. All zeros: not
 * known.
 */
struct aspx_ucx_place {
    uint64_t host; /* a hash of the kernel's boot id */
    uint64_t ipc;  /* its namespace: UCX shares memory within one */
    uint64_t net;  /* its namespace: UCX's wake-ups stay within one */
};

void aspx_ucx_event_place(struct aspx_ucx_place *place);

/* May the two share memory without being able to wake each other?  A sender
 * wakes a receiver through an abstract Unix socket, which is of the sender's
 * network namespace. */
bool aspx_ucx_event_unheard(const struct aspx_ucx_place *one,
                            const struct aspx_ucx_place *other);

#endif
