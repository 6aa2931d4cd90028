/* SPDX-License-Identifier: BSD-3-Clause */
#include "native_calls.h"

#include <stdlib.h>
#include <string.h>

/* GUARD: bytes before and behind a buffer. */
enum { GAP = 0x5a, RANKS_MOST = 64, GUARD = 1024 };

/* One side of a call. */
struct side {
    char *memory[2]; /* of the call before, and of the latest */
    size_t bytes;    /* guards included */
    MPI_Datatype type;
    int count; /* elements of the type in a block */
};

struct data {
    struct shape shape;
    struct side from, to;
    int in_place, latest;
    int counts[RANKS_MOST], displs[RANKS_MOST]; /* of blocks that differ */
    struct aspx_coll_call call;
};

static const MPI_Op reductions[REDUCTIONS] = {MPI_SUM, MPI_MAX, MPI_MIN,
                                              MPI_PROD};

int is_reduction(enum asp_coll_op op)
{
    return op == ASP_COLL_REDUCE || op == ASP_COLL_ALLREDUCE ||
           op == ASP_COLL_REDUCE_SCATTER_BLOCK || op == ASP_COLL_SCAN ||
           op == ASP_COLL_EXSCAN || op == ASP_COLL_REDUCE_SCATTER;
}

static int has_counts(enum asp_coll_op op)
{
    return op == ASP_COLL_ALLGATHERV || op == ASP_COLL_REDUCE_SCATTER;
}

/* Elements of a rank's block: up to n, every third has none. */
static int count_of(const struct shape *s, int r)
{
    if (!has_counts(s->op))
        return s->n;
    return r % 3 == 1 ? 0 : s->n - r % 3 * (s->n / 3);
}

/* Of all that the bytes of a key count. */
static int elements(const struct shape *s)
{
    int sum = 0;

    for (int r = 0; r < s->size; r++)
        sum += count_of(s, r);
    return has_counts(s->op) ? sum : s->n;
}

static int is_rooted(enum asp_coll_op op)
{
    return op == ASP_COLL_REDUCE || op == ASP_COLL_SCATTER ||
           op == ASP_COLL_GATHER;
}

static size_t element_bytes(const struct shape *shape)
{
    return is_reduction(shape->op) && shape->floating ? sizeof(double)
                                                      : sizeof(int);
}

void describe(const struct shape *shape, struct asp_tune_args *args,
              struct aspx_native_problem *problem, int nodes)
{
    int none = shape->op == ASP_COLL_BARRIER;

    *args = (struct asp_tune_args){
        .bytes = none ? 0 : (size_t) elements(shape) * element_bytes(shape),
        .reduction = is_reduction(shape->op) ? ASP_TUNE_BUILTIN
                                             : ASP_TUNE_NO_REDUCTION,
        .floating = is_reduction(shape->op) && shape->floating,
        .in_place = shape->in_place && !none && !is_rooted(shape->op) &&
                    shape->op != ASP_COLL_BCAST,
        .root = (uint32_t) shape->root,
    };
    *problem = (struct aspx_native_problem){
        .op = shape->op,
        .ranks = (uint32_t) shape->size,
        .nodes = (uint32_t) nodes,
        .args = args,
    };
}

/* ---- memory ------------------------------------------------------------- */

static int sends(const struct shape *s)
{
    return s->op == ASP_COLL_SCATTER || s->op == ASP_COLL_ALLTOALL ||
                   s->op == ASP_COLL_REDUCE_SCATTER_BLOCK ||
                   s->op == ASP_COLL_REDUCE_SCATTER
               ? s->size
               : 1;
}

static int receives(const struct shape *s, int in_place)
{
    if (s->op == ASP_COLL_GATHER || s->op == ASP_COLL_ALLGATHER ||
        s->op == ASP_COLL_ALLTOALL || s->op == ASP_COLL_ALLGATHERV)
        return s->size;
    return (s->op == ASP_COLL_REDUCE_SCATTER_BLOCK ||
            s->op == ASP_COLL_REDUCE_SCATTER) &&
                   in_place
               ? s->size
               : 1;
}

