/* SPDX-License-Identifier: BSD-3-Clause */
/* The device below MPI, as far as waiting is concerned: the rest of Aspen asks
 * for it here, and names neither UCX nor libfabric. Which device is in use is
 * told by what MPI opens.
 *
 *     aspx_net_enter()     before MPI_Init
 *     aspx_net_lead_polls(), aspx_net_count()     who polls, does it move
 *
 *     poll MPI until nothing comes
 *        |
 *     aspx_net_arm() ---ASPX_NET_BUSY: something has come---> poll MPI again
 *        | ASPX_NET_WOKEN: from now on what comes makes a descriptor readable
 *     aspx_net_wait(signals) for a bounded time
 *
 * Senders need nothing of this. What passes the device by, such as messages
 * within a node where MPI has shared memory of its own (device.h), neither
 * counts nor wakes: there senders ring (casper/arena/arena.h).
 *
 * Threads: the one that polls MPI; nobody else may be inside MPI while it
 * arms. */
#ifndef ASPEN_RUNTIME_NET_NET_H
#define ASPEN_RUNTIME_NET_NET_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* What is wanted of the device; each with all before it. */
enum aspx_net_use {
    ASPX_NET_NAMED,  /* which one it is: it works as if nobody looked */
    ASPX_NET_POLLED, /* its polls are seen */
    ASPX_NET_WAITED, /* this process blocks on its events */
};

/* Before MPI_Init, after aspx_real_resolve(). The first call counts. */
void aspx_net_enter(enum aspx_net_use use);

/* One iteration of MPI's progress at the device. Returns the number of events
 * that it handled. `queue` is handed on. */
typedef unsigned aspx_net_poll_f(void *queue);

/* Stand in front of the polls of the device in use: *before_p becomes what
 * polled so far. Nothing is done if it is set. Returns whether it is: false
 * where polls are not seen. After MPI_Init. */
bool aspx_net_lead_polls(aspx_net_poll_f *front, aspx_net_poll_f **before_p);

/* Count events from now on. After MPI_Init; any thread, but one at a time;
 * idempotent. */
void aspx_net_count(void);

/* Events so far, whoever polled; 0 where polls are not seen. For a caller that
 * is alone inside MPI. */
uint64_t aspx_net_events(void);

/* Do events tell of all messages? Not where polls are not seen, and where MPI
 * has shared memory of its own beside the device. After aspx_net_count(). */
bool aspx_net_sees_all(void);

/* Why this process cannot wait for events. */
enum aspx_net_deaf {
    ASPX_NET_HEARS,     /* it can */
    ASPX_NET_NO_DEVICE, /* none that is known and outside MPI's own library */
    ASPX_NET_NO_EVENTS, /* the device, or its provider, has none */
    ASPX_NET_SEVERAL,   /* MPI has queues that cannot be waited for */
    ASPX_NET_FAILED,    /* arming failed, or the program closed a descriptor */
    ASPX_NET_UNHEARD,   /* ranks of its node cannot wake it */
    ASPX_NET_LATE,      /* messages came without waking it */
    ASPX_NET_DEAF_REASONS
};

/* After MPI_Init. */
enum aspx_net_deaf aspx_net_deaf(void);

/* Do not wait for events any more; the first reason stays. */
void aspx_net_set_deaf(enum aspx_net_deaf why);

/* The reason as a few words, "" for ASPX_NET_HEARS. Static. */
const char *aspx_net_deaf_text(enum aspx_net_deaf why);

enum aspx_net_wait {
    ASPX_NET_WOKEN,     /* by the device or a signal */
    ASPX_NET_TIMED_OUT, /* nothing in us microseconds */
    ASPX_NET_BUSY,      /* did not block: something has come, poll MPI */
    ASPX_NET_CANNOT,    /* did not block, and never will */
};

/* Returns ASPX_NET_WOKEN when armed, ASPX_NET_BUSY or ASPX_NET_CANNOT. */
enum aspx_net_wait aspx_net_arm(void);

/* Block for us microseconds at most: also on the device's events if it is
 * armed. What woke it before may keep a descriptor readable until it is.
 *   signals  the mask while it blocks, as of ppoll(); NULL: as it is */
enum aspx_net_wait aspx_net_wait(const sigset_t *signals, uint32_t us);

/* Where a process is, as far as shared memory of the device cares. All zeros:
 * not known. */
struct aspx_net_place {
    uint64_t host; /* a hash of the kernel's boot id */
    uint64_t ipc;  /* its namespace: UCX shares memory within one */
    uint64_t net;  /* its namespace: UCX's wake-ups stay within one */
};

void aspx_net_place(struct aspx_net_place *place);

/* May the two share memory without being able to wake each other?  UCX's sender
 * wakes a receiver through an abstract Unix socket, which is of the sender's
 * network namespace. */
bool aspx_net_unheard(const struct aspx_net_place *one,
                      const struct aspx_net_place *other);

#endif
