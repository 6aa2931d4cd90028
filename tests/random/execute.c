/* SPDX-License-Identifier: BSD-3-Clause */
/* One operation, from this process: buffers, datatypes, the MPI call, and what
 * follows when it is complete here. */
#include "random.h"

#include <unistd.h>

enum { SCRATCH = 48 << 20, MARGIN = 32, PAUSE_US = 50 };

static unsigned char *scratch;
static size_t used;

/* A new place for each program: on the heap, or what MPI gives. */
void scratch_reset(struct program *p)
{
    static unsigned char *heap, *given;

    if (!heap) {
        heap = malloc(SCRATCH);
        MPI_Alloc_mem(SCRATCH, MPI_INFO_NULL, &given);
    }
    scratch = p->scratch_allocated ? given : heap;
    used = 0;
}

static unsigned char *buffer_for(const struct layout *layout,
                                 const struct type *type)
{
    size_t bytes = (size_t) (layout_span(layout) * type->extent) + MARGIN;
    unsigned char *found = scratch + used;

    used += (bytes + 63) / 64 * 64;
    if (used > SCRATCH)
        abort();
    memset(found, FILL, bytes);
    return found;
}

static void scatter(unsigned char *to, const struct layout *layout,
                    const struct type *type, const unsigned char *values, int n)
{
    size_t extent = (size_t) type->extent;

    for (int i = 0; i < n; i++)
        memcpy(to + (size_t) layout_slot(layout, i) * extent,
               values + (size_t) i * extent, extent);
}

struct call { /* the arguments of one MPI call */
    const void *origin;
    void *result;
    int origin_count, result_count, target_count, target;
    MPI_Datatype origin_type, result_type, target_type;
    MPI_Aint disp;
    MPI_Op op;
    MPI_Win win;
};

static void *address(const struct layout *layout, unsigned char *buffer)
{
    return layout->shape == ABSOLUTE ? MPI_BOTTOM : (void *) buffer;
}

static void buffers_prepare(struct op *op)
{
    int fetches = op->kind == GET_ACCUMULATE || op->kind == FETCH_AND_OP ||
                  op->kind == COMPARE_AND_SWAP;

    op->origin_buffer = buffer_for(&op->from, op->type);
    if (op->kind != GET)
        scatter(op->origin_buffer, &op->from, op->type, op->data, op->n);
    if (fetches)
        op->result_buffer = buffer_for(&op->result, op->type);
    if (op->kind != COMPARE_AND_SWAP)
        return;
    op->compare_buffer = buffer_for(&op->from, op->type);
    scatter(op->compare_buffer, &op->from, op->type,
            op->data + op->type->extent, op->n);
}

static void call_prepare(const struct op *op, struct call *c)
{
    const struct window *w = op->window;
    int unit = op->target < 0 ? 1 : w->side[op->target].unit;

    c->origin = address(&op->from, op->origin_buffer);
    c->origin_count = op->from.count;
    c->origin_type = layout_build(&op->from, op->type, op->origin_buffer);
    c->result = address(&op->result, op->result_buffer);
    c->result_count = op->result.count;
    c->result_type = layout_build(&op->result, op->type, op->result_buffer);
    c->target = op->target < 0 ? MPI_PROC_NULL : op->target;
    c->target_count = op->to.count;
    c->target_type = layout_build(&op->to, op->type, NULL);
    c->disp = op->at / unit;
    c->op = operators[op->op].mpi;
    c->win = w->mpi;
}

static void type_free(MPI_Datatype *type, const struct type *basic)
{
    if (*type != basic->mpi)
        MPI_Type_free(type);
}

