/* SPDX-License-Identifier: BSD-3-Clause */
/* The verifier: steps that may run are kept in a bag, one of them is drawn at
 * random and done. A message is one event of both its steps, when both may run.
 */
#include "tests/coll/verify/verify.h"
#include "tests/coll/verify/expect.h"
#include "tests/coll/verify/ordered.h"
#include "tests/coll/verify/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* xorshift64. */
static uint64_t draw(struct asp_coll_run *run)
{
    run->seed ^= run->seed << 13;
    run->seed ^= run->seed >> 7;
    run->seed ^= run->seed << 17;
    return run->seed;
}

static const struct asp_coll_step *step_of(const struct asp_coll_run *run,
                                           uint32_t number)
{
    uint32_t rank = run->owner[number];

    return &run->graph.schedules[rank].steps[number - run->graph.base[rank]];
}

static int complain(const struct asp_coll_run *run, uint32_t number,
                    const char *what)
{
    uint32_t rank = run->owner[number];

    return asp_errf(run->err, EINVAL, "rank %u, step %u: %s", (unsigned) rank,
                    (unsigned) (number - run->graph.base[rank]), what);
}

static int complain_read(const struct asp_coll_run *run, uint32_t number)
{
    if (errno == ENODATA)
        return complain(run, number, "reads undefined bytes");
    return asp_errf(run->err, ENOMEM, "out of memory");
}

/* Read what a step takes from its buffer, as if it lay at. */
static int read_from(struct asp_coll_run *run, uint32_t number, size_t at)
{
    const struct asp_coll_step *step = step_of(run, number);

    run->one.n = 0;
    if (!asp_coll_symbols_read(
            asp_coll_run_buffer(run, run->owner[number], step->from_buffer),
            step->from, step->from + step->bytes, at, &run->one))
        return complain_read(run, number);
    return 0;
}

/* Put what is in run->one where a step writes to. */
static int write_to(struct asp_coll_run *run, uint32_t number,
                    const struct asp_coll_symbols *what)
{
    const struct asp_coll_step *step = step_of(run, number);

    if (!asp_coll_symbols_write(
            asp_coll_run_buffer(run, run->owner[number], step->to_buffer),
            step->to, step->to + step->bytes, what))
        return asp_errf(run->err, ENOMEM, "out of memory");
    return 0;
}

static int do_copy(struct asp_coll_run *run, uint32_t number)
{
    const struct asp_coll_step *step = step_of(run, number);

    if (step->from_buffer == step->to_buffer &&
        step->from < step->to + step->bytes &&
        step->to < step->from + step->bytes)
        return complain(run, number, "copies or reduces what overlaps");
    if (read_from(run, number, step->to) < 0)
        return -1;
    return step->action == ASP_COLL_REDUCE_LOCAL
               ? 0
               : write_to(run, number, &run->one);
}

static int do_reduce(struct asp_coll_run *run, uint32_t number)
{
    const struct asp_coll_step *step = step_of(run, number);
    const struct asp_coll_problem *p = run->problems;
    struct asp_coll_symbols into = {0};
    const char *why = NULL;
    int rc;

    if (do_copy(run, number) < 0)
        return -1;
    run->other.n = 0;
    if (!asp_coll_symbols_read(
            asp_coll_run_buffer(run, run->owner[number], step->to_buffer),
            step->to, step->to + step->bytes, step->to, &run->other))
        return complain_read(run, number);
    if (asp_coll_symbols_reduce(&run->one, &run->other, p->element_size,
                                p->commutative, &into, &why))
        rc = write_to(run, number, &into);
    else
        rc = complain(run, number, why ? why : "out of memory");
    free(into.list);
    return rc;
}

/* A signal tells what all the cells of the sender know. */
static void do_signal(struct asp_coll_run *run, uint32_t send, uint32_t recv)
{
    const struct asp_coll_step *from = step_of(run, send);
    const struct asp_coll_step *to = step_of(run, recv);
    const uint64_t *cells = run->signals + run->signal_base[run->owner[send]] +
                            from->from;
    uint64_t *cell = run->signals + run->signal_base[run->owner[recv]] + to->to;

    for (size_t i = 0; i < from->bytes; i++)
        for (size_t j = 0; j < to->bytes; j++)
            cell[j] |= cells[i];
}