/* As execute_call.c gives them to MPICH: bytes, unless they are reduced. */
static void make_side(struct side *side, const struct shape *shape, int blocks)
{
    int count = count_of(shape, shape->rank);

    *side = (struct side){.type = MPI_BYTE,
                          .count = count * (int) element_bytes(shape)};
    if (is_reduction(shape->op)) {
        side->type = shape->floating ? MPI_DOUBLE : MPI_INT;
        side->count = count;
    }
    side->bytes = (size_t) blocks * (size_t) shape->n * element_bytes(shape) +
                  2 * GUARD;
    side->memory[0] = malloc(side->bytes);
    side->memory[1] = malloc(side->bytes);
}

static void free_side(struct side *side)
{
    free(side->memory[0]);
    free(side->memory[1]);
}

static void set_element(const struct shape *s, char *memory, int at, int from)
{
    int value = (from * 7 + at * 3) % 5 - 2;

    if (element_bytes(s) == sizeof(double)) {
        double real = value;

        if (s->fractions)
            real = 1.0 / (3 + from * 17 + at % 101);
        memcpy(memory + (size_t) at * sizeof(real), &real, sizeof(real));
    } else {
        memcpy(memory + (size_t) at * sizeof(value), &value, sizeof(value));
    }
}

/* This rank's contribution, where the call wants it. */
static void fill(struct data *d, int in_place)
{
    const struct shape *s = &d->shape;
    int to = in_place && s->op != ASP_COLL_SCATTER;
    struct side *side = to || s->op == ASP_COLL_BCAST ? &d->to : &d->from;
    int first = to && (s->op == ASP_COLL_GATHER ||
                       s->op == ASP_COLL_ALLGATHER ||
                       s->op == ASP_COLL_ALLGATHERV)
                    ? s->rank * s->n
                    : 0;
    int n = s->op == ASP_COLL_ALLGATHERV ? count_of(s, s->rank)
                                         : sends(s) * s->n;

    memset(d->from.memory[d->latest], GAP, d->from.bytes);
    memset(d->to.memory[d->latest], GAP, d->to.bytes);
    if (s->op == ASP_COLL_BARRIER ||
        (s->op == ASP_COLL_BCAST && s->rank != s->root))
        return;
    for (int i = 0; i < n; i++)
        set_element(s, side->memory[d->latest] + GUARD, first + i, s->rank);
}

/* ---- calls -------------------------------------------------------------- */

static int mpi(const struct aspx_coll_call *c)
{
    int ns = (int) c->nsend, nr = (int) c->nrecv;

    switch (c->op) {
    case ASP_COLL_BARRIER:
        return MPI_Barrier(c->comm);
    case ASP_COLL_BCAST:
        return MPI_Bcast(c->recv, nr, c->recv_type, c->root, c->comm);
    case ASP_COLL_REDUCE:
        return MPI_Reduce(c->send, c->recv, nr, c->recv_type, c->reduction,
                          c->root, c->comm);
    case ASP_COLL_SCATTER:
        return MPI_Scatter(c->send, ns, c->send_type, c->recv, nr, c->recv_type,
                           c->root, c->comm);
    case ASP_COLL_GATHER:
        return MPI_Gather(c->send, ns, c->send_type, c->recv, nr, c->recv_type,
                          c->root, c->comm);
    case ASP_COLL_ALLGATHER:
        return MPI_Allgather(c->send, ns, c->send_type, c->recv, nr,
                             c->recv_type, c->comm);
    case ASP_COLL_ALLTOALL:
        return MPI_Alltoall(c->send, ns, c->send_type, c->recv, nr,
                            c->recv_type, c->comm);
    case ASP_COLL_ALLREDUCE:
        return MPI_Allreduce(c->send, c->recv, nr, c->recv_type, c->reduction,
                             c->comm);
    case ASP_COLL_REDUCE_SCATTER_BLOCK:
        return MPI_Reduce_scatter_block(c->send, c->recv, nr, c->recv_type,
                                        c->reduction, c->comm);
    case ASP_COLL_ALLGATHERV:
        return MPI_Allgatherv(c->send, ns, c->send_type, c->recv, c->counts,
                              c->displs, c->recv_type, c->comm);
    case ASP_COLL_REDUCE_SCATTER:
        return MPI_Reduce_scatter(c->send, c->recv, c->counts, c->recv_type,
                                  c->reduction, c->comm);
    case ASP_COLL_SCAN:
        return MPI_Scan(c->send, c->recv, nr, c->recv_type, c->reduction,
                        c->comm);
    default:
        return MPI_Exscan(c->send, c->recv, nr, c->recv_type, c->reduction,
                          c->comm);
    }
}

