/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the program called MPI from. */
#ifndef ASPEN_RUNTIME_WORLD_CALL_SITE_H
#define ASPEN_RUNTIME_WORLD_CALL_SITE_H

#include <stdbool.h>

enum { ASPX_CALL_SITE_MAX = 80 };

/* Both "" when it cannot be told. */
struct aspx_call_site {
    char place[ASPX_CALL_SITE_MAX];    /* "app+0x11f3", for addr2line -e app */
    char function[ASPX_CALL_SITE_MAX]; /* "app:main", or "" where the function
                                     is not exported */
};

/* The innermost caller of this thread that is neither MPI nor Aspen. Costs some
 * 10 us, and a dlopen() the first time: for calls that make windows. */
void aspx_call_site_find(struct aspx_call_site *site);

/* Find it for the offload thread, which will carry out the call and ask. One
 * caller at a time: with several, they make their windows themselves. */
void aspx_call_site_keep(void);

/* Where `when` says so in a thread, aspx_call_site_find() gives the kept one.
 */
void aspx_call_site_use_kept(bool (*when)(void));

#endif
