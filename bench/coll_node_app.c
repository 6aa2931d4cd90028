/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: coll_node_app OPERATION BYTES SAMPLES
 * Times an operation of MPICH and the same of runtime/coll/node in all
 * configurations, in turn, all ranks on one node. A sample is some operations
 * in a row, from the arrival of the last rank to the departure of the last one;
 * before each that is no barrier comes one, the same for all contenders, whose
 * time is included. Prints for each contender its name, median and quartiles in
 * microseconds. */
#include "config.h"

#include "buffer.h"

#include "runtime/coll/node/area.h"
#include "runtime/coll/node/mpi_reduce.h"
#include "runtime/coll/node/node.h"
#include "runtime/mpi/real.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CONFIGS_MAX = 128, NS_PER_US = 1000, SLOW_RUN = 1, QUICK_RUN = 20 };

struct contender {
    struct aspx_node_config config;
    int is_mpi;
    int run; /* operations in a sample */
    char name[64];
    int64_t *came, *left; /* by sample, nanoseconds */
};

static struct contender contenders[CONFIGS_MAX];
static int ncontenders, rank, size;
static struct aspx_node_area *area;
static const char *operation;
static int bytes;
static char *in, *out;

static const char *const signals[] = {"pull", "push"};
static const char *const waiters[] = {"spin", "yield", "sleep"};
static const char *const reductions[] = {"tree", "shares", "each"};

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

static void run_mpi(void)
{
    if (strcmp(operation, "barrier") == 0)
        aspx_real.MPI_Barrier(MPI_COMM_WORLD);
    else if (strcmp(operation, "bcast") == 0)
        aspx_real.MPI_Bcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    else
        aspx_real.MPI_Allreduce(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM,
                                MPI_COMM_WORLD);
}

static void run_node(const struct aspx_node_config *config)
{
    struct aspx_node_mpi_op sum = {.op = MPI_SUM, .type = MPI_DOUBLE};
    const struct aspx_node_operator operator= {
        .reduce = aspx_node_mpi_reduce,
        .arg = &sum,
        .element = 8,
        .is_commutative = true,
    };

    if (strcmp(operation, "barrier") == 0)
        (void) aspx_node_barrier(area, config);
    else if (strcmp(operation, "bcast") == 0)
        (void) aspx_node_bcast(area, config, in, (size_t) bytes, 0);
    else
        (void) aspx_node_allreduce(area, config, &operator, in, out,
                                   (size_t) bytes / 8);
}

static void run(const struct contender *contender)
{
    if (contender->is_mpi)
        run_mpi();
    else
        run_node(&contender->config);
}

/* The ranks start together, without MPI's waiting. */
static void line_up(void)
{
    static const struct aspx_node_config sleeping = {
        .radix = ASPX_NODE_RANKS_MAX,
        .segment = ASPX_NODE_SEGMENT_MIN,
        .up = ASPX_NODE_PUSH,
        .waiter = ASPX_NODE_SLEEP,
    };

    (void) aspx_node_barrier(area, &sleeping);
}

/* No MPI in between: whoever is done would spin there, and take the CPU from
 * those that are not. */
static void sample(struct contender *contender, int number)
{
    int is_barrier = strcmp(operation, "barrier") == 0;

    line_up();
    contender->came[number] = now_ns();
    for (int i = 0; i < contender->run; i++) {
        if (!is_barrier)
            line_up();
        run(contender);
    }
    contender->left[number] = now_ns();
}

