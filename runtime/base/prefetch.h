/* SPDX-License-Identifier: BSD-3-Clause */
/* Ask for a cache line that another CPU wrote, before it is needed. One that
 * will be written is asked for as such: else it travels twice, the second time
 * with the store, and stores behind that one wait for it. (The compiler's own
 * __builtin_prefetch() does so only when told that it may assume the
 * instruction, which all x86-64 processors of the last ten years have and the
 * older ones ignore.) */
#ifndef ASPEN_RUNTIME_BASE_PREFETCH_H
#define ASPEN_RUNTIME_BASE_PREFETCH_H

static inline void aspx_prefetch_to_read(const void *line)
{
    __builtin_prefetch(line);
}

static inline void aspx_prefetch_to_write(const void *line)
{
#ifdef __x86_64__
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *) line));
#else
    __builtin_prefetch(line, 1);
#endif
}

#endif
