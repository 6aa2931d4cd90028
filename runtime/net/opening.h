/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions by which any MPI in this process opens its device: ours come
 * first, and hand every call on. So a process is seen whose MPI calls no entry
 * of Aspen's, before it waits for any other process. */
#ifndef ASPEN_RUNTIME_NET_OPENING_H
#define ASPEN_RUNTIME_NET_OPENING_H

/* Called before each of them, with the address of the calling code. Any thread.
 * Defined by world/bypass.c, which knows what that means for the job. */
void aspx_net_opening(const void *code);

#endif