static int do_message(struct asp_coll_run *run, uint32_t send, uint32_t recv)
{
    const struct asp_coll_step *from = step_of(run, send);
    const struct asp_coll_step *to = step_of(run, recv);

    if ((from->from_buffer == ASP_COLL_SIGNAL) !=
        (to->to_buffer == ASP_COLL_SIGNAL))
        return complain(run, send, "a signal to where bytes are expected");
    if (from->from_buffer == ASP_COLL_SIGNAL) {
        do_signal(run, send, recv);
        return 0;
    }
    if (read_from(run, send, to->to) < 0)
        return -1;
    return write_to(run, recv, &run->one);
}

/* A step has nothing left to wait for. */
static void make_ready(struct asp_coll_run *run, uint32_t number)
{
    uint32_t partner = run->graph.partner[number];

    run->ready[number] = 1;
    if (partner == number || run->ready[partner])
        run->bag[run->nbag++] = number;
}

static void end_step(struct asp_coll_run *run, uint32_t number)
{
    const struct asp_coll_graph *g = &run->graph;

    for (uint32_t i = g->first[number]; i < g->first[number + 1]; i++)
        if (--g->waits[g->followers[i]] == 0)
            make_ready(run, g->followers[i]);
}

static int do_step(struct asp_coll_run *run, uint32_t number)
{
    uint32_t partner = run->graph.partner[number], send = number;
    int rc = 0;

    switch ((enum asp_coll_action) step_of(run, number)->action) {
    case ASP_COLL_COPY:
        rc = do_copy(run, number);
        break;
    case ASP_COLL_REDUCE_LOCAL:
        rc = do_reduce(run, number);
        break;
    case ASP_COLL_RECV:
        send = partner;
        rc = do_message(run, send, number);
        break;
    case ASP_COLL_SEND:
        rc = do_message(run, send, partner);
        break;
    }
    if (rc < 0)
        return -1;
    end_step(run, number);
    if (partner != number)
        end_step(run, partner);
    return 0;
}

static int run_all(struct asp_coll_run *run)
{
    uint32_t done = 0;

    for (uint32_t n = 0; n < run->graph.nsteps; n++)
        if (!run->graph.waits[n])
            make_ready(run, n);
    while (run->nbag) {
        uint32_t i = (uint32_t) (draw(run) % run->nbag);
        uint32_t number = run->bag[i];

        run->bag[i] = run->bag[--run->nbag];
        if (do_step(run, number) < 0)
            return -1;
        done += run->graph.partner[number] == number ? 1 : 2;
    }
    for (uint32_t n = 0; n < run->graph.nsteps && done < run->graph.nsteps; n++)
        if (run->graph.waits[n] || !run->ready[n] ||
            !run->ready[run->graph.partner[n]])
            return complain(run, n, "waits for ever");
    return 0;
}

/* IN and OUT have no limit here: what is outside is not defined, or not part of
 * the result. */
static bool outside(const struct asp_coll_schedule *s, uint8_t buffer,
                    size_t offset, size_t bytes)
{
    size_t limit = buffer == ASP_COLL_SCRATCH  ? s->scratch
                   : buffer == ASP_COLL_SIGNAL ? s->signals
                                               : SIZE_MAX;

    return offset > limit || bytes > limit - offset;
}

/* What can be seen without a run. */
static int check_step(const struct asp_coll_run *run, uint32_t number)
{
    const struct asp_coll_step *step = step_of(run, number);
    const struct asp_coll_schedule *s =
        &run->graph.schedules[run->owner[number]];
    bool reads = step->action != ASP_COLL_RECV;
    bool writes = step->action != ASP_COLL_SEND;

    if (writes && step->to_buffer == ASP_COLL_IN)
        return complain(run, number, "writes the send buffer");
    if ((reads && outside(s, step->from_buffer, step->from, step->bytes)) ||
        (writes && outside(s, step->to_buffer, step->to, step->bytes)))
        return complain(run, number, "is outside of its buffer");
    if (reads && writes &&
        (step->from_buffer == ASP_COLL_SIGNAL ||
         step->to_buffer == ASP_COLL_SIGNAL))
        return complain(run, number, "a signal is no operand");
    return 0;
}

