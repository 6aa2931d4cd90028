/* SPDX-License-Identifier: BSD-3-Clause */
/* libfabric. Its objects carry their functions in tables, so all that MPI does
 * is reached through the one function by which it begins:
 *
 *     fi_fabric() -> fabric -> its domain() -> domain -> its cq_open()
 *                                                           -> queue: read()
 *
 * Each object gets a copy of its table with the one function replaced. MPICH
 * opens its completion queues without anything to wait for; in a process that
 * waits for events we ask for a descriptor (FI_WAIT_FD), and open the queue as
 * MPICH wants it where the provider has none. libfabric is looked up at run
 * time; its header is needed to build, no library.
 *
 * Where libfabric is inside MPI's library, fi_fabric() is not called by name
 * and nothing is seen. */
#include "config.h"

#include "device.h"
#include "kind.h"

#include "runtime/mpi/plt_patch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

typedef int fabric_f(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
                     void *context);

/* A queue that MPI polls. */
struct queue {
    struct fid_cq *cq; /* NULL: this place is free */
    struct fi_ops_cq *its, *ours;
    struct fi_ops *its_base, *our_base;
    int fd; /* -1: there is nothing to wait for */
};

static enum aspx_net_use use;
static fabric_f *next_fabric;
static struct fid_fabric *fabric_in_use;
static char provider[64];
static struct fi_ops_fabric *its_fabric;
static struct fi_ops_domain *its_domain;
static struct queue queues[ASPX_NET_QUEUES_MAX];
static bool unled;    /* there is one that is not polled through here */
static bool reorders; /* some domain may let a Get overtake a Put */

/* A table of functions, which begins with its size, to be changed; NULL where
 * it has not the member that ends there. Lives to the end of the process. */
static void *copy_table(const void *table, size_t end)
{
    size_t bytes = table ? *(const size_t *) table : 0;
    void *copy = bytes >= end ? malloc(bytes) : NULL;

    return copy ? memcpy(copy, table, bytes) : NULL;
}

#define END_OF(type, member)                                                   \
    (offsetof(struct type, member) + sizeof(((struct type *) 0)->member))

static bool has_queues(void)
{
    for (size_t i = 0; i < ASPX_NET_QUEUES_MAX; i++)
        if (queues[i].cq)
            return true;
    return false;
}

/* Does what comes make the provider's descriptor readable? Others, psm2 and
 * psm3 among them, give one that only their own waits look after. */
static bool signals(void)
{
    static const char *const rows[] = {"tcp", "net", "cxi", "ofi_rxm"};
    const char *last = strrchr(provider, ';');

    last = last ? last + 1 : provider;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(last, rows[i]) == 0)
            return true;
    return false;
}

/* ---- polls ---------------------------------------------------------------- */

/* One read, as those in front of it hand it on. */
struct poll {
    struct queue *queue;
    void *entries;
    size_t room;
    ssize_t result; /* as of fi_cq_read() */
};

static unsigned read_queue(void *context)
{
    struct poll *poll = context;

    poll->result = poll->queue->its->read(poll->queue->cq, poll->entries,
                                          poll->room);
    /* An error is none: so ends each MPI_Iprobe that finds nothing. */
    return poll->result > 0 ? (unsigned) poll->result : 0;
}

static aspx_net_poll_f *_Atomic first = read_queue;

static struct queue *find_queue(const struct fid *fid)
{
    for (size_t i = 0; i < ASPX_NET_QUEUES_MAX; i++)
        if (queues[i].cq && &queues[i].cq->fid == fid)
            return &queues[i];
    abort(); /* cannot be: only queues with a place lead here */
}

static ssize_t read_through(struct fid_cq *cq, void *entries, size_t room)
{
    struct poll poll = {find_queue(&cq->fid), entries, room, 0};

    (void) atomic_load_explicit(&first, memory_order_acquire)(&poll);
    return poll.result;
}

static bool lead_polls(aspx_net_poll_f *front, aspx_net_poll_f **before_p)
{
    if (use < ASPX_NET_POLLED || !fabric_in_use)
        return false;
    *before_p = atomic_load(&first);
    atomic_store(&first, front);
    return true;
}

/* ---- objects, as MPI opens them ------------------------------------------- */

static int close_queue(struct fid *fid)
{
    struct queue *queue = find_queue(fid), was = *queue;
    int rc;

    was.cq->ops = was.its;
    fid->ops = was.its_base;
    queue->cq = NULL;
    rc = was.its_base->close(fid);
    if (rc == 0) {
        free(was.ours);
        free(was.our_base);
    } else { /* it is still in use */
        *queue = was;
        was.cq->ops = was.ours;
        fid->ops = was.our_base;
    }
    return rc;
}

static void take_queue(struct fid_cq *cq, bool has_descriptor)
{
    struct queue taken = {
        .cq = cq,
        .its = cq->ops,
        .its_base = cq->fid.ops,
        .ours = copy_table(cq->ops, END_OF(fi_ops_cq, read)),
        .our_base = copy_table(cq->fid.ops, END_OF(fi_ops, control)),
        .fd = -1,
    };
    size_t i = 0;

    while (i < ASPX_NET_QUEUES_MAX && queues[i].cq)
        i++;
    if (i == ASPX_NET_QUEUES_MAX || !taken.ours || !taken.our_base) {
        unled = true;
        free(taken.ours);
        free(taken.our_base);
        return;
    }
    if (has_descriptor && taken.its_base->control &&
        taken.its_base->control(&cq->fid, FI_GETWAIT, &taken.fd) != 0)
        taken.fd = -1;
    taken.ours->read = read_through;
    taken.our_base->close = close_queue;
    queues[i] = taken;
    cq->ops = taken.ours;
    cq->fid.ops = taken.our_base;
}

