/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts each step as soon as those that it needs have ended. Requests of
 * messages under way stand side by side, so that one MPI_Waitsome or
 * MPI_Testsome asks for all of them. */
#include "config.h"

#include "execute.h"

#include "blocks.h"
#include "call.h"

#include <stdlib.h>
#include <string.h>

/* ---- plans ------------------------------------------------------------------ */

void aspx_coll_plan_free(struct aspx_coll_plan *plan)
{
    free(plan->after);
    free(plan->followers);
    free(plan->left);
    free(plan->queue);
    free(plan->step_of);
    free(plan->indexes);
    free(plan->requests);
    free(plan->statuses);
    free(plan->scratch);
    memset(plan, 0, sizeof(*plan));
}

/* Needs, turned round: after[i] to after[i + 1] - 1 are in followers what needs
 * step i. */
static void turn_round(struct aspx_coll_plan *plan)
{
    const struct asp_coll_schedule *s = plan->schedule;

    for (uint32_t n = 0; n < s->nneeds; n++)
        plan->after[s->needs[n] + 1]++;
    for (uint32_t i = 0; i < s->nsteps; i++)
        plan->after[i + 1] += plan->after[i];
    memcpy(plan->left, plan->after, s->nsteps * sizeof(*plan->left));
    for (uint32_t i = 0; i < s->nsteps; i++)
        for (uint32_t n = 0; n < s->steps[i].nneeds; n++) {
            uint32_t need = s->needs[s->steps[i].needs_first + n];

            plan->followers[plan->left[need]++] = i;
        }
}

int aspx_coll_plan_make(struct aspx_coll_plan *plan,
                        const struct asp_coll_schedule *schedule)
{
    size_t n = schedule->nsteps + 1;

    aspx_coll_plan_free(plan);
    plan->schedule = schedule;
    plan->after = calloc(n + 1, sizeof(*plan->after));
    plan->followers = calloc((size_t) schedule->nneeds + 1,
                             sizeof(*plan->followers));
    plan->left = calloc(n, sizeof(*plan->left));
    plan->queue = calloc(n, sizeof(*plan->queue));
    plan->step_of = calloc(n, sizeof(*plan->step_of));
    plan->indexes = calloc(n, sizeof(*plan->indexes));
    plan->requests = calloc(n, sizeof(*plan->requests));
    plan->statuses = calloc(n, sizeof(*plan->statuses));
    /* As aligned as any element may want it. */
    plan->scratch = aligned_alloc(64, (schedule->scratch / 64 + 1) * 64);
    if (!plan->after || !plan->followers || !plan->left || !plan->queue ||
        !plan->step_of || !plan->indexes || !plan->requests ||
        !plan->statuses || !plan->scratch) {
        aspx_coll_plan_free(plan);
        return -1;
    }
    turn_round(plan);
    return 0;
}

/* ---- steps ------------------------------------------------------------------ */

static const struct asp_coll_step *step_at(const struct aspx_coll_run *run,
                                           uint32_t i)
{
    return &run->plan->schedule->steps[i];
}

static char *place(const struct aspx_coll_run *run, uint8_t buffer,
                   size_t offset)
{
    char *bases[ASP_COLL_BUFFERS] = {
        [ASP_COLL_IN] = (char *) (uintptr_t) run->where.in,
        [ASP_COLL_OUT] = run->where.out,
        [ASP_COLL_SCRATCH] = run->plan->scratch,
    };

    return buffer == ASP_COLL_SIGNAL ? NULL : bases[buffer] + offset;
}

static void note(struct aspx_coll_run *run, int rc)
{
    if (run->rc == MPI_SUCCESS)
        run->rc = rc;
}

static void end_step(struct aspx_coll_run *run, uint32_t i)
{
    struct aspx_coll_plan *plan = run->plan;

    run->ended++;
    for (uint32_t f = plan->after[i]; f < plan->after[i + 1]; f++)
        if (--plan->left[plan->followers[f]] == 0)
            plan->queue[run->tail++] = plan->followers[f];
}

/* What a message has, here. */
static MPI_Count bytes_of(const struct aspx_coll_run *run,
                          const struct asp_coll_step *step)
{
    if (!run->where.sent)
        return (MPI_Count) asp_coll_payload(step);
    return step->action == ASP_COLL_SEND
               ? aspx_coll_block_bytes(run->where.sent, (uint32_t) step->from)
               : aspx_coll_block_bytes(run->where.received,
                                       (uint32_t) step->to);
}

static int post_block(struct aspx_coll_run *run,
                      const struct asp_coll_step *step, int peer, int tag,
                      MPI_Request *request)
{
    return step->action == ASP_COLL_SEND
               ? aspx_coll_block_send(run->where.sent, (uint32_t) step->from,
                                      peer, tag, run->where.comm, request)
               : aspx_coll_block_recv(run->where.received, (uint32_t) step->to,
                                      peer, tag, run->where.comm, request);
}

/* Post a message. What cannot be posted counts as ended: the error is told; so
 * does a block of no bytes. */
static void post(struct aspx_coll_run *run, uint32_t i)
{
    const struct asp_coll_step *step = step_at(run, i);
    MPI_Count bytes = bytes_of(run, step);
    int peer = run->where.ranks ? run->where.ranks[step->peer]
                                : (int) step->peer;
    int tag = run->where.tag + (int) step->tag, rc;
    MPI_Request *request = &run->plan->requests[run->nrequests];

    if (run->where.sent && bytes == 0) {
        end_step(run, i);
        return;
    }
    if (run->where.sent)
        rc = post_block(run, step, peer, tag, request);
    else if (step->action == ASP_COLL_SEND)
        rc = aspx_coll_behind.MPI_Isend_c(
            place(run, step->from_buffer, step->from), bytes, MPI_BYTE, peer,
            tag, run->where.comm, request);
    else
        rc = aspx_coll_behind.MPI_Irecv_c(place(run, step->to_buffer, step->to),
                                          bytes, MPI_BYTE, peer, tag,
                                          run->where.comm, request);
    if (rc != MPI_SUCCESS) {
        note(run, rc);
        end_step(run, i);
        return;
    }
    run->plan->step_of[run->nrequests++] = i;
}

