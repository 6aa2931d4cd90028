/* SPDX-License-Identifier: BSD-3-Clause */
/* libmpich's own symbols lead to us: what is looked up behind us, with
 * dlsym(RTLD_NEXT), or in libmpich's own handle, is Aspen. */
#ifndef ASPEN_RUNTIME_MPI_REDIRECT_H
#define ASPEN_RUNTIME_MPI_REDIRECT_H

#include <stdbool.h>

/* Is there a layout? Without one MPI is left as it is. */
bool aspx_redirect_is_wanted(void);

/* Does nothing without a layout, and where this process has no libmpich.
 * Idempotent; says so when the kernel does not allow it. Threads: any. */
void aspx_redirect(void);

#endif
