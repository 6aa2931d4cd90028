/* SPDX-License-Identifier: BSD-3-Clause */
/* Picks the kind of device that MPI has opened, counts its events, and blocks
 * on its descriptors. */
#include "config.h"

#include "device.h"
#include "kind.h"
#include "net.h"

#include <poll.h>
#include <stdatomic.h>
#include <time.h>

static const struct aspx_net_kind *const kinds[] = {&aspx_net_ucx,
                                                    &aspx_net_ofi};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static bool entered, armed, sees_all;
static enum aspx_net_deaf is_deaf; /* for good */
static aspx_net_poll_f *polls_behind;
static _Atomic uint64_t events;

void aspx_net_enter(enum aspx_net_use use)
{
    if (entered)
        return;
    entered = true;
    for (size_t i = 0; i < KINDS; i++)
        kinds[i]->enter(use);
}

/* A build of several devices opens one of them: which one was seen, or else is
 * what MPI says. NULL: none that is known. */
static const struct aspx_net_kind *in_use(void)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i]->is_open())
            return kinds[i];
    for (size_t i = 0; i < KINDS; i++)
        if (aspx_net_is_netmod(kinds[i]->netmod))
            return kinds[i];
    return NULL;
}

bool aspx_net_lead_polls(aspx_net_poll_f *front, aspx_net_poll_f **before_p)
{
    const struct aspx_net_kind *kind = in_use();

    return *before_p || (kind && kind->lead_polls(front, before_p));
}

/* Polls of one queue are one at a time (MPI's lock). Of several, one may not be
 * counted; who compares is alone inside MPI. */
static unsigned poll_and_count(void *queue)
{
    unsigned now = polls_behind(queue);

    if (now)
        atomic_store_explicit(
            &events, now + atomic_load_explicit(&events, memory_order_relaxed),
            memory_order_relaxed);
    return now;
}

void aspx_net_count(void)
{
    sees_all = aspx_net_lead_polls(poll_and_count, &polls_behind) &&
               !aspx_net_shares_memory();
}

bool aspx_net_sees_all(void)
{
    return sees_all;
}

uint64_t aspx_net_events(void)
{
    return atomic_load_explicit(&events, memory_order_relaxed);
}

enum aspx_net_deaf aspx_net_deaf(void)
{
    const struct aspx_net_kind *kind;

    if (is_deaf == ASPX_NET_HEARS) {
        kind = in_use();
        is_deaf = kind ? kind->deaf() : ASPX_NET_NO_DEVICE;
    }
    return is_deaf;
}

void aspx_net_set_deaf(enum aspx_net_deaf why)
{
    if (is_deaf == ASPX_NET_HEARS)
        is_deaf = why;
}

const char *aspx_net_deaf_text(enum aspx_net_deaf why)
{
    static const char *const texts[ASPX_NET_DEAF_REASONS] = {
        [ASPX_NET_HEARS] = "",
        [ASPX_NET_NO_DEVICE] = "no device outside MPI that Aspen knows",
        [ASPX_NET_NO_EVENTS] = "the device has no events to wait for",
        [ASPX_NET_SEVERAL] = "MPI has queues that cannot be waited for",
        [ASPX_NET_FAILED] = "waiting for the device has failed",
        [ASPX_NET_UNHEARD] = "some ranks of its node cannot wake it",
        [ASPX_NET_LATE] = "messages have come without waking it",
    };

    return why < ASPX_NET_DEAF_REASONS ? texts[why] : "";
}

enum aspx_net_wait aspx_net_arm(void)
{
    enum aspx_net_wait wait;

    armed = false;
    if (aspx_net_deaf() != ASPX_NET_HEARS)
        return ASPX_NET_CANNOT;
    wait = in_use()->arm();
    armed = wait == ASPX_NET_WOKEN;
    if (wait == ASPX_NET_CANNOT)
        aspx_net_set_deaf(ASPX_NET_FAILED);
    return wait;
}

enum aspx_net_wait aspx_net_wait(const sigset_t *signals, uint32_t us)
{
    const struct timespec limit = {us / 1000000, us % 1000000 * 1000};
    struct pollfd polled[ASPX_NET_QUEUES_MAX];
    int fds[ASPX_NET_QUEUES_MAX];
    size_t n = armed && aspx_net_deaf() == ASPX_NET_HEARS
                   ? in_use()->descriptors(fds)
                   : 0;
    int ready;

    for (size_t i = 0; i < n; i++)
        polled[i] = (struct pollfd){fds[i], POLLIN, 0};
    ready = ppoll(polled, n, &limit, signals);
    for (size_t i = 0; ready > 0 && i < n; i++)
        if (polled[i].revents & POLLNVAL) { /* the program has closed it */
            aspx_net_set_deaf(ASPX_NET_FAILED);
            return ASPX_NET_CANNOT;
        }
    return ready == 0 ? ASPX_NET_TIMED_OUT : ASPX_NET_WOKEN;
}
