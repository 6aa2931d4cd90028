/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for the messages of a benchmark. */
#ifndef ASPEN_BENCH_BUFFER_H
#define ASPEN_BENCH_BUFFER_H

#include <stdlib.h>
#include <string.h>

enum { BUFFER_PAGE = 4096 };

/* `bytes` bytes of zeros from the beginning of a page on, so that all rivals
 * copy between equal places within a page: some processors take 20 times as
 * long when the destination lies 16 bytes further than the source, as two
 * blocks of malloc may (runtime/casper/copy.h). For free(); NULL: there is
 * none. */
static inline void *buffer_pages(size_t bytes)
{
    size_t pages = (bytes + BUFFER_PAGE - 1) / BUFFER_PAGE;
    void *memory = aligned_alloc(BUFFER_PAGE, (pages + !pages) * BUFFER_PAGE);

    return memory ? memset(memory, 0, bytes) : NULL;
}

#endif