#define CALL(name, ...)                                                        \
    (op->large ? MPI_##name##_c(__VA_ARGS__) : MPI_##name(__VA_ARGS__))
#define ORIGIN c->origin, c->origin_count, c->origin_type
#define ORIGIN_OUT                                                             \
    (void *) (uintptr_t) c->origin, c->origin_count, c->origin_type
#define RESULT c->result, c->result_count, c->result_type
#define TARGET c->target, c->disp, c->target_count, c->target_type

static void call_plain(const struct op *op, const struct call *c)
{
    switch (op->kind) {
    case PUT:
        CALL(Put, ORIGIN, TARGET, c->win);
        break;
    case GET:
        CALL(Get, ORIGIN_OUT, TARGET, c->win);
        break;
    case ACCUMULATE:
        CALL(Accumulate, ORIGIN, TARGET, c->op, c->win);
        break;
    case GET_ACCUMULATE:
        CALL(Get_accumulate, ORIGIN, RESULT, TARGET, c->op, c->win);
        break;
    case FETCH_AND_OP:
        MPI_Fetch_and_op(c->origin, c->result, op->type->mpi, c->target,
                         c->disp, c->op, c->win);
        break;
    case COMPARE_AND_SWAP:
        MPI_Compare_and_swap(c->origin, op->compare_buffer, c->result,
                             op->type->mpi, c->target, c->disp, c->win);
        break;
    case STORE:
    case LOAD:
    case GUARDED_ADD:
    case KINDS:
        break;
    }
}

static void call_request(struct op *op, const struct call *c)
{
    MPI_Request *r = &op->handle;

    if (op->kind == PUT)
        CALL(Rput, ORIGIN, TARGET, c->win, r);
    else if (op->kind == GET)
        CALL(Rget, ORIGIN_OUT, TARGET, c->win, r);
    else if (op->kind == ACCUMULATE)
        CALL(Raccumulate, ORIGIN, TARGET, c->op, c->win, r);
    else
        CALL(Rget_accumulate, ORIGIN, RESULT, TARGET, c->op, c->win, r);
}

/* Loads and stores of the target itself. */
static void local(struct op *op)
{
    unsigned char *base = op->window->base;
    size_t bytes = (size_t) (op->n * op->type->extent);

    if (op->kind == STORE) {
        scatter(base + op->at, &op->to, op->type, op->data, op->n);
        return;
    }
    layout_plain(&op->result, op->n);
    op->result_buffer = buffer_for(&op->result, op->type);
    memcpy(op->result_buffer, base + op->at, bytes);
}

/* Under an exclusive lock: no other process may come in between. */
static void guarded_add(struct program *p, struct op *op)
{
    struct window *w = op->window;
    int self = op->target == w->comm->me, t = op->target;
    MPI_Aint disp = op->at / w->side[t].unit;
    uint64_t *word = (uint64_t *) (void *) (w->base + op->at), value, bit;

    memcpy(&bit, op->data, sizeof bit);
    if (self && op->late) { /* load and store are allowed here too */
        MPI_Win_sync(w->mpi);
        value = *word;
        usleep(PAUSE_US);
        *word = value + bit;
        MPI_Win_sync(w->mpi);
    } else {
        uint64_t sum;

        MPI_Get(&value, 1, MPI_LONG, t, disp, 1, MPI_LONG, w->mpi);
        MPI_Win_flush(t, w->mpi);
        usleep(PAUSE_US); /* let another one in, if it can come in */
        sum = value + bit;
        MPI_Put(&sum, 1, MPI_LONG, t, disp, 1, MPI_LONG, w->mpi);
        MPI_Win_flush(t, w->mpi);
    }
    p->trace[op->trace].found = value;
    op->done = 1;
}

void op_issue(struct program *p, struct op *op)
{
    struct call c;

    op->issued = 1;
    if (op->kind == GUARDED_ADD) {
        guarded_add(p, op);
        return;
    }
    if (op->kind == STORE || op->kind == LOAD) {
        local(op);
        op_finish(p, op);
        return;
    }
    buffers_prepare(op);
    call_prepare(op, &c);
    if (op->request)
        call_request(op, &c);
    else
        call_plain(op, &c);
    type_free(&c.origin_type, op->type);
    type_free(&c.result_type, op->type);
    type_free(&c.target_type, op->type);
    if (op->request && !op->late)
        op_finish(p, op);
}

static void traces_keep(struct program *p, const struct op *op)
{
    const unsigned char *result = op->result_buffer;

    for (int i = 0; i < op->n; i++) {
        struct trace *trace = &p->trace[op->trace + i];

        if (trace->fetches)
            memcpy(&trace->found, result + layout_slot(&op->result, i) * 8,
                   sizeof trace->found);
    }
}

/* Complete at the origin: what it brought is here, and its buffers may be
 * written, which they are, to see that nobody reads them any more. */
void op_finish(struct program *p, struct op *op)
{
    if (op->done)
        return;
    op->done = 1;
    if (op->request)
        MPI_Wait(&op->handle, MPI_STATUS_IGNORE);
    check_result(p, op);
    if (op->trace >= 0)
        traces_keep(p, op);
    if (op->origin_buffer)
        memset(op->origin_buffer, 0x3c,
               (size_t) (layout_span(&op->from) * op->type->extent));
}
