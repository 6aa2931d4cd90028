/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that are compiled with -fsanitize=address. Their runtime ends
 * the program when another library was loaded before it, as it may stand in
 * front of functions that the runtime wants to see. We leave those alone
 * (dlopen() we hand on), and are always first. The runtime asks for its options
 * by this name before it looks; what the user says in ASAN_OPTIONS comes later
 * and counts more, and so does a program's own function of this name. */
#include "config.h"

#include "entry.h"

const char *__asan_default_options(void);

ASPX_EXPORT const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}
