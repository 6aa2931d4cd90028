/* SPDX-License-Identifier: BSD-3-Clause */
/* What Concurrency Kit's stack guarantees, said to the thread sanitizer, which
 * does not understand its fences: all that was written before something is
 * handed over is seen by who takes it. */
#ifndef ASPEN_RUNTIME_OFFLOAD_ORDER_H
#define ASPEN_RUNTIME_OFFLOAD_ORDER_H

#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define ASPX_HANDED_OVER(thing) __tsan_release(thing)
#define ASPX_TAKEN(thing)       __tsan_acquire(thing)
#else
#define ASPX_HANDED_OVER(thing) ((void) (thing))
#define ASPX_TAKEN(thing)       ((void) (thing))
#endif

#endif
