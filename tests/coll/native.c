/* SPDX-License-Identifier: BSD-3-Clause */
/* MPICH's algorithms, each by its control variables
 * (runtime/coll/mpich/native.h), on plain MPICH.
 * MPIR_CVAR_COLLECTIVE_FALLBACK=error makes an error of each call that MPICH
 * carries out in another way than it was told.
 *
 *   coll_native each            every configuration of every operation on
 *                               communicators of 2 ranks up: the results of
 *                               MPI's choice, as many messages as the algorithm
 *                               has, all control variables as before
 *   coll_native default         a configuration that is taken for MPI's own
 *                               choice sends as many messages as that, on each
 *                               rank
 *   coll_native random SEED N   N random pairs of a configuration and a call
 *   coll_native rules           writes of others, failed calls, fallbacks,
 *                               unknown releases
 *   coll_native names           the operation and name of each algorithm here
 *   coll_native threads         with MPI_THREAD_MULTIPLE there are none
 *
 * NATIVE_TELL=1 prints how many messages each configuration has, NATIVE_GO_ON=1
 * goes on after a failure. */
#include "config.h"

#include "count_sends.h"
#include "native_test.h"

#include "runtime/coll/mpich/native_rows.h"

#include "common/coll/model/mpich.h"
#include "common/coll/model/simulate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MOST = 1024 };

struct aspx_real aspx_coll_behind;

static int world_rank, world_size, nodes, failed;

static void fail(const struct shape *s, const struct aspx_native_config *config,
                 const char *what)
{
    char text[ASPX_NATIVE_TEXT];

    fprintf(
        stderr,
        "%s, rank %d of %d, n %d, root %d, reduction %d, floating %d, in place "
        "%d: %s\n",
        aspx_native_text(config, text), s->rank, s->size, s->n, s->root,
        s->reduction, s->floating, s->in_place, what);
    failed = 1;
    if (!getenv("NATIVE_GO_ON"))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "rank %d: not so: %s\n", world_rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- control variables -------------------------------------------------- */

static int values[NAMES_MOST];

/* Read those that are numbers; returns 0 when one has changed. */
static int read_all(int compare)
{
    int number, same = 1;

    MPI_T_cvar_get_num(&number);
    for (int i = 0; i < number && i < NAMES_MOST; i++) {
        int verbosity, bind, scope, count, value = 0;
        MPI_T_cvar_handle handle;
        MPI_Datatype type;
        MPI_T_enum names;

        MPI_T_cvar_get_info(i, NULL, NULL, &verbosity, &type, &names, NULL,
                            NULL, &bind, &scope);
        if (type != MPI_INT ||
            MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) != MPI_SUCCESS)
            continue;
        if (count == 1)
            MPI_T_cvar_read(handle, &value);
        MPI_T_cvar_handle_free(&handle);
        same = same && (!compare || values[i] == value);
        if (!compare)
            values[i] = value;
    }
    return same;
}

/* ---- one configuration -------------------------------------------------- */

/* Make the call by itself and by this configuration. Returns how many messages
 * this rank sent for it. */
static long compare(const struct shape *s,
                    const struct aspx_native_config *config, int count)
{
    struct data *data = data_make(s);
    struct asp_tune_args args;
    struct aspx_native_problem problem;
    char what[80];
    int wanted;
    long sent;

    describe(s, &args, &problem, nodes);
    if (data_call(data, NULL) != MPI_SUCCESS)
        fail(s, config, "MPI's own choice failed");
    if (count)
        MPI_Barrier(s->comm);
    sent = count_sends;
    if (data_call(data, config) != MPI_SUCCESS)
        fail(s, config, "the call failed");
    sent = count_sends - sent;
    wanted = messages_of(s, config, &args);
    snprintf(what, sizeof(what), "%ld messages sent and not %d", sent, wanted);
    if (count && wanted >= 0 && sent != wanted)
        fail(s, config, what);
    if (!s->fractions && !data_is_same(data))
        fail(s, config, "another result");
    if (s->op == ASP_COLL_ALLREDUCE && !data_agrees(data))
        fail(s, config, "results of ranks differ");
    data_free(data);
    return sent;
}

/* Messages by configuration, for a look by a person. */
static void tell(const struct shape *s, const struct aspx_native_config *config,
                 long sent)
{
    char text[ASPX_NATIVE_TEXT];
    long all = 0;

    MPI_Reduce(&sent, &all, 1, MPI_LONG, MPI_SUM, 0, s->comm);
    if (getenv("NATIVE_TELL") && s->rank == 0)
        printf("%2d ranks, %7d elements: %4ld messages, %s\n", s->size, s->n,
               all, aspx_native_text(config, text));
}

