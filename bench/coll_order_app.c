/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: coll_order_app SAMPLES PROBE_MS OPERATION:BYTES...
 *
 * How good is the order in which the model puts the configurations of a
 * collective, with the constants of a machine by name, and with those that a
 * probe finds here? Every configuration that either order has is carried out on
 * MPI_COMM_WORLD, all in turn, SAMPLES times (an odd number), by the code that
 * programs run. Prints a line for each constants and each call:
 *
 *   call=bcast:8 model=probe measured=1 configs=24 correlation=0.71 quarter=1
 *   near=1 place=2 best_us=1.2 first_us=1.3 default_us=2.0
 *
 * measured: did the probe find constants? Else they are the named ones.
 * correlation: of ranks (Spearman), of the model's order and that of measured
 * medians. place: of the fastest configuration in the model's order, from 1;
 * quarter: is it in the first quarter? near: is one that takes up to 5 % more,
 * 10 % where ranks are more than CPUs? first_us: the model's first
 * configuration. */
#include "config.h"

#include "buffer.h"

#include "runtime/coll/call/call.h"
#include "runtime/coll/select/candidates.h"
#include "runtime/coll/select/comm.h"
#include "runtime/coll/comm/eligible.h"
#include "runtime/coll/algorithms/executor.h"
#include "runtime/coll/comm/global.h"
#include "runtime/coll/machine/machine.h"
#include "runtime/coll/machine/model.h"
#include "runtime/coll/machine/settings.h"
#include "runtime/mpi/real.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONFIGS_MAX = 2 * ASP_DECIDE_CANDIDATES,
    SAMPLES_MAX = 501,
    WARM_UPS = 2,
};

struct contender {
    struct aspx_coll_config config;
    double us[SAMPLES_MAX], median;
};

/* One set of constants, and the order by it: indexes into contenders. */
struct model {
    const char *name;
    double probe_us;
    int order[ASP_DECIDE_CANDIDATES], n;
    int measured; /* all links that there are */
};

/* Instead of what stands in front of a program's calls. */
struct aspx_real aspx_coll_behind, aspx_inner;

static struct contender contenders[CONFIGS_MAX];
static int ncontenders, rank, size, samples;
static struct aspx_coll_comm *comm;
static char *in, *out;

/* ---- calls ------------------------------------------------------------------ */

static int by_mpi(const struct aspx_coll_call *c)
{
    int n = (int) c->nrecv;

    switch (c->op) {
    case ASP_COLL_BARRIER:
        return MPI_Barrier(c->comm);
    case ASP_COLL_BCAST:
        return MPI_Bcast(c->recv, n, c->recv_type, 0, c->comm);
    case ASP_COLL_REDUCE:
        return MPI_Reduce(c->send, c->recv, n, c->recv_type, MPI_SUM, 0,
                          c->comm);
    case ASP_COLL_ALLREDUCE:
        return MPI_Allreduce(c->send, c->recv, n, c->recv_type, MPI_SUM,
                             c->comm);
    case ASP_COLL_SCATTER:
        return MPI_Scatter(c->send, n, c->send_type, c->recv, n, c->recv_type,
                           0, c->comm);
    case ASP_COLL_GATHER:
        return MPI_Gather(c->send, n, c->send_type, c->recv, n, c->recv_type, 0,
                          c->comm);
    case ASP_COLL_ALLGATHER:
        return MPI_Allgather(c->send, n, c->send_type, c->recv, n, c->recv_type,
                             c->comm);
    default:
        return MPI_Alltoall(c->send, n, c->send_type, c->recv, n, c->recv_type,
                            c->comm);
    }
}

static struct aspx_coll_call make_call(enum asp_coll_op op, size_t bytes)
{
    int element = (int) sizeof(double);

    return (struct aspx_coll_call){
        .op = op,
        .send = in,
        .recv = out,
        .nsend = (MPI_Count) bytes / element,
        .nrecv = (MPI_Count) bytes / element,
        .send_type = MPI_DOUBLE,
        .recv_type = MPI_DOUBLE,
        .reduction = MPI_SUM,
        .comm = MPI_COMM_WORLD,
        .mpi = by_mpi,
    };
}

