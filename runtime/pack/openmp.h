/* SPDX-License-Identifier: BSD-3-Clause */
/* Work for those threads of the program's OpenMP that wait at a barrier, or
 * outside of parallel regions for the next one. The runtime is the program's
 * own, asked by the names that gcc's code calls (GOMP_*), which LLVM's runtime
 * has too; a process without OpenMP has nothing of this. (Si: MT-MPI, chapter
 * 3, counts idle threads in a changed runtime and opens nested regions.)
 *
 * Work is done in chunks that are claimed from a counter, by the caller and by
 * helpers:
 *
 *   inside a region   explicit tasks. The runtime gives them to threads that
 *                     wait at the team's barrier, and to no others; one that
 *                     computes does not take part
 *   outside           a region of the size that the last one of the program
 *                     had, so that no thread is made and none ends
 *
 * A task is not bound to the work that it was made for: it looks for some when
 * a thread takes it, and there may be none. As long as a task has not begun,
 * nobody is idle, and no further one is made. The caller never waits for tasks,
 * only for helpers that copy: in a wait of OpenMP's (taskgroup, taskwait)
 * LLVM's runtime would have it carry out tasks of the program, inside of an MPI
 * call.
 */
#ifndef ASPEN_RUNTIME_PACK_OPENMP_H
#define ASPEN_RUNTIME_PACK_OPENMP_H

#include <stdbool.h>
#include <stdint.h>

/* Before MPI_Init: how many threads there are. */
void aspx_openmp_prepare(void);

/* After MPI_Init, when the threads of UCX and Aspen are there: find the
 * runtime. False: this process has none that is known, or two. */
bool aspx_openmp_start(void);

/* How many threads besides the caller may be idle: of those that are not
 * known to compute. 0 where the caller may not be helped: in nested regions and
 * final tasks; outside of regions in other threads than the main one, and where
 * the process has other threads than OpenMP's. Threads: any; cost: 30
 * instructions, outside of regions two system calls. */
unsigned aspx_openmp_idle(void);

/* The cheap question before: have none of the tasks begun that were made last?
 * Then all others compute, or wait where they take none. False does not say
 * that they are idle. Threads: any. */
bool aspx_openmp_all_compute(void);

struct aspx_openmp_work {
    void (*chunk)(void *data, uint64_t i); /* calls neither OpenMP nor MPI */
    void *data;
    uint64_t first, chunks;
};

/* Have chunks first to chunks - 1 carried out, each once, by the caller and up
 * to `helpers` others. Returns how many came, when all is done; what they have
 * written is seen by the caller. Threads: any, at once. */
unsigned aspx_openmp_run(const struct aspx_openmp_work *work, unsigned helpers);

#endif
