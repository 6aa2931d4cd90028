/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread for what a rank owes to others while it computes, or is in a call of
 * MPI in which nothing of ours runs. It calls no MPI, has no signals, and looks
 * again and again (ASPX_WAIT_LOOK_THREAD) until there is nothing to do. */
#ifndef ASPEN_RUNTIME_POSTED_LOOK_THREAD_H
#define ASPEN_RUNTIME_POSTED_LOOK_THREAD_H

#include <stdbool.h>

/* look() is called until it returns false. Returns false: no thread. */
bool aspx_look_thread_start(bool (*look)(void *arg), void *arg);

/* At the end, when nothing is owed any more: wait until there is no such
 * thread; with a bound. */
void aspx_look_threads_stop(void);

#endif