static void reduce(struct aspx_coll_run *run, const struct asp_coll_step *step)
{
    note(run, aspx_coll_behind.MPI_Reduce_local_c(
                  place(run, step->from_buffer, step->from),
                  place(run, step->to_buffer, step->to),
                  (MPI_Count) (step->bytes / run->where.element_size),
                  run->where.type, run->where.reduction));
}

static void begin(struct aspx_coll_run *run, uint32_t i)
{
    const struct asp_coll_step *step = step_at(run, i);

    switch (step->action) {
    case ASP_COLL_SEND:
    case ASP_COLL_RECV:
        post(run, i);
        return;
    case ASP_COLL_COPY:
        if (run->where.sent)
            note(run, aspx_coll_block_copy(run->where.sent, run->where.received,
                                           (uint32_t) step->from,
                                           run->where.tag, run->where.comm));
        else if (step->from_buffer != ASP_COLL_SIGNAL)
            memcpy(place(run, step->to_buffer, step->to),
                   place(run, step->from_buffer, step->from), step->bytes);
        break;
    case ASP_COLL_REDUCE_LOCAL:
        reduce(run, step);
        break;
    }
    end_step(run, i);
}

static void begin_ready(struct aspx_coll_run *run)
{
    while (run->head < run->tail)
        begin(run, run->plan->queue[run->head++]);
}

/* ---- messages that ended ---------------------------------------------------- */

/* Ranks of an erroneous program may disagree about the size. */
static int check_size(const struct aspx_coll_run *run,
                      const struct asp_coll_step *step, MPI_Status *status)
{
    MPI_Count came = 0;

    if (step->action == ASP_COLL_SEND)
        return MPI_SUCCESS;
    aspx_coll_behind.MPI_Get_count_c(status, MPI_BYTE, &came);
    return came == bytes_of(run, step) ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

static void end_message(struct aspx_coll_run *run, uint32_t slot, int rc,
                        MPI_Status *status)
{
    struct aspx_coll_plan *plan = run->plan;

    if (rc == MPI_SUCCESS)
        rc = check_size(run, step_at(run, plan->step_of[slot]), status);
    note(run, rc);
    end_step(run, plan->step_of[slot]);
}

/* The requests that are left move together. */
static void close_ranks(struct aspx_coll_run *run)
{
    struct aspx_coll_plan *plan = run->plan;
    uint32_t kept = 0;

    for (uint32_t r = 0; r < run->nrequests; r++)
        if (plan->requests[r] != MPI_REQUEST_NULL) {
            plan->requests[kept] = plan->requests[r];
            plan->step_of[kept++] = plan->step_of[r];
        }
    run->nrequests = kept;
}

static bool is_in_status(int rc)
{
    int class = rc;

    aspx_coll_behind.MPI_Error_class(rc, &class);
    return class == MPI_ERR_IN_STATUS;
}

/* What MPI_Waitsome and MPI_Testsome tell of n requests. */
static void end_some(struct aspx_coll_run *run, int n, int rc)
{
    struct aspx_coll_plan *plan = run->plan;

    if (rc != MPI_SUCCESS && !is_in_status(rc)) {
        note(run, rc); /* nothing is known of any: give up */
        run->ended = plan->schedule->nsteps;
        run->nrequests = 0;
        return;
    }
    for (int k = 0; k < n; k++)
        end_message(run, (uint32_t) plan->indexes[k],
                    rc == MPI_SUCCESS ? MPI_SUCCESS
                                      : plan->statuses[k].MPI_ERROR,
                    &plan->statuses[k]);
    if (n > 0)
        close_ranks(run);
}

static bool is_over(const struct aspx_coll_run *run)
{
    return run->ended >= run->plan->schedule->nsteps;
}

void aspx_coll_run_start(struct aspx_coll_run *run, struct aspx_coll_plan *plan,
                         const struct aspx_coll_where *where)
{
    const struct asp_coll_schedule *s = plan->schedule;

    *run = (struct aspx_coll_run){.plan = plan, .where = *where};
    for (uint32_t i = 0; i < s->nsteps; i++) {
        plan->left[i] = s->steps[i].nneeds;
        if (plan->left[i] == 0)
            plan->queue[run->tail++] = i;
    }
    begin_ready(run);
}

bool aspx_coll_run_test(struct aspx_coll_run *run)
{
    struct aspx_coll_plan *plan = run->plan;
    int n = 0, rc;

    if (is_over(run))
        return true;
    rc = aspx_coll_behind.MPI_Testsome((int) run->nrequests, plan->requests, &n,
                                       plan->indexes, plan->statuses);
    end_some(run, n == MPI_UNDEFINED ? 0 : n, rc);
    begin_ready(run);
    return is_over(run);
}

int aspx_coll_run_wait(struct aspx_coll_run *run)
{
    struct aspx_coll_plan *plan = run->plan;

    while (!is_over(run)) {
        int n = 0, rc;

        rc = aspx_coll_behind.MPI_Waitsome((int) run->nrequests, plan->requests,
                                           &n, plan->indexes, plan->statuses);
        end_some(run, n == MPI_UNDEFINED ? 0 : n, rc);
        begin_ready(run);
    }
    return run->rc;
}
