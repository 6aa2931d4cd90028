/* SPDX-License-Identifier: BSD-3-Clause */
/* `aspen explain coll OP`: which algorithm the simulator takes for a
 * collective, what the next best would cost, and how its messages go. Needs no
 * MPI. */
#include "config.h"

#include "tools/explain/coll.h"
#include "tools/explain/explain.h"
#include "tools/base/command.h"
#include "tools/base/options.h"

#include "common/coll/model/choose.h"
#include "common/coll/model/mpich.h"
#include "common/tune/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS_MAX = 65536, BYTES_MAX = 1 << 30, SHOWN = 10 };

enum {
    OPT_RANKS = 1,
    OPT_NODES,
    OPT_BYTES,
    OPT_ROOT,
    OPT_CONFIG,
    OPT_MACHINE,
    OPT_CYCLIC,
    OPT_ORDERED,
    OPT_IN_PLACE,
    OPT_DRAW,
    OPT_GOAL,
};

static const struct option longopts[] = {
    {"ranks", required_argument, NULL, OPT_RANKS},
    {"nodes", required_argument, NULL, OPT_NODES},
    {"bytes", required_argument, NULL, OPT_BYTES},
    {"root", required_argument, NULL, OPT_ROOT},
    {"way", required_argument, NULL, OPT_CONFIG},
    {"machine", required_argument, NULL, OPT_MACHINE},
    {"cyclic", no_argument, NULL, OPT_CYCLIC},
    {"ordered", no_argument, NULL, OPT_ORDERED},
    {"in-place", no_argument, NULL, OPT_IN_PLACE},
    {"draw", no_argument, NULL, OPT_DRAW},
    {"goal", no_argument, NULL, OPT_GOAL},
    {"help", no_argument, NULL, ASPT_OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "usage: aspen explain coll OP --ranks N [options]\n\n"
    "  OP                barrier, bcast, reduce, allreduce, alltoall, ...\n"
    "  --ranks N         ranks of the communicator\n"
    "  --nodes M         nodes that they are on, in blocks (1)\n"
    "  --cyclic          they are dealt out to the nodes in turn\n"
    "  --bytes B         message, vector, or block of each rank (8)\n"
    "  --root R          of operations that have one (0)\n"
    "  --ordered         the operation does not commute\n"
    "  --in-place        MPI_IN_PLACE\n"
    "  --machine NAME    sun, infiniband, tcp (infiniband), or a table whose\n"
    "                    links were measured, such as ./site.coll (aspen "
    "tune),\n"
    "                    or L,o,g,G of all links, in picoseconds\n"
    "  --way TEXT        this one, such as bcast:tree=kary,k=4,segment=65536\n"
    "  --draw            its tree, and its messages round by round\n"
    "  --goal            its schedules as input of LogGOPSim, nothing else\n";

struct options {
    const struct asp_coll_machine *machine;
    const char *config;
    uint32_t ranks, nodes, root;
    size_t bytes;
    bool cyclic, ordered, in_place, draw, goal;
};

static int read_number(const char *what, const char *text, uint32_t least,
                       uint32_t most, uint32_t *out_p, struct asp_err *err)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || value < least ||
        value > most)
        return asp_errf(err, EINVAL, "%s \"%.40s\" is no number from %u to %u",
                        what, text, (unsigned) least, (unsigned) most);
    *out_p = (uint32_t) value;
    return 0;
}

/* A machine as a table has it; what it lacks is that of infiniband. */
static int read_machine(struct options *o, const char *path,
                        struct asp_err *err)
{
    static struct asp_coll_machine machine;
    struct asp_tune_table table;
    bool measured;

    if (asp_tune_table_read(path, NULL, &table, err) < 0)
        return -1;
    machine = *asp_coll_machine_find("infiniband");
    machine.name = path;
    machine.source = "measured by a probe; what the table lacks is as for "
                     "infiniband";
    if (table.links.has_inside)
        machine.inside = table.links.inside;
    if (table.links.has_between)
        machine.between = table.links.between;
    if (table.links.has_core) {
        machine.copy = table.links.core.copy;
        machine.reduce = table.links.core.reduce;
    }
    o->machine = &machine;
    measured = table.links.has_inside || table.links.has_between;
    asp_tune_table_clear(&table);
    return measured
               ? 0
               : asp_err_in(err, EINVAL, path,
                            "no links were measured: run aspen tune --probe");
}