/* The last rank's times to rank 0. */
static void collect(struct contender *contender, int samples)
{
    int64_t *both[] = {contender->came, contender->left};

    for (int i = 0; i < 2; i++)
        MPI_Reduce(rank == 0 ? MPI_IN_PLACE : both[i], both[i], samples,
                   MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
}

static void add(struct aspx_node_config config)
{
    struct contender *contender = &contenders[ncontenders++];
    int many = size > sysconf(_SC_NPROCESSORS_ONLN);
    int is_reduction = strcmp(operation, "allreduce") == 0;
    int quick = !many || config.waiter == ASPX_NODE_SLEEP;

    contender->config = config;
    contender->run = quick ? QUICK_RUN : SLOW_RUN;
    snprintf(contender->name, sizeof(contender->name), "%u %s %s %s%s%s",
             config.radix, signals[config.up], signals[config.down],
             waiters[config.waiter], is_reduction ? " " : "",
             is_reduction ? reductions[config.reduction] : "");
}

/* Signals are of barriers, and of the Allreduces that have some in them. */
static void add_signals(struct aspx_node_config config)
{
    int tree = config.reduction == ASPX_NODE_REDUCE_TREE &&
               strcmp(operation, "barrier") != 0;

    for (int i = 0; i < (tree ? 1 : 4); i++) {
        config.up = i / 2 ? ASPX_NODE_PULL : ASPX_NODE_PUSH;
        config.down = i % 2 ? ASPX_NODE_PUSH : ASPX_NODE_PULL;
        add(config);
    }
}

static void add_configs(void)
{
    static const uint32_t radixes[] = {2, 4, 15};
    int nreductions = strcmp(operation, "allreduce") == 0 ? ASPX_NODE_REDUCTIONS
                                                          : 1;

    contenders[0].is_mpi = 1;
    contenders[0].run = size > sysconf(_SC_NPROCESSORS_ONLN) ? SLOW_RUN
                                                             : QUICK_RUN;
    strcpy(contenders[0].name, "MPICH");
    ncontenders = 1;
    for (int waiter = 0; waiter < ASPX_NODE_WAITERS; waiter++)
        for (int r = size > 2 ? 0 : 2; r < 3; r++)
            for (int reduction = 0; reduction < nreductions; reduction++)
                add_signals((struct aspx_node_config){
                    .radix = radixes[r],
                    .segment = ASPX_NODE_SLOT_BYTES,
                    .waiter = (uint8_t) waiter,
                    .reduction = (uint8_t) reduction,
                });
}

static int smaller(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static void print(struct contender *contender, int samples)
{
    double *all = buffer_pages((size_t) samples * sizeof(*all));

    for (int s = 0; s < samples; s++)
        all[s] = (double) (contender->left[s] - contender->came[s]) /
                 NS_PER_US / contender->run;
    qsort(all, (size_t) samples, sizeof(*all), smaller);
    printf("%-28s %10.2f %10.2f %10.2f\n", contender->name, all[samples / 2],
           all[samples / 4], all[samples * 3 / 4]);
    free(all);
}

static void start(void)
{
    int *members;
    struct asp_err err;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    members = buffer_pages((size_t) size * sizeof(*members));
    for (int r = 0; r < size; r++)
        members[r] = r;
    if (aspx_real_resolve() != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    area = aspx_node_area_make(
        &(struct aspx_node_place){.comm = MPI_COMM_WORLD,
                                  .members = members,
                                  .count = (uint32_t) size,
                                  .index = (uint32_t) rank},
        ASPX_NODE_SLOT_BYTES, &err);
    if (!area) {
        fprintf(stderr, "coll_node_app: %s\n", err.text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    free(members);
}

int main(int argc, char **argv)
{
    int samples;

    if (argc != 4)
        return 2;
    operation = argv[1];
    bytes = atoi(argv[2]);
    samples = atoi(argv[3]);
    MPI_Init(&argc, &argv);
    start();
    add_configs();
    in = buffer_pages((size_t) bytes);
    out = buffer_pages((size_t) bytes);
    for (int c = 0; c < ncontenders; c++) {
        contenders[c].came = buffer_pages((size_t) samples * sizeof(int64_t));
        contenders[c].left = buffer_pages((size_t) samples * sizeof(int64_t));
    }
    for (int s = -1; s < samples; s++) /* one to warm up */
        for (int c = 0; c < ncontenders; c++)
            sample(&contenders[c], s < 0 ? 0 : s);
    for (int c = 0; c < ncontenders; c++)
        collect(&contenders[c], samples);
    for (int c = 0; rank == 0 && c < ncontenders; c++)
        print(&contenders[c], samples);
    aspx_node_area_free(area);
    MPI_Finalize();
    return 0;
}
