/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the epochs. */
#ifndef ASPEN_RUNTIME_CASPER_SYNC_H
#define ASPEN_RUNTIME_CASPER_SYNC_H

#include "window.h"

/* Complete at the target what this process issued to ghost g. Operations of
 * other windows that go to the same ghost are completed too. */
int aspx_sync_flush(const struct aspx_win *win, uint32_t g);

/* The same for every ghost the window has used. */
int aspx_sync_flush_every(const struct aspx_win *win);

#endif