static double carry_out(const struct aspx_coll_call *call,
                        const struct asp_tune_args *args,
                        const struct aspx_coll_config *config)
{
    double begun;

    comm->calls++;
    MPI_Barrier(MPI_COMM_WORLD);
    begun = MPI_Wtime();
    if (config->executor->execute(comm, call, args, config) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return 1e6 * (MPI_Wtime() - begun);
}

/* ---- orders ----------------------------------------------------------------- */

static int number_of(const struct aspx_coll_config *config)
{
    char text[ASPX_COLL_CONFIG_TEXT], other[ASPX_COLL_CONFIG_TEXT];

    aspx_coll_config_text(config, text);
    for (int i = 0; i < ncontenders; i++)
        if (strcmp(aspx_coll_config_text(&contenders[i].config, other), text) ==
            0)
            return i;
    contenders[ncontenders].config = *config;
    return ncontenders++;
}

/* A probe that was disturbed all the time gives none. */
static int have_all_links(void)
{
    const struct asp_tune_links *links = &aspx_coll_model_found()->links;
    const struct aspx_coll_pairs *pairs = aspx_coll_pairs();

    return (links->has_inside || pairs->inside.first < 0) &&
           (links->has_between || pairs->between.first < 0);
}

static void find_order(struct model *model, const struct asp_tune_args *args)
{
    struct asp_search_candidate list[ASP_DECIDE_CANDIDATES];
    struct aspx_coll_config standard = {.executor = &aspx_coll_mpi_choice,
                                        .op = args->op};
    uint32_t n;

    aspx_coll_settings.probe_us = model->probe_us;
    aspx_coll_model_find(NULL);
    model->measured = model->probe_us > 0 && have_all_links();
    comm->nconfigs = 0;
    n = aspx_coll_order(comm, NULL, args, list);
    model->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct aspx_coll_config *config =
            list[i].config == ASP_DECIDE_DEFAULT
                ? &standard
                : &comm->configs[list[i].config];

        if (!config->executor->fits ||
            config->executor->fits(comm, args, sizeof(double), config))
            model->order[model->n++] = number_of(config);
    }
}