static int open_queue(struct fid_domain *domain, struct fi_cq_attr *attr,
                      struct fid_cq **cq, void *context)
{
    struct fi_cq_attr with_descriptor = *attr;
    bool asks = use == ASPX_NET_WAITED && attr->wait_obj == FI_WAIT_NONE &&
                signals() && its_fabric->trywait;
    int rc;

    with_descriptor.wait_obj = FI_WAIT_FD;
    rc = asks ? its_domain->cq_open(domain, &with_descriptor, cq, context)
              : -FI_ENOSYS;
    asks = rc == 0;
    if (!asks)
        rc = its_domain->cq_open(domain, attr, cq, context);
    if (rc == 0)
        take_queue(*cq, asks);
    return rc;
}

/* Does a Get come behind the Puts that are injected before it? Sent in order,
 * of all operations or of puts and gets, and with their data in order. */
static bool keeps_order(const struct fi_info *info)
{
    const struct fi_tx_attr *tx = info->tx_attr;

    if (!tx || !info->ep_attr)
        return false;
    return tx->inject_size == 0 ||
           ((tx->msg_order & (FI_ORDER_RAW | FI_ORDER_RMA_RAW)) &&
            info->ep_attr->max_order_raw_size > 0);
}

static int open_domain(struct fid_fabric *fabric, struct fi_info *info,
                       struct fid_domain **domain, void *context)
{
    int rc = its_fabric->domain(fabric, info, domain, context);
    struct fi_ops_domain *ours;

    if (rc != 0)
        return rc;
    reorders |= !keeps_order(info);
    /* libfabric 2's tcp knows its objects for one thread by their table. */
    ours = info->domain_attr->threading == FI_THREAD_COMPLETION ||
                   (its_domain && (*domain)->ops != its_domain)
               ? NULL
               : copy_table((*domain)->ops, END_OF(fi_ops_domain, cq_open));
    unled |= !ours;
    if (!ours)
        return rc;
    its_domain = (*domain)->ops;
    ours->cq_open = open_queue;
    (*domain)->ops = ours;
    return rc;
}

static int open_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
                       void *context)
{
    int rc = next_fabric(attr, fabric, context);
    struct fi_ops_fabric *ours;

    if (rc != 0 || has_queues())
        return rc;
    its_domain = NULL; /* of a session that has ended */
    reorders = false;
    snprintf(provider, sizeof(provider), "%s",
             attr->prov_name ? attr->prov_name : "unknown");
    fabric_in_use = *fabric;
    ours = use < ASPX_NET_POLLED
               ? NULL
               : copy_table((*fabric)->ops, END_OF(fi_ops_fabric, trywait));
    if (!ours)
        return rc;
    its_fabric = (*fabric)->ops;
    ours->domain = open_domain;
    (*fabric)->ops = ours;
    return rc;
}

static void enter(enum aspx_net_use its_use)
{
    use = its_use;
    (void) aspx_plt_patch_lead("fi_fabric", open_fabric, &next_fabric);
}

/* ---- waiting -------------------------------------------------------------- */

static bool is_open(void)
{
    return fabric_in_use != NULL;
}

const char *aspx_net_provider(void)
{
    return provider;
}

const char *aspx_net_order_warning(void)
{
    static char text[384];

    if (!reorders)
        return NULL;
    snprintf(text, sizeof(text),
             "the network (libfabric's %s) does not promise the order of "
             "messages that Aspen needs: after MPI_Put and then MPI_Win_flush, "
             "unlock or fence, others may still read the old value for a "
             "moment, as with plain MPICH; not so with FI_PROVIDER=tcp",
             provider);
    return text;
}

static enum aspx_net_deaf deaf(void)
{
    bool any = false;

    if (!fabric_in_use)
        return ASPX_NET_NO_DEVICE;
    if (unled)
        return ASPX_NET_SEVERAL;
    for (size_t i = 0; i < ASPX_NET_QUEUES_MAX; i++) {
        if (queues[i].cq && queues[i].fd < 0)
            return ASPX_NET_NO_EVENTS;
        any |= queues[i].cq != NULL;
    }
    return any ? ASPX_NET_HEARS : ASPX_NET_NO_EVENTS;
}

static enum aspx_net_wait arm(void)
{
    struct fid *fids[ASPX_NET_QUEUES_MAX];
    int n = 0;

    for (size_t i = 0; i < ASPX_NET_QUEUES_MAX; i++)
        if (queues[i].cq)
            fids[n++] = &queues[i].cq->fid;
    switch (its_fabric->trywait(fabric_in_use, fids, n)) {
    case 0:
        return ASPX_NET_WOKEN;
    case -FI_EAGAIN:
        return ASPX_NET_BUSY;
    default:
        return ASPX_NET_CANNOT;
    }
}

static size_t descriptors(int fds[ASPX_NET_QUEUES_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < ASPX_NET_QUEUES_MAX; i++)
        if (queues[i].cq)
            fds[n++] = queues[i].fd;
    return n;
}

const struct aspx_net_kind aspx_net_ofi = {
    .netmod = "ofi",
    .enter = enter,
    .is_open = is_open,
    .lead_polls = lead_polls,
    .deaf = deaf,
    .arm = arm,
    .descriptors = descriptors,
};
