/* SPDX-License-Identifier: BSD-3-Clause */
/* What `aspen tune` runs in the place of a program: calls each collective in
 * each size until the search for it, of the library that is preloaded, has come
 * to a choice. It is a plain MPI program; without the library it says so.
 *
 *   aspen-coll-sweep [--ops LIST] [--from BYTES] [--to BYTES]
 *   aspen-coll-sweep --probe   nothing: MPI_Init has measured the links */
#include "common/coll/schedule/forms.h"
#include "runtime/base/log.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum {
    ACTIVATION = 8,    /* calls before a communicator is tuned */
    CALLS_MOST = 5000, /* of one kind: a search that never ends */
    ASK_EVERY = 4,
};

struct what {
    MPI_Comm comm;
    size_t bytes;
    int root, in_place, rank, size;
    MPI_Datatype type; /* of reductions */
    int element;
    char *in, *out;
    int *counts, *displs;
};

static void barrier(const struct what *w)
{
    MPI_Barrier(w->comm);
}

static void bcast(const struct what *w)
{
    MPI_Bcast(w->out, (int) w->bytes, MPI_BYTE, w->root, w->comm);
}

static void scatter(const struct what *w)
{
    MPI_Scatter(w->in, (int) w->bytes, MPI_BYTE, w->out, (int) w->bytes,
                MPI_BYTE, w->root, w->comm);
}

static void gather(const struct what *w)
{
    MPI_Gather(w->in, (int) w->bytes, MPI_BYTE, w->out, (int) w->bytes,
               MPI_BYTE, w->root, w->comm);
}

static void allgather(const struct what *w)
{
    MPI_Allgather(w->in_place ? MPI_IN_PLACE : w->in, (int) w->bytes, MPI_BYTE,
                  w->out, (int) w->bytes, MPI_BYTE, w->comm);
}

static void alltoall(const struct what *w)
{
    MPI_Alltoall(w->in_place ? MPI_IN_PLACE : w->in, (int) w->bytes, MPI_BYTE,
                 w->out, (int) w->bytes, MPI_BYTE, w->comm);
}

/* A search of it begins in the second call, with a size that was agreed on. */
static void alltoallv(const struct what *w)
{
    for (int r = 0; r < w->size; r++) {
        w->counts[r] = (int) w->bytes;
        w->displs[r] = r * (int) w->bytes;
    }
    MPI_Alltoallv(w->in_place ? MPI_IN_PLACE : w->in, w->counts, w->displs,
                  MPI_BYTE, w->out, w->counts, w->displs, MPI_BYTE, w->comm);
}

static int count(const struct what *w)
{
    return (int) (w->bytes / (size_t) w->element);
}

static void reduce(const struct what *w)
{
    MPI_Reduce(w->in, w->out, count(w), w->type, MPI_SUM, w->root, w->comm);
}

static void allreduce(const struct what *w)
{
    MPI_Allreduce(w->in_place ? MPI_IN_PLACE : w->in, w->out, count(w), w->type,
                  MPI_SUM, w->comm);
}

static void reduce_scatter_block(const struct what *w)
{
    MPI_Reduce_scatter_block(w->in_place ? MPI_IN_PLACE : w->in, w->out,
                             count(w), w->type, MPI_SUM, w->comm);
}

static void scan(const struct what *w)
{
    MPI_Scan(w->in_place ? MPI_IN_PLACE : w->in, w->out, count(w), w->type,
             MPI_SUM, w->comm);
}

static void exscan(const struct what *w)
{
    MPI_Exscan(w->in_place ? MPI_IN_PLACE : w->in, w->out, count(w), w->type,
               MPI_SUM, w->comm);
}

/* What is measured. */
static void (*const calls[ASP_COLL_OPS])(const struct what *w) = {
    [ASP_COLL_BARRIER] = barrier,
    [ASP_COLL_BCAST] = bcast,
    [ASP_COLL_REDUCE] = reduce,
    [ASP_COLL_SCATTER] = scatter,
    [ASP_COLL_GATHER] = gather,
    [ASP_COLL_ALLGATHER] = allgather,
    [ASP_COLL_ALLTOALL] = alltoall,
    [ASP_COLL_ALLTOALLV] = alltoallv,
    [ASP_COLL_ALLREDUCE] = allreduce,
    [ASP_COLL_REDUCE_SCATTER_BLOCK] = reduce_scatter_block,
    [ASP_COLL_SCAN] = scan,
    [ASP_COLL_EXSCAN] = exscan,
};

static const char *wanted; /* names with commas, NULL: all */
static size_t from = 8, to = 1 << 20;
static int is_first, only_probe;

static int is_wanted(const char *name)
{
    size_t n = strlen(name);

    for (const char *at = wanted; at && *at; at += strcspn(at, ",")) {
        at += *at == ',';
        if (strncmp(at, name, n) == 0 && (at[n] == ',' || !at[n]))
            return 1;
    }
    return !wanted;
}