static int each_config(const struct shape *s)
{
    struct aspx_native_problem problem;
    struct aspx_native_configs configs = {0};
    struct asp_tune_args args;
    int n = 0;

    describe(s, &args, &problem, nodes);
    for (; aspx_native_configs_next(&configs, &problem); n++) {
        struct aspx_native_config again;
        char text[ASPX_NATIVE_TEXT];
        struct asp_err err;

        if (aspx_native_parse(s->op, aspx_native_text(&configs.config, text),
                              &again, &err) != 0 ||
            memcmp(&again, &configs.config, sizeof(again)) != 0)
            fail(s, &configs.config, "its text does not lead back to it");
        tell(s, &configs.config, compare(s, &configs.config, 1));
        if (!read_all(1))
            fail(s, &configs.config, "a control variable has changed");
    }
    return n;
}

/* ---- each --------------------------------------------------------------- */

static const enum asp_coll_op ops[] = {
    ASP_COLL_BARRIER,        ASP_COLL_BCAST,     ASP_COLL_REDUCE,
    ASP_COLL_SCATTER,        ASP_COLL_GATHER,    ASP_COLL_ALLGATHER,
    ASP_COLL_ALLTOALL,       ASP_COLL_ALLREDUCE, ASP_COLL_REDUCE_SCATTER_BLOCK,
    ASP_COLL_SCAN,           ASP_COLL_EXSCAN,    ASP_COLL_ALLGATHERV,
    ASP_COLL_REDUCE_SCATTER,
};
enum { OPS = sizeof(ops) / sizeof(ops[0]) };

static int each_shape(struct shape *s)
{
    static const int sizes[] = {1, 300, 7000};
    int n = 0;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (s->in_place = 0; s->in_place < 2; s->in_place++)
            for (s->floating = 0; s->floating < 3; s->floating++) {
                s->fractions = s->floating == 2;
                if (s->floating && (!is_reduction(s->op) || i == 0))
                    break;
                if (s->op == ASP_COLL_BARRIER && (i || s->in_place))
                    break;
                s->n = sizes[i];
                s->root = (i + (size_t) s->in_place) % 2 ? s->size - 1 : 0;
                s->reduction = s->fractions ? 0 : (int) i % REDUCTIONS;
                n += each_config(s);
            }
    return n;
}

static void each(void)
{
    long n = 0;

    for (int size = world_size; size >= 2; size--) {
        struct shape s = {.size = size};

        MPI_Comm_split(MPI_COMM_WORLD, world_rank < size ? 0 : MPI_UNDEFINED, 0,
                       &s.comm);
        if (s.comm == MPI_COMM_NULL)
            continue;
        MPI_Comm_set_errhandler(s.comm, MPI_ERRORS_RETURN);
        MPI_Comm_rank(s.comm, &s.rank);
        for (int op = 0; op < OPS; op++) {
            s.op = ops[op];
            n += each_shape(&s);
        }
        MPI_Comm_free(&s.comm);
    }
    if (world_rank == 0)
        printf("ok %ld configurations and calls\n", n);
}

static void tell_names(void)
{
    for (size_t i = 0; world_rank == 0 && i < aspx_native_row_count; i++)
        if (aspx_native_lives(&aspx_native_rows[i]))
            printf("%s %s\n", asp_coll_op_name(aspx_native_rows[i].op),
                   aspx_native_rows[i].name);
}

/* ---- default ------------------------------------------------------------ */

/* Messages of this rank in a call. */
static long count_call(const struct shape *s,
                       const struct aspx_native_config *config)
{
    struct data *data = data_make(s);
    long sent;

    MPI_Barrier(s->comm);
    sent = count_sends;
    if (data_call(data, config) != MPI_SUCCESS)
        fail(s, config, "the call failed");
    sent = count_sends - sent;
    data_free(data);
    return sent;
}

static int is_predicted(const char *text,
                        const struct asp_coll_problem *problem,
                        struct asp_coll_cost *cost)
{
    struct asp_coll_config config;
    struct asp_err err;

    return asp_coll_config_parse(text, &config, &err) == 0 &&
           asp_coll_predict(&asp_coll_machines[0], &config, problem, 1, cost,
                            &err) == 0;
}

