/* SPDX-License-Identifier: BSD-3-Clause */
/* A fixed-size set of CPUs, by OS (physical) index: what travels in layouts
 * and over pipes, where hwloc's growing bitmaps cannot. */
#ifndef ASPEN_COMMON_BASE_CPUSET_H
#define ASPEN_COMMON_BASE_CPUSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ASP_CPUS_MAX = 1024, /* as CPU_SETSIZE */
    ASP_CPUSET_WORDS = ASP_CPUS_MAX / 64,
};

struct asp_cpuset {
    uint64_t word[ASP_CPUSET_WORDS]; /* bit i of word w is CPU 64 * w + i */
};

static inline void asp_cpuset_add(struct asp_cpuset *set, unsigned cpu_os)
{
    if (cpu_os < ASP_CPUS_MAX)
        set->word[cpu_os / 64] |= UINT64_C(1) << (cpu_os % 64);
}

static inline bool asp_cpuset_has(const struct asp_cpuset *set, unsigned cpu_os)
{
    return cpu_os < ASP_CPUS_MAX &&
           (set->word[cpu_os / 64] >> (cpu_os % 64) & 1);
}

/* Number of CPUs in the set. */
unsigned asp_cpuset_count(const struct asp_cpuset *set);

/* Lowest CPU at or after cpu_os, or -1. Loop with
 * for (c = next(s, 0); c >= 0; c = next(s, c + 1)). */
int asp_cpuset_next(const struct asp_cpuset *set, unsigned cpu_os);

/* Parse a list such as "0-3,8" ("" is the empty set) of len bytes.
 * Returns 0, or -1 with errno EINVAL; *out_p is untouched on failure. */
int asp_cpuset_parse(const char *text, size_t len, struct asp_cpuset *out_p);

/* Write the list form into buf, always terminated when size > 0.
 * Returns its length, or -1 with errno ENOSPC when it does not fit. */
int asp_cpuset_print(const struct asp_cpuset *set, char *buf, size_t size);

#endif
