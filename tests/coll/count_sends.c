/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "count_sends.h"

#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>

long count_sends;

#define HOOK __attribute__((visibility("default")))

/* As UCX has them, but that its types are pointers here. */
HOOK void *ucp_tag_send_nbx(void *ep, const void *buffer, size_t count,
                            uint64_t tag, const void *param);
HOOK void *ucp_tag_send_sync_nbx(void *ep, const void *buffer, size_t count,
                                 uint64_t tag, const void *param);
HOOK void *ucp_am_send_nbx(void *ep, unsigned id, const void *header,
                           size_t bytes, const void *buffer, size_t count,
                           const void *param);
HOOK unsigned ucp_worker_progress(void *worker);

#define NEXT(name)                                                             \
    static __typeof__(name) *next;                                             \
    if (!next)                                                                 \
        *(void **) &next = dlsym(RTLD_NEXT, #name);

void *ucp_tag_send_nbx(void *ep, const void *buffer, size_t count, uint64_t tag,
                       const void *param)
{
    NEXT(ucp_tag_send_nbx)
    count_sends++;
    return next(ep, buffer, count, tag, param);
}

void *ucp_tag_send_sync_nbx(void *ep, const void *buffer, size_t count,
                            uint64_t tag, const void *param)
{
    NEXT(ucp_tag_send_sync_nbx)
    count_sends++;
    return next(ep, buffer, count, tag, param);
}

void *ucp_am_send_nbx(void *ep, unsigned id, const void *header, size_t bytes,
                      const void *buffer, size_t count, const void *param)
{
    NEXT(ucp_am_send_nbx)
    count_sends++;
    return next(ep, id, header, bytes, buffer, count, param);
}

/* There are more ranks than CPUs. */
unsigned ucp_worker_progress(void *worker)
{
    unsigned events;

    NEXT(ucp_worker_progress)
    events = next(worker);
    if (!events)
        sched_yield();
    return events;
}
