/* SPDX-License-Identifier: BSD-3-Clause */
/* Look, pause, look again; see await.h. */
#include "config.h"

#include "await.h"

#include "clock.h"

#include <ck_pr.h>
#include <stddef.h>
#include <time.h>

enum { US_PER_S = 1000000, NS_PER_US = 1000 };

static void nap(uint32_t us)
{
    const struct timespec length = {us / US_PER_S, us % US_PER_S * NS_PER_US};

    (void) nanosleep(&length, NULL);
}

enum aspx_slept aspx_await_once(struct aspx_event *event, uint32_t us,
                                aspx_await_look_f *look, void *what)
{
    enum aspx_slept slept = ASPX_NOT_SLEPT;
    uint32_t key;

    aspx_event_prepare_wait(event);
    key = aspx_event_key(event);
    if (!look(what))
        slept = aspx_event_wait(event, key, us) ? ASPX_WOKEN : ASPX_SLEPT_OUT;
    aspx_event_cancel_wait(event);
    return slept;
}

/* The look between key and sleep may lead on to another event: then there is no
 * reason to sleep at this one. What it finds may be taken by it (the end of a
 * request), so that is kept. */
struct sleep {
    const struct aspx_await *how;
    struct aspx_event *event;
    void *what;
    bool there;
};

static bool need_not_sleep(void *arg)
{
    struct sleep *sleep = arg;

    sleep->there = sleep->how->look(sleep->what);
    return sleep->there || sleep->how->event(sleep->what) != sleep->event;
}

/* Returns whether it is there already. */
static bool sleep_for(const struct aspx_await *how, void *what, uint32_t us,
                      enum aspx_slept *slept)
{
    struct sleep sleep = {.how = how, .what = what};

    *slept = ASPX_NOT_SLEPT;
    if (!how->event) {
        nap(us);
        *slept = ASPX_SLEPT_OUT;
        return false;
    }
    sleep.event = how->event(what);
    if (sleep.event)
        *slept = aspx_await_once(sleep.event, us, need_not_sleep, &sleep);
    return sleep.there;
}

void aspx_await(const struct aspx_await *how, void *what)
{
    struct aspx_backoff backoff = {0};
    struct aspx_await_pause pause = {.slept = ASPX_NOT_SLEPT};

    for (unsigned looks = 0; !how->look(what); looks++) {
        struct aspx_backoff_choice choice;

        if (looks < how->quick_looks) {
            ck_pr_stall();
            continue;
        }
        pause.now_ns = aspx_clock_ns(CLOCK_MONOTONIC);
        choice = aspx_backoff_next(&backoff, how->row, false, pause.now_ns);
        pause.idle_ns = pause.now_ns - backoff.idle_since_ns;
        pause.step = choice.step;
        if (how->meanwhile)
            how->meanwhile(what, &pause);
        if (choice.step == ASPX_SPIN)
            ck_pr_stall();
        else if (choice.step == ASPX_YIELD)
            aspx_backoff_yield(&backoff);
        else if (sleep_for(how, what, choice.block_us, &pause.slept))
            return;
    }
}
