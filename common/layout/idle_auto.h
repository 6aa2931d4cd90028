/* SPDX-License-Identifier: BSD-3-Clause */
/* What "auto" means for the knobs of how ghosts wait, in microseconds
 * (runtime/base/wait_table.c says why). */
#ifndef ASPEN_COMMON_LAYOUT_IDLE_AUTO_H
#define ASPEN_COMMON_LAYOUT_IDLE_AUTO_H

enum {
    ASP_IDLE_SPIN_ALONE_US = 2000,
    ASP_IDLE_SPIN_US = 20,
    ASP_IDLE_YIELD_US = 500,
};

#endif
