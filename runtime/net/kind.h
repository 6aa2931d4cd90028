/* SPDX-License-Identifier: BSD-3-Clause */
/* A kind of device, as net.c uses it: UCX and libfabric are the two that MPICH
 * has. Threads as in net.h. */
#ifndef ASPEN_RUNTIME_NET_KIND_H
#define ASPEN_RUNTIME_NET_KIND_H

#include "net.h"

#include <stddef.h>

enum { ASPX_NET_QUEUES_MAX = 8 }; /* a process waits for; more is SEVERAL */

struct aspx_net_kind {
    const char *netmod; /* as MPICH's device calls it */

    /* Before MPI_Init: have MPI's opening of the device led through here. */
    void (*enter)(enum aspx_net_use use);

    /* Has MPI opened it, as far as that was led through here? */
    bool (*is_open)(void);

    /* aspx_net_lead_polls(), where this device is in use. */
    bool (*lead_polls)(aspx_net_poll_f *front, aspx_net_poll_f **before_p);

    /* After MPI_Init: ASPX_NET_HEARS where it can be waited for. */
    enum aspx_net_deaf (*deaf)(void);

    /* ASPX_NET_WOKEN when armed, ASPX_NET_BUSY, or ASPX_NET_CANNOT. */
    enum aspx_net_wait (*arm)(void);

    /* The descriptors that become readable then; returns how many. */
    size_t (*descriptors)(int fds[ASPX_NET_QUEUES_MAX]);
};

extern const struct aspx_net_kind aspx_net_ucx, aspx_net_ofi;

/* Which provider libfabric has opened for MPI ("tcp;ofi_rxm"); "" before, and
 * where MPI has opened none. Static. */
const char *aspx_net_provider(void);

#endif
