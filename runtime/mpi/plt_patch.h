/* SPDX-License-Identifier: BSD-3-Clause */
/* libmpich calls its own MPI_X and PMPI_X through its PLT, where our entries
 * would answer. */
#ifndef ASPEN_RUNTIME_MPI_PLT_PATCH_H
#define ASPEN_RUNTIME_MPI_PLT_PATCH_H

#include <stdbool.h>

/* Bind libmpich's references to MPI functions to libmpich itself, as if it had
 * been linked with -Bsymbolic. Idempotent. After aspx_real_resolve(), and the
 * first time before libmpich's symbols lead elsewhere (redirect.h). */
void aspx_plt_patch(void);

/* A function of another library, that libmpich calls by name: what it calls
 * now; NULL when there is none. And let it call something else, for good; false
 * when it does not call it. */
void *aspx_plt_patch_find(const char *name);
bool aspx_plt_patch_lead(const char *name, void *to);

#endif