struct data *data_make(const struct shape *shape)
{
    struct data *d = calloc(1, sizeof(*d));
    int unit = shape->op == ASP_COLL_ALLGATHERV ? (int) element_bytes(shape)
                                                : 1;

    d->shape = *shape;
    for (int r = 0; r < shape->size; r++) {
        d->counts[r] = count_of(shape, r) * unit;
        d->displs[r] = r * shape->n * unit;
    }
    d->in_place = shape->in_place && shape->op != ASP_COLL_BCAST &&
                  (!is_rooted(shape->op) || shape->rank == shape->root);
    make_side(&d->from, shape, sends(shape));
    make_side(&d->to, shape, receives(shape, d->in_place));
    return d;
}

void data_free(struct data *data)
{
    free_side(&data->from);
    free_side(&data->to);
    free(data);
}

int data_call(struct data *d, const struct aspx_native_config *config)
{
    const struct shape *s = &d->shape;
    int in_place = d->in_place;
    struct aspx_coll_call call = {
        .op = s->op,
        .root = s->root,
        .nsend = d->from.count,
        .nrecv = d->to.count,
        .send_type = d->from.type,
        .recv_type = d->to.type,
        .counts = d->counts,
        .displs = d->displs,
        .reduction = reductions[s->reduction],
        .comm = s->comm,
        .mpi = mpi,
    };

    /* Plain MPICH 4.0 ends with a signal when another root than 0 reduces some
     * KiB in place. */
    if (!config && s->op == ASP_COLL_REDUCE && s->root != 0)
        in_place = 0;
    d->latest = !d->latest;
    fill(d, in_place);
    call.send = d->from.memory[d->latest] + GUARD;
    call.recv = d->to.memory[d->latest] + GUARD;
    if (in_place && s->op == ASP_COLL_SCATTER)
        call.recv = MPI_IN_PLACE;
    else if (in_place)
        call.send = MPI_IN_PLACE;
    return config ? aspx_native_call(config, &call) : mpi(&call);
}

/* ---- results ------------------------------------------------------------ */

int data_is_same(const struct data *d)
{
    /* What is not given to the call may be filled in another way. */
    return (d->in_place ||
            memcmp(d->from.memory[0], d->from.memory[1], d->from.bytes) == 0) &&
           memcmp(d->to.memory[0], d->to.memory[1], d->to.bytes) == 0;
}

int data_agrees(const struct data *d)
{
    const struct shape *s = &d->shape;
    int bytes = s->n * (int) element_bytes(s), same, all;
    char *first = malloc((size_t) bytes + 1);

    memcpy(first, d->to.memory[d->latest] + GUARD, (size_t) bytes);
    MPI_Bcast(first, bytes, MPI_BYTE, 0, s->comm);
    same = memcmp(first, d->to.memory[d->latest] + GUARD, (size_t) bytes) == 0;
    free(first);
    MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, s->comm);
    return all;
}
