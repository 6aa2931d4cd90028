/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a verification: the receive buffers of all ranks. */
#include "common/coll/expect.h"
#include "common/coll/verify_run.h"

#include <errno.h>
#include <stdlib.h>

/* Is what was found part of what is wanted? */
static bool fits_symbol(const struct asp_coll_symbol *want,
                        const struct asp_coll_symbol *found)
{
    return !want->ranks ||
           (want->ranks == found->ranks &&
            found->offset == want->offset + (found->start - want->start));
}

static int check_symbol(struct asp_coll_run *run, uint32_t rank,
                        const struct asp_coll_symbol *want)
{
    const struct asp_coll_symbols *out = asp_coll_run_buffer(run, rank,
                                                             ASP_COLL_OUT);

    run->one.n = 0;
    if (!want->ranks)
        return 0;
    if (!asp_coll_symbols_read(out, want->start, want->end, want->start,
                               &run->one))
        return asp_errf(run->err, EINVAL,
                        "rank %u: bytes %zu to %zu of the "
                        "result are not all there",
                        (unsigned) rank, want->start, want->end - 1);
    for (uint32_t i = 0; i < run->one.n; i++)
        if (!fits_symbol(want, &run->one.list[i]))
            return asp_errf(run->err, EINVAL,
                            "rank %u: byte %zu of the result is wrong: ranks "
                            "%#llx at %zu, not %#llx",
                            (unsigned) rank, run->one.list[i].start,
                            (unsigned long long) run->one.list[i].ranks,
                            run->one.list[i].offset,
                            (unsigned long long) want->ranks);
    return 0;
}

/* Nothing of OUT was written but the result and the input. */
static int check_rest(struct asp_coll_run *run, uint32_t rank,
                      const struct asp_coll_symbols *want)
{
    const struct asp_coll_symbols *out = asp_coll_run_buffer(run, rank,
                                                             ASP_COLL_OUT);
    struct asp_coll_symbols may = {0}, in = {0}, whole = {0};
    const struct asp_coll_problem *p = asp_coll_problem_of(
        run->problems, run->nproblems, rank);
    bool good = asp_coll_expect_before(p, rank, &in, &may);

    for (uint32_t i = 0; i < want->n && good; i++) {
        struct asp_coll_symbols one = {(void *) &want->list[i], 1, 1};

        good = asp_coll_symbols_write(&may, want->list[i].start,
                                      want->list[i].end, &one);
    }
    for (uint32_t i = 0; i < out->n && good; i++)
        good = asp_coll_symbols_read(&may, out->list[i].start, out->list[i].end,
                                     0, &whole);
    free(may.list);
    free(in.list);
    free(whole.list);
    return good ? 0
                : asp_errf(run->err, EINVAL,
                           "rank %u: writes outside of its result",
                           (unsigned) rank);
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
    struct asp_coll_symbols want = {0};
    int rc = 0;

    for (uint32_t r = 0; r < run->ranks && rc == 0; r++) {
        want.n = 0;
        if (run->problems->op == ASP_COLL_BARRIER)
            rc = check_barrier(run, r);
        if (!asp_coll_expect_after(run->problems, run->nproblems, r, &want))
            rc = asp_errf(run->err, ENOMEM, "out of memory");
        for (uint32_t i = 0; i < want.n && rc == 0; i++)
            rc = check_symbol(run, r, &want.list[i]);
        if (rc == 0)
            rc = check_rest(run, r, &want);
    }
    free(want.list);
    return rc;
}
