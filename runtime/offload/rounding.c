/* SPDX-License-Identifier: BSD-3-Clause */
/* libm's functions, which libmpich has loaded: to link libm would load it into
 * every process that inherits LD_PRELOAD. */
#include "config.h"

#include "rounding.h"

#include "runtime/mpi/real.h"

#include <dlfcn.h>
#include <stddef.h>

static int (*get)(void), (*set)(int);

void aspx_rounding_start(void)
{
    *(void **) &get = dlsym(aspx_real_library(), "fegetround");
    *(void **) &set = dlsym(aspx_real_library(), "fesetround");
    if (!set)
        get = NULL;
}

int aspx_rounding(void)
{
    return get ? get() : 0;
}

int aspx_rounding_become(int direction)
{
    int before = aspx_rounding();

    if (before != direction)
        (void) set(direction);
    return before;
}
