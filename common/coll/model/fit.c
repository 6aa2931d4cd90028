/* SPDX-License-Identifier: BSD-3-Clause */
/* Constants of a link from measured times. */
#include "common/coll/model/fit.h"

#include <errno.h>

/* Round trips of one half over those of the other. */
#define AGREE 1.5

static bool is_near(double one, double other)
{
    return one > 0 && other > 0 && one <= AGREE * other && other <= AGREE * one;
}

bool asp_coll_samples_agree(const struct asp_coll_samples *one,
                            const struct asp_coll_samples *other)
{
    return is_near(one->round_small, other->round_small) &&
           is_near(one->round_large, other->round_large);
}

static void take_less(double *one, double other)
{
    if (other > 0 && (other < *one || !(*one > 0)))
        *one = other;
}

void asp_coll_samples_join(struct asp_coll_samples *one,
                           const struct asp_coll_samples *other)
{
    take_less(&one->round_small, other->round_small);
    take_less(&one->round_large, other->round_large);
    take_less(&one->send, other->send);
    take_less(&one->receive, other->receive);
    take_less(&one->burst, other->burst);
}

/* ns to ps, between 0 and the limit. */
static int64_t constant(double ns)
{
    double ps = ns * 1000;

    if (!(ps > 0))
        return 0;
    return ps < (double) ASP_COLL_LINK_PS_MAX ? (int64_t) (ps + 0.5)
                                              : ASP_COLL_LINK_PS_MAX;
}

int asp_coll_fit(const struct asp_coll_samples *s, struct asp_coll_link *link_p)
{
    double half = s->round_small / 2, byte, overhead = 0;

    if (!(s->round_small > 0) || !(s->round_large > 0) ||
        s->large <= s->small) {
        errno = EINVAL;
        return -1;
    }
    byte = (s->round_large / 2 - half) / (s->large - s->small);
    if (byte < 0)
        byte = 0;
    if (s->send > 0 && s->receive > 0)
        overhead = (s->send + s->receive) / 2;
    /* Some of a message's time is flight. */
    if (overhead > half / 2)
        overhead = half / 2;
    link_p->overhead = constant(overhead);
    link_p->latency = constant(half - 2 * overhead - byte * s->small);
    link_p->gap = constant(s->burst - byte * s->small);
    link_p->byte = constant(byte);
    return 0;
}