/* As candidates.c has it. */
static int is_taken_for_default(const struct aspx_native_config *config,
                                const struct asp_coll_problem *problem)
{
    char text[ASP_COLL_CONFIG_TEXT];
    struct asp_coll_cost cost, standard;
    struct asp_coll_config like;
    struct asp_err err;

    return aspx_native_is_told_apart(config) &&
           asp_coll_mpich(problem, &like, &err) == 0 &&
           is_predicted(asp_coll_config_text(&like, text), problem,
                        &standard) &&
           ((aspx_native_like_divided(config, text) &&
             is_predicted(text, problem, &cost)) ||
            is_predicted(aspx_native_like(config, text), problem, &cost)) &&
           asp_coll_sends_alike(&cost, &standard);
}

static void default_shape(const struct shape *s, long *taken)
{
    struct aspx_native_problem native;
    struct aspx_native_configs configs = {0};
    struct asp_tune_args args;
    struct asp_coll_problem problem;
    uint32_t node[64];
    long standard;

    describe(s, &args, &native, nodes);
    for (int i = 0; i < s->size; i++)
        node[i] = (uint32_t) (i % nodes);
    problem = (struct asp_coll_problem){
        .op = s->op,
        .ranks = (uint32_t) s->size,
        .root = args.root,
        .bytes = args.bytes,
        .element_size = 8,
        .commutative = args.reduction != ASP_TUNE_ORDERED,
        .in_place = args.in_place,
        .node = nodes > 1 ? node : NULL,
    };
    standard = count_call(s, NULL);
    while (aspx_native_configs_next(&configs, &native)) {
        int differs = count_call(s, &configs.config) != standard, any;
        int is_default = is_taken_for_default(&configs.config, &problem);
        char text[ASPX_NATIVE_TEXT];

        MPI_Allreduce(&differs, &any, 1, MPI_INT, MPI_MAX, s->comm);
        *taken += is_default;
        if (getenv("NATIVE_TELL") && s->rank == 0 && is_default == any)
            printf("%s: %2d ranks, %d nodes, %7d elements, root %d: %s\n",
                   any ? "wrong" : "missed", s->size, nodes, s->n, s->root,
                   aspx_native_text(&configs.config, text));
        if (is_default && any)
            fail(s, &configs.config,
                 "does not send what MPI's own choice sends");
    }
}

static void defaults(void)
{
    static const int sizes[] = {16, 300, 1000, 7000};
    enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };
    long taken = 0;

    for (int size = world_size; size >= 2; size--) {
        struct shape s = {.size = size};

        MPI_Comm_split(MPI_COMM_WORLD, world_rank < size ? 0 : MPI_UNDEFINED, 0,
                       &s.comm);
        if (s.comm == MPI_COMM_NULL)
            continue;
        MPI_Comm_set_errhandler(s.comm, MPI_ERRORS_RETURN);
        MPI_Comm_rank(s.comm, &s.rank);
        for (int op = 0; op < OPS; op++)
            for (int i = 0; i < (ops[op] == ASP_COLL_BARRIER ? 1 : SIZES);
                 i++) {
                s.op = ops[op];
                s.n = sizes[i];
                if (s.op != ASP_COLL_ALLGATHERV &&
                    s.op != ASP_COLL_REDUCE_SCATTER)
                    default_shape(&s, &taken);
            }
        MPI_Comm_free(&s.comm);
    }
    if (world_rank == 0)
        printf("ok %ld configurations are the default\n", taken);
}

/* ---- random ------------------------------------------------------------- */

/* Any configuration of the table with any numbers, whether it fits or not. */
static struct aspx_native_config draw_config(struct prng *prng,
                                             enum asp_coll_op op)
{
    struct aspx_native_config config = {0};

    do
        config.row =
            &aspx_native_rows[prng_below(prng, (int) aspx_native_row_count)];
    while (config.row->op != op);
    if (config.row->radix[0])
        config.k = (uint32_t) prng_range(prng, 2, 10);
    if (config.row->chunk && prng_chance(prng, 50))
        config.chunk = (uint32_t) prng_range(prng, 4096, 20000);
    config.device = prng_chance(prng, 20);
    return config;
}

static struct shape draw_shape(struct prng *prng, const struct shape *comms)
{
    static const int sizes[] = {1, 2, 5, 16, 64, 100, 257, 1000, 6000};
    struct shape s = comms[prng_below(prng, 3)];

