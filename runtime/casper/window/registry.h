/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of windows: what the record lists of them. The first process of
 * each window keeps its entry. Loops that make the same window again and again
 * fill one entry; when the registry is full, further windows are only counted.
 */
#ifndef ASPEN_RUNTIME_CASPER_WINDOW_REGISTRY_H
#define ASPEN_RUNTIME_CASPER_WINDOW_REGISTRY_H

#include "runtime/world/call_site.h"
#include "request.h"

#include "common/rules/objrule.h"
#include "counts.h"

#include <stdbool.h>
#include <stdint.h>

enum { ASPX_REGISTRY_MAX = 64, ASPX_REGISTRY_NAME_MAX = 64 };

struct aspx_registry_entry {
    uint32_t serial;      /* of the latest window in it, in this process */
    uint32_t first, last; /* order */
    uint32_t count;       /* windows */
    uint32_t holds;       /* rules, as bits */
    uint32_t processes;
    uint32_t handling;   /* enum aspx_handling */
    uint32_t switchable; /* redirection can be switched off and on */
    int32_t flavor;
    uint64_t least, most; /* bytes of a process */
    char name[ASPX_REGISTRY_NAME_MAX];
    struct aspx_call_site call_site;
};

struct aspx_registry {
    uint32_t n;
    uint32_t more;                   /* windows that found no room */
    uint32_t contig_missing;         /* windows, as in struct aspx_win */
    uint64_t hits[ASP_OBJRULES_MAX]; /* windows for which a rule held */
    struct aspx_registry_entry entry[ASPX_REGISTRY_MAX];
};

/* This process's part. To be read when no window is made any more, and after
 * aspx_registry_close(). */
extern struct aspx_registry aspx_registry;
void aspx_registry_close(void);

/* Rules held for a window that was not made after all, or hold for one by its
 * name, each for the first time. Called by its first process. Threads: any. */
void aspx_registry_count_rules(uint32_t holds);

/* A window of which this is the first process is without its contiguous one.
 * Threads: any. */
void aspx_registry_count_contig_missing(void);

/* A window was made. Returns its serial for aspx_registry_set_name(), 0 when it
 * is not listed. Threads: any. */
uint32_t aspx_registry_add(const struct aspx_win_request *request,
                           enum aspx_handling handling, bool switchable);

/* It got a name; or other rules hold for it. They do nothing when the entry is
 * not the window's alone any more. Threads: any. */
void aspx_registry_set_name(uint32_t serial, const char *name);
void aspx_registry_set_rules(uint32_t serial, uint32_t holds);

#endif