static int smaller(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* Of the slowest rank in each sample. */
static void find_median(struct contender *contender)
{
    double most[SAMPLES_MAX];

    MPI_Allreduce(contender->us, most, samples, MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    qsort(most, (size_t) samples, sizeof(*most), smaller);
    contender->median = most[samples / 2];
}

static void measure(const struct aspx_coll_call *call,
                    const struct asp_tune_args *args)
{
    for (int s = -WARM_UPS; s < samples; s++)
        for (int i = 0; i < ncontenders; i++)
            contenders[i].us[s < 0 ? 0 : s] = carry_out(call, args,
                                                        &contenders[i].config);
    for (int i = 0; i < ncontenders; i++)
        find_median(&contenders[i]);
}

/* ---- what comes of it ------------------------------------------------------- */

static double correlation(const struct model *m)
{
    double sum = 0, n = m->n;

    for (int i = 0; i < m->n; i++) {
        double place = 0;

        for (int j = 0; j < m->n; j++)
            place += contenders[m->order[j]].median <
                     contenders[m->order[i]].median;
        sum += (place - i) * (place - i);
    }
    return m->n > 2 ? 1 - 6 * sum / (n * (n * n - 1)) : 1;
}

static int place_of_best(const struct model *m)
{
    int best = 0;

    for (int i = 1; i < m->n; i++)
        if (contenders[m->order[i]].median < contenders[m->order[best]].median)
            best = i;
    return best;
}

/* Is one that is about as fast in the first quarter? */
static int is_near(const struct model *m, double best)
{
    double within = aspx_coll_shares_cpus() ? 1.10 : 1.05;

    for (int i = 0; i < (m->n + 3) / 4; i++)
        if (contenders[m->order[i]].median <= within * best)
            return 1;
    return 0;
}

static double time_of_default(void)
{
    for (int i = 0; i < ncontenders; i++)
        if (contenders[i].config.executor == &aspx_coll_mpi_choice)
            return contenders[i].median;
    return 0;
}

/* Of the model that was found last. */
static void print_link(const char *where, const struct asp_coll_link *link)
{
    printf("# %s: L %.3f us, o %.3f us, g %.3f us, G %.3f ns\n", where,
           (double) link->latency * 1e-6, (double) link->overhead * 1e-6,
           (double) link->gap * 1e-6, (double) link->byte * 1e-3);
}

static void print(const char *what, const struct model *m)
{
    int best = place_of_best(m);

    printf(
        "call=%s model=%s measured=%d configs=%d correlation=%.2f quarter=%d "
        "near=%d place=%d best_us=%.2f first_us=%.2f default_us=%.2f\n",
        what, m->name, m->measured, m->n, correlation(m), best < (m->n + 3) / 4,
        is_near(m, contenders[m->order[best]].median), best + 1,
        contenders[m->order[best]].median, contenders[m->order[0]].median,
        time_of_default());
    if (getenv("COLL_ORDER_CONFIGS"))
        for (int i = 0; i < m->n; i++) {
            char text[ASPX_COLL_CONFIG_TEXT];

            printf(
                "# %10.2f %s\n", contenders[m->order[i]].median,
                aspx_coll_config_text(&contenders[m->order[i]].config, text));
        }
}

static void compare(const char *what, struct model *models, int nmodels)
{
    const char *colon = strchr(what, ':');
    char name[32];
    enum asp_coll_op op;
    struct asp_err err;
    struct aspx_coll_call call;
    struct asp_tune_args args;

    snprintf(name, sizeof(name), "%.*s", (int) (colon ? colon - what : 31),
             what);
    if (!colon || asp_coll_op_parse(name, &op, &err) != 0) {
        fprintf(stderr, "coll_order_app: cannot make sense of '%s'\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
        return;
    }
    call = make_call(op, (size_t) atol(colon + 1));
    if (!aspx_coll_is_eligible(comm, &call, &args))
        MPI_Abort(MPI_COMM_WORLD, 1);
    ncontenders = 0;
    for (int i = 0; i < nmodels; i++)
        find_order(&models[i], &args);
    measure(&call, &args);
    if (rank == 0) {
        print_link("inside nodes", &aspx_coll_model()->inside);
        print_link("between nodes", &aspx_coll_model()->between);
    }
    for (int i = 0; rank == 0 && i < nmodels; i++)
        print(what, &models[i]);
}

static void start(void)
{
    static const struct asp_layout none; /* MPI says who shares a node */

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (aspx_real_resolve() != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    aspx_coll_behind = aspx_real;
    aspx_coll_settings = (struct aspx_coll_settings){
        .mode = ASP_COLL_MODE_TUNE, .budget_us = 1e6, .join_s = 60};
    if (!aspx_coll_begin(&none))
        MPI_Abort(MPI_COMM_WORLD, 1);
    comm = aspx_coll_comm_of(MPI_COMM_WORLD);
    aspx_coll_comm_activate(comm);
    if (comm->state != ASPX_COLL_COMM_TUNED)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    struct model models[] = {{.name = "named"}, {.name = "probe"}};

    MPI_Init(&argc, &argv);
    samples = argc > 3 ? atoi(argv[1]) : 0;
    if (samples < 1 || samples > SAMPLES_MAX)
        MPI_Abort(MPI_COMM_WORLD, 2);
    models[1].probe_us = 1e3 * atof(argv[2]);
    start();
    in = buffer_pages((size_t) size << 20);
    out = buffer_pages((size_t) size << 20);
    for (int i = 3; i < argc; i++)
        compare(argv[i], models, 2);
    aspx_coll_comm_stop();
    MPI_Finalize();
    return 0;
}