static int check_all(struct asp_coll_run *run)
{
    uint32_t one, other;

    for (uint32_t n = 0; n < run->graph.nsteps; n++)
        if (check_step(run, n) < 0)
            return -1;
    for (uint32_t r = 0; r < run->ranks; r++) {
        int rc = asp_coll_ordered(&run->graph.schedules[r], &one, &other);

        if (rc < 0)
            return asp_errf(run->err, ENOMEM, "out of memory");
        if (rc == 0)
            return asp_errf(run->err, EINVAL,
                            "rank %u: steps %u and %u conflict, and neither "
                            "waits for the other",
                            (unsigned) r, (unsigned) one, (unsigned) other);
    }
    return 0;
}

/* Signals: each cell knows of its own rank, until others tell it more. */
static bool fill_signals(struct asp_coll_run *run)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < run->ranks; r++) {
        run->signal_base[r] = n;
        n += run->graph.schedules[r].signals;
    }
    run->signal_base[run->ranks] = n;
    run->signals = malloc((n + 1) * sizeof(*run->signals));
    for (uint32_t r = 0; r < run->ranks && run->signals; r++)
        for (uint32_t c = run->signal_base[r]; c < run->signal_base[r + 1]; c++)
            run->signals[c] = UINT64_C(1) << r;
    return run->signals;
}

static int prepare(struct asp_coll_run *run)
{
    uint32_t n = run->graph.nsteps + 1;
    bool good;

    run->buffers = calloc((size_t) run->ranks * ASP_COLL_BUFFERS,
                          sizeof(*run->buffers));
    run->signal_base = malloc((run->ranks + 1) * sizeof(*run->signal_base));
    run->owner = malloc(n * sizeof(*run->owner));
    run->bag = malloc(n * sizeof(*run->bag));
    run->ready = calloc(n, sizeof(*run->ready));
    good = run->buffers && run->signal_base && run->owner && run->bag &&
           run->ready && fill_signals(run);
    for (uint32_t r = 0; r < run->ranks && good; r++) {
        for (uint32_t i = run->graph.base[r]; i < run->graph.base[r + 1]; i++)
            run->owner[i] = r;
        good = asp_coll_expect_before(
            asp_coll_problem_of(run->problems, run->nproblems, r), r,
            asp_coll_run_buffer(run, r, ASP_COLL_IN),
            asp_coll_run_buffer(run, r, ASP_COLL_OUT));
    }
    return good ? 0 : asp_errf(run->err, ENOMEM, "out of memory");
}

static void release(struct asp_coll_run *run)
{
    int error = errno;

    for (size_t i = 0; run->buffers && i < run->ranks * ASP_COLL_BUFFERS; i++)
        free(run->buffers[i].list);
    free(run->buffers);
    free(run->signals);
    free(run->signal_base);
    free(run->owner);
    free(run->bag);
    free(run->ready);
    free(run->one.list);
    free(run->other.list);
    asp_coll_graph_destroy(&run->graph);
    errno = error;
}

int asp_coll_verify(const struct asp_coll_problem *problems, uint32_t nproblems,
                    const struct asp_coll_schedule *schedules, uint64_t seed,
                    struct asp_err *err)
{
    struct asp_coll_run run = {
        .problems = problems,
        .nproblems = nproblems,
        .ranks = problems->ranks,
        .seed = seed | 1,
        .err = err,
    };
    int rc = -1;

    if (run.ranks > ASP_COLL_VERIFY_RANKS)
        return asp_errf(err, ERANGE, "%u ranks are too many to verify",
                        (unsigned) run.ranks);
    if (asp_coll_graph_make(schedules, run.ranks, &run.graph, err) == 0 &&
        prepare(&run) == 0 && check_all(&run) == 0 && run_all(&run) == 0)
        rc = asp_coll_run_check(&run);
    release(&run);
    return rc;
}
