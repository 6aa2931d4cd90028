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

static uint32_t act(struct aspx_await_turns *turns,
                    struct aspx_backoff_choice choice)
{
    turns->step = choice.step;
    if (choice.step == ASPX_SPIN)
        ck_pr_stall();
    else if (choice.step == ASPX_YIELD)
        aspx_backoff_yield(&turns->backoff);
    return choice.block_us;
}

uint32_t aspx_await_turn(struct aspx_await_turns *turns,
                         const struct aspx_wait_policy *row, bool awaited)
{
    return act(turns, aspx_backoff_next(&turns->backoff, row, awaited,
                                        aspx_clock_ns(CLOCK_MONOTONIC)));
}

static void withdraw(struct aspx_await_turns *turns)
{
    if (turns->event)
        aspx_event_cancel_wait(turns->event);
    turns->event = NULL;
}

bool aspx_await_announce(struct aspx_await_turns *turns,
                         struct aspx_event *event)
{
    if (turns->event == event)
        return false;
    withdraw(turns);
    aspx_event_prepare_wait(event);
    turns->event = event;
    turns->key = aspx_event_key(event);
    return true;
}

enum aspx_slept aspx_await_sleep(struct aspx_await_turns *turns,
                                 struct aspx_event *event, uint32_t us)
{
    bool woken;

    if (aspx_await_announce(turns, event))
        return ASPX_NOT_SLEPT;
    woken = aspx_event_wait(event, turns->key, us);
    turns->key = aspx_event_key(event);
    return woken ? ASPX_WOKEN : ASPX_SLEPT_OUT;
}

void aspx_await_end(struct aspx_await_turns *turns)
{
    withdraw(turns);
    aspx_backoff_reset(&turns->backoff);
}

static enum aspx_slept sleep_for(struct aspx_await_turns *turns,
                                 const struct aspx_await *how, void *what,
                                 uint32_t us)
{
    struct aspx_event *event;

    if (!how->event) {
        nap(us);
        return ASPX_SLEPT_OUT;
    }
    event = how->event(what);
    return event ? aspx_await_sleep(turns, event, us) : ASPX_NOT_SLEPT;
}

void aspx_await(const struct aspx_await *how, void *what)
{
    struct aspx_await_turns turns = {.event = NULL};
    struct aspx_await_pause pause = {.slept = ASPX_NOT_SLEPT};

    for (unsigned looks = 0; !how->look(what); looks++) {
        struct aspx_backoff_choice choice;
        uint32_t us;

        if (looks < how->quick_looks) {
            ck_pr_stall();
            continue;
        }
        pause.now_ns = aspx_clock_ns(CLOCK_MONOTONIC);
        choice = aspx_backoff_next(&turns.backoff, how->row, false,
                                   pause.now_ns);
        pause.idle_ns = pause.now_ns - turns.backoff.idle_since_ns;
        pause.step = choice.step;
        if (how->meanwhile)
            how->meanwhile(what, &pause);
        us = act(&turns, choice);
        if (us)
            pause.slept = sleep_for(&turns, how, what, us);
    }
    aspx_await_end(&turns);
}
