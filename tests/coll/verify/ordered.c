/* SPDX-License-Identifier: BSD-3-Clause */
/* Conflicts, found in another way than needs.c does: all ranges that steps
 * touch are sorted, those that overlap are compared, and the steps before each
 * one are kept as bits. */
#include "tests/coll/verify/ordered.h"

#include <errno.h>
#include <stdlib.h>

/* Bytes that a step touches. */
struct range {
    size_t start, end;
    uint32_t step;
    uint8_t buffer;
    bool written;
};

static int compare(const void *one, const void *other)
{
    const struct range *a = one, *b = other;

    if (a->buffer != b->buffer)
        return a->buffer < b->buffer ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

static uint32_t list_ranges(const struct asp_coll_schedule *s,
                            struct range *ranges)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->nsteps; i++) {
        const struct asp_coll_step *step = &s->steps[i];

        if (step->action != ASP_COLL_RECV)
            ranges[n++] = (struct range){step->from, step->from + step->bytes,
                                         i, step->from_buffer, false};
        if (step->action != ASP_COLL_SEND)
            ranges[n++] = (struct range){step->to, step->to + step->bytes, i,
                                         step->to_buffer, true};
    }
    qsort(ranges, n, sizeof(*ranges), compare);
    return n;
}

/* Mark in before all steps that come before step i. */
static void mark(const struct asp_coll_schedule *s, uint64_t *before,
                 size_t words, uint32_t i)
{
    for (uint32_t k = 0; k < s->steps[i].nneeds; k++) {
        uint32_t need = s->needs[s->steps[i].needs_first + k];

        for (size_t w = 0; w < words; w++)
            before[i * words + w] |= before[need * words + w];
        before[i * words + need / 64] |= UINT64_C(1) << need % 64;
    }
}

/* Is there a conflict of two steps of which neither is before the other? */
static bool find(const struct range *ranges, uint32_t n, const uint64_t *before,
                 size_t words, uint32_t *one_p, uint32_t *other_p)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n && ranges[j].start < ranges[i].end &&
                                 ranges[j].buffer == ranges[i].buffer;
             j++) {
            uint32_t a = ranges[i].step, b = ranges[j].step;
            uint32_t one = a < b ? a : b, other = a < b ? b : a;

            if (one == other || !(ranges[i].written || ranges[j].written) ||
                before[other * words + one / 64] >> one % 64 & 1)
                continue;
            *one_p = one;
            *other_p = other;
            return true;
        }
    return false;
}

int asp_coll_ordered(const struct asp_coll_schedule *s, uint32_t *one_p,
                     uint32_t *other_p)
{
    size_t words = s->nsteps / 64 + 1;
    uint64_t *before = calloc(s->nsteps * words + 1, sizeof(*before));
    struct range *ranges = malloc((2 * (size_t) s->nsteps + 1) *
                                  sizeof(*ranges));
    int rc = -1;

    if (before && ranges) {
        uint32_t n = list_ranges(s, ranges);

        for (uint32_t i = 0; i < s->nsteps; i++)
            mark(s, before, words, i);
        rc = !find(ranges, n, before, words, one_p, other_p);
    } else {
        errno = ENOMEM;
    }
    free(before);
    free(ranges);
    return rc;
}
