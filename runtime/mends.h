/* SPDX-License-Identifier: BSD-3-Clause */
/* What is mended of MPICH and UCX in a user rank when MPI runs: one list for
 * all modes (mends.c). Mistakes that show in a window or an operation are
 * mended where that is made (mpi/fixes.h names all). A ghost mends the end of
 * MPI only, by itself (casper/server/main.c). */
#ifndef ASPEN_RUNTIME_MENDS_H
#define ASPEN_RUNTIME_MENDS_H

#include "common/layout/layout.h"

#include <stdbool.h>

/* Once, by the thread that may call MPI, while no other thread is inside it:
 * when the mode has come up (mode.h, after_init), before its engine starts and
 * before the entries are switched. Each row asks MPI whether it is needed, and
 * notes the answer (mpi/fixes.h).
 *   plain  the mode could not come up, and the program runs as it would */
void aspx_mends_apply(const struct asp_layout *layout, bool plain);

#endif
