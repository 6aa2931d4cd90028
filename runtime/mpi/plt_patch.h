/* SPDX-License-Identifier: BSD-3-Clause */
/* What libmpich calls through its PLT: its own MPI_X and PMPI_X, which mean the
 * library's view of the world and must not come to our entries; and functions
 * of UCX, libfabric and the C library, in whose place a file of ours may put
 * its own. */
#ifndef ASPEN_RUNTIME_MPI_PLT_PATCH_H
#define ASPEN_RUNTIME_MPI_PLT_PATCH_H

#include <stdbool.h>

/* Bind libmpich's references to MPI functions to libmpich itself, as if it had
 * been linked with -Bsymbolic. Idempotent. After aspx_real_resolve(), and the
 * first time before libmpich's symbols lead elsewhere (redirect.h). */
void aspx_plt_patch(void);

/* A function of another library that libmpich calls by name: what it calls now,
 * be that a replacement, NULL when there is none; and have it call `to` from
 * now on, false when it does not call that function, or the table of those that
 * are led elsewhere (plt_patch.c) does not have it. */
void *aspx_plt_patch_find(const char *name);
bool aspx_plt_patch_replace(const char *name, void *to);

/* Both, for a function of ours that stands in front: *before_p, a pointer to a
 * function, becomes what libmpich called, and is NULL when that is not so.
 * Nothing is done if it is set. Returns whether it is. */
bool aspx_plt_patch_lead(const char *name, void *to, void *before_p);

#endif