/* One class of links by its four numbers, for all ranks. */
static int read_links(struct options *o, const char *text, struct asp_err *err)
{
    static struct asp_coll_machine machine;
    struct asp_coll_link *l = &machine.inside;
    int end = 0;

    machine = *asp_coll_machine_find("infiniband");
    machine.name = text;
    machine.source = "L, o, g and G as given, in picoseconds, in nodes and "
                     "between them; the rest as for infiniband.";
    if (sscanf(text,
               "%12" SCNd64 ",%12" SCNd64 ",%12" SCNd64 ",%12" SCNd64 "%n",
               &l->latency, &l->overhead, &l->gap, &l->byte, &end) != 4 ||
        text[end] || strchr(text, '-'))
        return asp_errf(err, EINVAL,
                        "--machine \"%.60s\" is not L,o,g,G in picoseconds",
                        text);
    machine.between = machine.inside;
    o->machine = &machine;
    return 0;
}

static int set_machine(struct options *o, const char *name, struct asp_err *err)
{
    o->machine = asp_coll_machine_find(name);
    if (o->machine)
        return 0;
    if (access(name, F_OK) == 0)
        return read_machine(o, name, err);
    if (strchr(name, ','))
        return read_links(o, name, err);
    return asp_errf(err, EINVAL,
                    "no machine \"%.40s\": take sun, infiniband, tcp, the file "
                    "of a table, or L,o,g,G",
                    name);
}

static int set_option(int opt, const char *arg, void *data, struct asp_err *err)
{
    struct options *o = data;
    uint32_t bytes;

    switch (opt) {
    case OPT_RANKS:
        return read_number("--ranks", arg, 1, RANKS_MAX, &o->ranks, err);
    case OPT_NODES:
        return read_number("--nodes", arg, 1, RANKS_MAX, &o->nodes, err);
    case OPT_ROOT:
        return read_number("--root", arg, 0, RANKS_MAX, &o->root, err);
    case OPT_BYTES:
        if (read_number("--bytes", arg, 0, BYTES_MAX, &bytes, err) < 0)
            return -1;
        o->bytes = bytes;
        return 0;
    case OPT_MACHINE:
        return set_machine(o, arg, err);
    case OPT_CONFIG:
        o->config = arg;
        return 0;
    case OPT_CYCLIC:
        o->cyclic = true;
        return 0;
    case OPT_ORDERED:
        o->ordered = true;
        return 0;
    case OPT_IN_PLACE:
        o->in_place = true;
        return 0;
    case OPT_DRAW:
        o->draw = true;
        return 0;
    default:
        o->goal = true;
        return 0;
    }
}

/* Nodes and counts; every rank has as much. */
static int make_problem(const struct options *o, enum asp_coll_op op,
                        struct asp_coll_problem *p, struct asp_err *err)
{
    uint32_t *node = malloc(o->ranks * sizeof(*node));
    size_t *counts = malloc(o->ranks * sizeof(*counts));

    *p = (struct asp_coll_problem){
        .op = op,
        .ranks = o->ranks,
        .root = o->root,
        .bytes = asp_coll_forms[op].out ? o->bytes : 0,
        .counts = counts,
        .recv_counts = counts,
        .element_size = o->bytes % 8 ? 1 : 8,
        .commutative = !o->ordered,
        .in_place = o->in_place,
        .node = node,
    };
    if (!node || !counts)
        return asp_errf(err, ENOMEM, "out of memory");
    if (o->nodes > o->ranks || o->root >= o->ranks)
        return asp_errf(err, EINVAL, "%u nodes and root %u for %u ranks",
                        (unsigned) o->nodes, (unsigned) o->root,
                        (unsigned) o->ranks);
    for (uint32_t r = 0; r < o->ranks; r++) {
        node[r] = o->cyclic ? r % o->nodes
                            : (uint32_t) ((uint64_t) r * o->nodes / o->ranks);
        counts[r] = o->bytes;
    }
    return 0;
}

static void print_problem(const struct options *o,
                          const struct asp_coll_problem *p)
{
    printf("%s of %zu bytes, %u ranks on %u node%s; machine %s\n",
           asp_coll_op_name(p->op), p->bytes, (unsigned) p->ranks,
           (unsigned) o->nodes, o->nodes > 1 ? "s" : "", o->machine->name);
    aspt_print_wrapped(stdout, o->machine->source);
}

static const char heads[] =
    "\n  time us   between    inside  rounds  configuration\n";

/* A long configuration has a line of its own. */
static void print_config(int column, const struct asp_coll_config *config)
{
    char text[ASP_COLL_CONFIG_TEXT];

    asp_coll_config_text(config, text);
    if (column + 2 + strlen(text) > ASPT_WIDTH)
        printf("\n    ");
    printf("  %s\n", text);
}

static void print_cost(const struct asp_coll_config *config,
                       const struct asp_coll_cost *cost)
{
    int column = printf("%9.2f %9" PRIu64 " %9" PRIu64 " %7" PRIu32,
                        (double) cost->time / 1e6, cost->messages_between,
                        cost->messages - cost->messages_between, cost->rounds);

    print_config(column, config);
}

