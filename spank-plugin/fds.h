/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors of a forked child. */
#ifndef ASPEN_SPANK_PLUGIN_FDS_H
#define ASPEN_SPANK_PLUGIN_FDS_H

/* Close all descriptors from first on. Only system calls, so it may follow
 * fork() in a process of many threads. */
void asps_close_from(unsigned first);

#endif
