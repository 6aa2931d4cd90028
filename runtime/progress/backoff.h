/* SPDX-License-Identifier: BSD-3-Clause */
/* How long the helper stays away between two looks at MPI, and whether a post
 * may wake it. No clock, no thread: one after the other, what it found and what
 * to do.
 *
 * With something under way it looks 20 us after the last news, then after a
 * quarter more each time, every millisecond at last, which costs some 1 % of a
 * CPU. So what comes late is answered late by a fourth of that again, or a
 * millisecond. Where a look has moved something the next step of the
 * conversation is near, and there may be many: it looks again after 5 us, some
 * times. (To yield between these looks, and not to nap, costs a time slice
 * where somebody computes.) With nothing under way it naps some times, because
 * more may follow soon, and then sleeps until a post wakes it.
 *
 * To be woken costs the call that posts a system call and, on a CPU that they
 * share, two switches; and a program that waits as soon as it has posted needs
 * no helper. So after some posts or looks in a row that were in vain, because
 * the program was inside MPI or all was over, the helper is not to be woken: it
 * naps, up to a millisecond, and sleeps only when nothing has been posted for
 * many naps. Once it finds the program outside, with something under way, it
 * may be woken again; but only a poll that moved something makes it forget what
 * was in vain. */
#ifndef ASPEN_RUNTIME_PROGRESS_BACKOFF_H
#define ASPEN_RUNTIME_PROGRESS_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ASPX_NAP_NEAR_US = 5, /* after something moved */
    ASPX_NAPS_NEAR = 6,
    ASPX_NAP_FIRST_US = 20,
    ASPX_NAP_IDLE_US = 50, /* with nothing under way, before it sleeps */
    ASPX_NAP_MOST_US = 1000,
    ASPX_NAPS_IN_VAIN = 8, /* in a row: not to be woken */
    ASPX_NAPS_IDLE = 10,   /* then, without a post, before it sleeps */
};

/* Sleep until something is posted, the longest of naps. */
#define ASPX_NAP_SLEEP UINT32_MAX

/* What a look at MPI found. */
enum aspx_look { ASPX_LOOK_KEPT_OUT, ASPX_LOOK_NOTHING, ASPX_LOOK_MOVED };

/* To begin with all 0. */
struct aspx_naps {
    uint32_t us;      /* the last nap */
    uint32_t in_vain; /* in a row, ASPX_NAPS_IN_VAIN at most */
    uint32_t idle;    /* naps with nothing under way */
    uint32_t near;    /* naps that are left before the first */
};

/* May a post end the nap or sleep that comes next? Else only its end does, but
 * for a sleep. */
static inline bool aspx_naps_may_be_woken(const struct aspx_naps *naps)
{
    return naps->in_vain < ASPX_NAPS_IN_VAIN;
}

/* Something is under way, and MPI was looked at. news: something was posted
 * since the last call. Returns how long to nap, in us. */
uint32_t aspx_naps_after(struct aspx_naps *naps, enum aspx_look found,
                         bool news);

/* Nothing is under way. Returns how long to nap, or ASPX_NAP_SLEEP. */
uint32_t aspx_naps_idle(struct aspx_naps *naps, bool news);

#endif