/* Why: how many there were, how far the next is, and what MPICH does. */
static void print_reason(const struct options *o,
                         const struct asp_coll_problem *p,
                         const struct asp_coll_candidate *list, uint32_t n)
{
    uint32_t counts[ASP_COLL_LARGE + 1] = {0};
    struct asp_coll_cost cost;
    struct asp_coll_config config;
    double best = (double) list[0].cost.time;

    for (uint32_t i = 0; i < n; i++)
        counts[list[i].fate]++;
    print_config(printf("\nchosen:"), &list[0].config);
    printf("  of %u configurations %u were simulated to their end, %u are "
           "slower,\n  %u have too many steps to look at\n",
           (unsigned) n, (unsigned) counts[ASP_COLL_OK],
           (unsigned) counts[ASP_COLL_SLOW], (unsigned) counts[ASP_COLL_LARGE]);
    if (n > 1 && list[1].fate == ASP_COLL_OK && best > 0)
        printf("  the next takes %.2f times as long\n",
               (double) list[1].cost.time / best);
    if (best > 0 && asp_coll_mpich(p, &config, NULL) == 0 &&
        asp_coll_predict(o->machine, &config, p, 1, &cost, NULL) == 0) {
        printf("  by MPICH's rules it takes %.2f us, %.2f times as long:\n  ",
               (double) cost.time / 1e6, (double) cost.time / best);
        print_config(2, &config);
    }
}

static int choose(const struct options *o, const struct asp_coll_problem *p,
                  struct asp_coll_config *config_p, struct asp_err *err)
{
    struct asp_coll_candidate *list;
    uint32_t n;

    if (asp_coll_choose(o->machine, p, NULL, &list, &n, err) < 0)
        return -1;
    *config_p = list[0].config;
    if (!o->goal) {
        print_problem(o, p);
        fputs(heads, stdout);
        for (uint32_t i = 0; i < n && i < SHOWN && list[i].fate == ASP_COLL_OK;
             i++)
            print_cost(&list[i].config, &list[i].cost);
        print_reason(o, p, list, n);
    }
    free(list);
    return 0;
}

static int show_config(const struct options *o,
                       const struct asp_coll_problem *p,
                       const struct asp_coll_config *config,
                       struct asp_err *err)
{
    struct asp_coll_cost cost;

    if (asp_coll_predict(o->machine, config, p, 1, &cost, err) < 0)
        return -1;
    if (o->goal)
        return 0;
    print_problem(o, p);
    printf("  %s\n", config->row->what);
    fputs(heads, stdout);
    print_cost(config, &cost);
    return 0;
}

static int show_schedules(const struct options *o,
                          const struct asp_coll_problem *p,
                          const struct asp_coll_config *config,
                          struct asp_err *err)
{
    struct asp_coll_schedule *all = calloc(p->ranks, sizeof(*all));
    struct aspt_coll coll = {p, o->machine, all};
    int rc = -1;

    if (!all)
        return asp_errf(err, ENOMEM, "out of memory");
    if (asp_coll_build_some(config, p, 1, ASP_COLL_SIMULATE_STEPS, all, err) ==
        0) {
        rc = 0;
        if (o->goal)
            rc = aspt_coll_goal(stdout, &coll, err);
        else
            rc = aspt_coll_draw(stdout, &coll, err);
    }
    for (uint32_t r = 0; r < p->ranks; r++)
        asp_coll_destroy(&all[r]);
    free(all);
    return rc;
}

static int explain(const struct options *o, const char *name,
                   struct asp_err *err)
{
    struct asp_coll_problem p = {0};
    struct asp_coll_config config;
    enum asp_coll_op op;
    int rc;

    if (asp_coll_op_parse(name, &op, err) < 0)
        return -1;
    if (!o->ranks)
        return asp_errf(err, EINVAL, "coll needs --ranks N");
    rc = make_problem(o, op, &p, err);
    if (rc == 0 && o->config) {
        rc = asp_coll_config_parse(o->config, &config, err);
        if (rc == 0)
            rc = show_config(o, &p, &config, err);
    } else if (rc == 0) {
        rc = choose(o, &p, &config, err);
    }
    if (rc == 0 && (o->draw || o->goal))
        rc = show_schedules(o, &p, &config, err);
    free((void *) p.node);
    free((void *) p.counts);
    return rc;
}

int aspt_explain_coll(int argc, char **argv)
{
    static const struct aspt_options known = {"aspen explain coll", ":",
                                              longopts, usage, set_option};
    struct options options = {.nodes = 1, .bytes = 8};
    struct asp_err err;
    int status;

    options.machine = asp_coll_machine_find("infiniband");
    status = aspt_options_read(&known, argc, argv, &options);
    if (status >= 0)
        return status;
    if (optind + 1 != argc) {
        fputs(usage, stderr);
        return ASPT_REFUSED;
    }
    if (explain(&options, argv[optind], &err) < 0)
        return aspt_complain(&err);
    return ASPT_OK;
}
