/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for the messages of a benchmark. */
#ifndef ASPEN_BENCH_BUFFER_H
#define ASPEN_BENCH_BUFFER_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_PAGE = 4096 };

/* `bytes` bytes of zeros from the beginning of a page on, so that all rivals
 * copy between equal places within a page: some processors take 20 times as
 * long when the destination lies 16 bytes further than the source, as two
 * blocks of malloc may (runtime/casper/rma/copy.h). For free(); ends the job
 * when there is no memory. */
static inline void *buffer_pages(size_t bytes)
{
    size_t pages = (bytes + BUFFER_PAGE - 1) / BUFFER_PAGE;
    void *memory = aligned_alloc(BUFFER_PAGE, (pages + !pages) * BUFFER_PAGE);

    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memset(memory, 0, bytes);
}

#endif