    s.op = ops[prng_below(prng, OPS)];
    s.n = sizes[prng_below(prng, prng_chance(prng, 10) ? 9 : 7)];
    s.root = prng_below(prng, s.size);
    s.reduction = prng_below(prng, REDUCTIONS);
    s.floating = prng_chance(prng, 40);
    s.fractions = s.floating && prng_chance(prng, 50);
    if (s.fractions)
        s.reduction = 0;
    s.in_place = prng_chance(prng, 30);
    return s;
}

static int is_drawn_whole(const struct aspx_native_config *config)
{
    struct aspx_native_config again;
    char text[ASPX_NATIVE_TEXT];
    struct asp_err err;

    return aspx_native_parse(config->row->op, aspx_native_text(config, text),
                             &again, &err) == 0;
}

static void random_pairs(uint64_t seed, long n)
{
    struct prng prng = {seed};
    struct shape comms[3] = {0};
    long fitted = 0;

    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0].comm);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, &comms[1].comm);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank * 3 / (2 * world_size),
                   -world_rank, &comms[2].comm);
    for (int i = 0; i < 3; i++) {
        MPI_Comm_set_errhandler(comms[i].comm, MPI_ERRORS_RETURN);
        MPI_Comm_rank(comms[i].comm, &comms[i].rank);
        MPI_Comm_size(comms[i].comm, &comms[i].size);
    }
    for (long i = 0; i < n; i++) {
        struct shape s = draw_shape(&prng, comms);
        struct aspx_native_config config = draw_config(&prng, s.op);
        struct aspx_native_problem problem;
        struct asp_tune_args args;

        describe(&s, &args, &problem, s.size > 2 ? nodes : 1);
        if (!is_drawn_whole(&config) || !aspx_native_fits(&config, &problem))
            continue;
        fitted++;
        compare(&s, &config, 0);
        if (fitted % 256 == 0 && !read_all(1))
            fail(&s, &config, "a control variable has changed");
    }
    if (!read_all(1))
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < 3; i++)
        MPI_Comm_free(&comms[i].comm);
    if (world_rank == 0)
        printf("ok %ld random pairs, %ld fit\n", n, fitted);
}

/* ---- start -------------------------------------------------------------- */

static void fill_behind(void)
{
#define BEHIND(name) aspx_coll_behind.name = name
    BEHIND(MPI_Abort);
    BEHIND(MPI_Allreduce);
    BEHIND(MPI_Query_thread);
    BEHIND(MPI_T_cvar_get_index);
    BEHIND(MPI_T_cvar_get_info);
    BEHIND(MPI_T_cvar_handle_alloc);
    BEHIND(MPI_T_cvar_handle_free);
    BEHIND(MPI_T_cvar_read);
    BEHIND(MPI_T_cvar_write);
    BEHIND(MPI_T_finalize);
    BEHIND(MPI_T_init_thread);
}

static int find_release(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, major = 0, minor = 0;

    MPI_Get_library_version(text, &length);
    if (sscanf(text, "MPICH Version: %d.%d", &major, &minor) != 2)
        return 0;
    return 100 * major + minor;
}

static void count_nodes(void)
{
    int leader, rank;
    MPI_Comm node;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &node);
    MPI_Comm_rank(node, &rank);
    leader = rank == 0;
    MPI_Comm_free(&node);
    MPI_Allreduce(&leader, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "each";
    int threads = strcmp(mode, "threads") == 0, provided, release;

    setenv("MPIR_CVAR_COLLECTIVE_FALLBACK", "error", 1);
    MPI_Init_thread(&argc, &argv,
                    threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED,
                    &provided);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    count_nodes();
    fill_behind();
    release = find_release();
    aspx_native_start(release);
    read_all(0);
    if (threads) {
        must(count_configs() == 0, "there is none with MPI_THREAD_MULTIPLE");
        if (world_rank == 0)
            printf("ok threads\n");
    } else if (strcmp(mode, "random") == 0) {
        random_pairs(argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
                     argc > 3 ? atol(argv[3]) : 1000);
    } else if (strcmp(mode, "default") == 0) {
        defaults();
    } else if (strcmp(mode, "rules") == 0) {
        rules(release);
    } else if (strcmp(mode, "names") == 0) {
        tell_names();
    } else {
        each();
    }
    aspx_native_stop();
    MPI_T_finalize();
    MPI_Finalize();
    return failed;
}
