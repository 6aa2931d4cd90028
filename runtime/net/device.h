/* SPDX-License-Identifier: BSD-3-Clause */
/* What carries the messages of the MPI that runs. */
#ifndef ASPEN_RUNTIME_NET_DEVICE_H
#define ASPEN_RUNTIME_NET_DEVICE_H

#include <stdbool.h>

/* As MPICH calls it, with the provider that it has opened and the settings of
 * this process that choose below it: "ch4:ucx", "ch4:ofi tcp;ofi_rxm
 * FI_PROVIDER=tcp"; "unknown" where MPI does not say. After MPI_Init. Static.
 * Threads: one. */
const char *aspx_net_device(void);

/* The same for the key of tuning tables: where the device is UCX alone, the
 * transports that it may take (UCX_TLS, else "any"). */
const char *aspx_net_transports(void);

/* The release of UCX that is loaded, or "none". Static. */
const char *aspx_net_ucx_release(void);

/* Do messages within a node go by shared memory of MPI's own, and not by UCX?
 * Then UCX wakes nobody for them. True where MPI does not say. Threads: any,
 * after aspx_real_resolve(). */
bool aspx_net_shares_memory(void);

/* Is this netmod of MPICH's ("ucx", "ofi") the one that is used? True where MPI
 * does not say. Threads: any, after aspx_real_resolve(). */
bool aspx_net_is_netmod(const char *netmod);

/* Does MPI's flush return before a small Put has got there? Over libfabric
 * MPICH does it with fi_inject_write(), which is over when the data has left
 * (pmodels/mpich#6310). True where MPI does not say. Threads: as above. */
bool aspx_net_flushes_early(void);

/* What to tell users where a Get may overtake small Puts that went before it to
 * the same process, so that it says nothing of them: libfabric's provider does
 * not promise their order (fi_endpoint(3)). NULL where it does, and where the
 * opening of libfabric was not seen. Static. After MPI_Init; one thread. */
const char *aspx_net_order_warning(void);

/* The folder in which the kernel lists the devices by which this MPI, with the
 * variables of this process, puts and gets with no help of the target's
 * processor; NULL where it has none that is known. Static. Threads: one, after
 * aspx_real_resolve(). */
const char *aspx_net_rdma_sysfs(void);

#endif
