/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a verification: the receive buffers of all ranks. */
#include "tests/coll/verify/expect.h"
#include "tests/coll/verify/run.h"

#include <errno.h>
#include <stdlib.h>

/* Is what was found part of what is wanted? How it was reduced is compared
 * between ranks, not here. */
static bool fits_symbol(const struct asp_coll_symbol *want,
                        const struct asp_coll_symbol *found)
{
    return want->ranks == found->ranks &&
           found->offset == want->offset + (found->start - want->start);
}

static int check_symbol(struct asp_coll_run *run, uint32_t rank,
                        const struct asp_coll_symbol *want)
{
    const struct asp_coll_symbols *out = asp_coll_run_buffer(run, rank,
                                                             ASP_COLL_OUT);

    run->one.n = 0;
    if (!asp_coll_symbols_read(out, want->start, want->end, want->start,
                               &run->one))
        return asp_errf(run->err, EINVAL,
                        "rank %u: bytes %zu to %zu of the "
                        "result are not all there",
                        (unsigned) rank, want->start, want->end - 1);
    for (uint32_t i = 0; i < run->one.n; i++)
        if (!fits_symbol(want, &run->one.list[i]))
            return asp_errf(run->err, EINVAL,
                            "rank %u: byte %zu of its buffer is wrong: ranks "
                            "%#llx at %zu, not %#llx",
                            (unsigned) rank, run->one.list[i].start,
                            (unsigned long long) run->one.list[i].ranks,
                            run->one.list[i].offset,
                            (unsigned long long) want->ranks);
    return 0;
}

/* What a rank's OUT must be in the end: what it was, and the result over it. */
static bool find_wanted(const struct asp_coll_run *run, uint32_t rank,
                        struct asp_coll_symbols *want)
{
    const struct asp_coll_problem *p = asp_coll_problem_of(
        run->problems, run->nproblems, rank);
    struct asp_coll_symbols in = {0}, result = {0};
    bool good = asp_coll_expect_before(p, rank, &in, want) &&
                asp_coll_expect_after(run->problems, run->nproblems, rank,
                                      &result);

    for (uint32_t i = 0; i < result.n && good; i++) {
        struct asp_coll_symbols one = {&result.list[i], 1, 1};

        good = asp_coll_symbols_write(want, result.list[i].start,
                                      result.list[i].end, &one);
    }
    free(in.list);
    free(result.list);
    return good;
}

/* All that is wanted is there, and nothing else was written. */
static int check_out(struct asp_coll_run *run, uint32_t rank,
                     const struct asp_coll_symbols *want)
{
    const struct asp_coll_symbols *out = asp_coll_run_buffer(run, rank,
                                                             ASP_COLL_OUT);

    for (uint32_t i = 0; i < want->n; i++)
        if (check_symbol(run, rank, &want->list[i]) < 0)
            return -1;
    run->one.n = 0;
    for (uint32_t i = 0; i < out->n; i++)
        if (!asp_coll_symbols_read(want, out->list[i].start, out->list[i].end,
                                   0, &run->one))
            return asp_errf(run->err, EINVAL,
                            "rank %u: writes outside of its result",
                            (unsigned) rank);
    return 0;
}

/* The result that all ranks get: reduced by the same expression as rank 0's. */
static int check_alike(struct asp_coll_run *run, uint32_t rank)
{
    const struct asp_coll_symbols *first = asp_coll_run_buffer(run, 0,
                                                               ASP_COLL_OUT);
    const struct asp_coll_symbols *own = asp_coll_run_buffer(run, rank,
                                                             ASP_COLL_OUT);

    for (uint32_t i = 0, j = 0; i < first->n && j < own->n;) {
        const struct asp_coll_symbol *a = &first->list[i], *b = &own->list[j];

        if (a->expression != b->expression)
            return asp_errf(run->err, EINVAL,
                            "rank %u: byte %zu of the result is reduced by "
                            "another expression than at rank 0",
                            (unsigned) rank,
                            a->start > b->start ? a->start : b->start);
        i += a->end <= b->end;
        j += b->end <= a->end;
    }
    return 0;
}

static int check_barrier(struct asp_coll_run *run, uint32_t rank)
{
    uint64_t all = run->ranks == 64 ? UINT64_MAX
                                    : (UINT64_C(1) << run->ranks) - 1;
    uint64_t heard = UINT64_C(1) << rank;

    for (uint32_t c = run->signal_base[rank]; c < run->signal_base[rank + 1];
         c++)
        heard |= run->signals[c];
    if (heard == all)
        return 0;
    return asp_errf(run->err, EINVAL, "rank %u leaves before ranks %#llx enter",
                    (unsigned) rank, (unsigned long long) (all & ~heard));
}

int asp_coll_run_check(struct asp_coll_run *run)
{
    enum asp_coll_op op = run->problems->op;
    struct asp_coll_symbols want = {0};
    int rc = 0;

    for (uint32_t r = 0; r < run->ranks && rc == 0; r++) {
        want.n = 0;
        if (op == ASP_COLL_BARRIER)
            rc = check_barrier(run, r);
        if (!find_wanted(run, r, &want))
            rc = asp_errf(run->err, ENOMEM, "out of memory");
        if (rc == 0)
            rc = check_out(run, r, &want);
        if (rc == 0 && op == ASP_COLL_ALLREDUCE)
            rc = check_alike(run, r);
    }
    free(want.list);
    return rc;
}