/* Searches that are open; -1: the communicator is not tuned. */
static int open_searches(MPI_Comm comm)
{
    char value[16] = "";
    MPI_Info info;
    int found = 0;

    MPI_Comm_get_info(comm, &info);
    MPI_Info_get(info, "aspen_coll_open", sizeof(value) - 1, value, &found);
    MPI_Info_free(&info);
    return found ? atoi(value) : -1;
}

/* Returns 0 when nobody tunes. All ranks ask alike and get the same answer. */
static int until_chosen(enum asp_coll_op op, const struct what *w)
{
    int open = 1;

    for (int i = 0; i < CALLS_MOST && open > 0; i++) {
        calls[op](w);
        if (i % ASK_EVERY == ASK_EVERY - 1)
            open = open_searches(w->comm);
    }
    return open >= 0;
}

static int one_size(enum asp_coll_op op, struct what *w)
{
    const struct asp_coll_form *form = &asp_coll_forms[op];
    int roots = form->root && w->size > 1 ? 2 : 1;
    int places = form->in_place == ASP_COLL_ALL_IN_PLACE ? 2 : 1;

    for (w->root = 0; w->root < roots; w->root++)
        for (w->in_place = 0; w->in_place < places; w->in_place++)
            for (int type = 0; type < (form->reduces ? 2 : 1); type++) {
                w->type = type ? MPI_LONG : MPI_DOUBLE;
                if (!until_chosen(op, w))
                    return 0;
            }
    return 1;
}

/* Reductions of zeros stay zeros, however often they are carried out. */
static int take_memory(struct what *w, enum asp_coll_op op)
{
    size_t blocks = asp_coll_most_blocks(&asp_coll_forms[op],
                                         (uint64_t) w->size);

    w->in = calloc(blocks, to + 64);
    w->out = calloc(blocks, to + 64);
    w->counts = calloc((size_t) w->size, sizeof(int));
    w->displs = calloc((size_t) w->size, sizeof(int));
    return w->in && w->out && w->counts && w->displs;
}

static void take_comm(struct what *w)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &w->comm);
    for (int i = 0; i < ACTIVATION; i++)
        MPI_Barrier(w->comm);
}

static int sweep(enum asp_coll_op op)
{
    bool moves = asp_coll_forms[op].out;
    struct what w = {.element = (int) sizeof(double)};
    int tuned = 1;

    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w.size);
    if (!take_memory(&w, op)) {
        aspx_log(ASPX_LOG_ERROR, "no memory for %zu bytes", to);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    take_comm(&w);
    for (w.bytes = from; w.bytes <= to && tuned; w.bytes *= 2) {
        if (is_first)
            aspx_log(ASPX_LOG_NOTICE, "%s, %zu bytes", asp_coll_op_name(op),
                     moves ? w.bytes : 0);
        tuned = one_size(op, &w);
        if (!moves)
            break;
        if (asp_coll_forms[op].counts == ASP_COLL_COUNTS_OWN) {
            if (2 * w.bytes > INT_MAX / (size_t) w.size)
                break;
            MPI_Comm_free(&w.comm);
            take_comm(&w);
        }
    }
    MPI_Comm_free(&w.comm);
    free(w.in);
    free(w.out);
    free(w.counts);
    free(w.displs);
    return tuned;
}

static size_t number(const char *text)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);

    return *text >= '0' && *text <= '9' && !*end ? (size_t) value : 0;
}

static void read_options(int argc, char **argv)
{
    static const struct option options[] = {
        {"ops", required_argument, NULL, 'o'},
        {"from", required_argument, NULL, 'f'},
        {"to", required_argument, NULL, 't'},
        {"probe", no_argument, NULL, 'p'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
        if (option == 'o')
            wanted = optarg;
        else if (option == 'f')
            from = number(optarg);
        else if (option == 't')
            to = number(optarg);
        else if (option == 'p')
            only_probe = 1;
    if (from < sizeof(double) || to > 1 << 30 || from > to) {
        aspx_log(ASPX_LOG_ERROR, "sizes from 8 to 2^30 bytes");
        exit(2);
    }
}

/* Is the library there? Of calls that move nothing no configuration is
 * searched. */
static int is_tuned(void)
{
    int tuned, nothing = 0;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < ACTIVATION; i++)
        MPI_Bcast(&nothing, 0, MPI_INT, 0, comm);
    tuned = open_searches(comm) >= 0;
    MPI_Comm_free(&comm);
    return tuned;
}

static int sweep_all(void)
{
    int tuned = 1;

    for (enum asp_coll_op op = 0; op < ASP_COLL_OPS && tuned; op++)
        if (calls[op] && is_wanted(asp_coll_op_name(op)))
            tuned = sweep(op);
    return tuned;
}

int main(int argc, char **argv)
{
    int rank, tuned;

    aspx_log_start("aspen tune");
    read_options(argc, argv);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    is_first = rank == 0;
    tuned = only_probe ? is_tuned() : sweep_all();
    if (!tuned && is_first)
        aspx_log(ASPX_LOG_ERROR,
                 "collectives are not tuned here: Aspen's "
                 "library is not loaded, there is one rank only, or a "
                 "line above says why");
    MPI_Finalize();
    return tuned ? 0 : 1;
}
