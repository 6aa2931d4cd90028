/* SPDX-License-Identifier: BSD-3-Clause */
/* `aspen explain`: plan a step as its nodes would, and draw it; or draw a
 * layout that a step really had. */
#include "config.h"

#include "explain.h"
#include "advice.h"
#include "picture.h"

#include "tools/base/command.h"
#include "tools/base/options.h"

#include "common/plan/plan.h"
#include "common/policy/policy.h"
#include "common/plan/step_ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    uint32_t tasks; /* users of the step; 0: as many as fit */
    uint32_t node;  /* the one to draw, from 1; 0: see draw_nodes() */
    const char *topology;
    const char *cpus;
    const char *distribution;
    const char *layout;
    const char *progress;
    const char *policy;
    const char *site;
    struct asp_facts facts;
    char ghosts[16]; /* "ghost:2" of --ghosts */
};

/* What the step is planned from. */
struct step {
    struct asp_policy *policy;
    struct asp_topo *topo;
    struct asp_step_ranks *ranks;
    uint32_t ghosts;  /* per node */
    uint32_t service; /* cores per node, in mode thread */
    bool offload;     /* an offload thread for each user, ghosts or not */
};

enum { NODES_DRAWN = 4 };

enum {
    OPT_TOPOLOGY = 1,
    OPT_CPUS,
    OPT_NODES,
    OPT_NODE,
    OPT_TASKS,
    OPT_GHOSTS,
    OPT_PROGRESS,
    OPT_POLICY,
    OPT_SITE,
    OPT_PARTITION,
    OPT_ACCOUNT,
    OPT_QOS,
    OPT_PROGRAM,
    OPT_DISTRIBUTION,
    OPT_LAYOUT,
    OPT_WAITS,
    OPTIONS,
};

static const struct option longopts[] = {
    {"topology", required_argument, NULL, OPT_TOPOLOGY},
    {"cpus", required_argument, NULL, OPT_CPUS},
    {"nodes", required_argument, NULL, OPT_NODES},
    {"node", required_argument, NULL, OPT_NODE},
    {"tasks", required_argument, NULL, OPT_TASKS},
    {"ghosts", required_argument, NULL, OPT_GHOSTS},
    {"progress", required_argument, NULL, OPT_PROGRESS},
    {"policy", required_argument, NULL, OPT_POLICY},
    {"site-policy", required_argument, NULL, OPT_SITE},
    {"partition", required_argument, NULL, OPT_PARTITION},
    {"account", required_argument, NULL, OPT_ACCOUNT},
    {"qos", required_argument, NULL, OPT_QOS},
    {"program", required_argument, NULL, OPT_PROGRAM},
    {"distribution", required_argument, NULL, OPT_DISTRIBUTION},
    {"layout", required_argument, NULL, OPT_LAYOUT},
    {"waits", no_argument, NULL, OPT_WAITS},
    {"help", no_argument, NULL, ASPT_OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "usage: aspen explain [options]\n"
    "       aspen explain --layout FILE [--topology T]\n"
    "       aspen explain --waits\n"
    "       aspen explain coll OP --ranks N [options]\n"
    "       aspen explain --extra WORD... (for cli_filter.lua)\n\n"
    "  --topology T      an hwloc XML file, or a description such as\n"
    "                    \"pack:2 numa:2 core:8 pu:2\"; default: this "
    "machine\n"
    "  --cpus LIST       CPUs of the step on each node, \"0-7,16\"\n"
    "  --nodes N         nodes of the step (1)\n"
    "  --node N          draw only the Nth of them\n"
    "  --tasks T         user tasks of the step (as many as fit)\n"
    "  --progress SPEC   as srun --async-progress (ghost)\n"
    "  --ghosts G        short for --progress ghost:G\n"
    "  --policy FILE     as srun --async-policy\n"
    "  --site-policy FILE  the site's, instead of the installed one\n"
    "  --partition, --account, --qos, --program NAME\n"
    "                    what rules of the site can match\n"
    "  --distribution D  block, cyclic or plane=SIZE\n"
    "  --layout FILE     draw the text of ASPEN_LAYOUT (-: stdin)\n"
    "  --waits           how anything in Aspen waits, and for how long\n";

static int parse_count(const char *what, const char *text, uint32_t max,
                       uint32_t *out_p, struct asp_err *err)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || !value || value > max)
        return asp_errf(err, EINVAL, "%s \"%.40s\" is no number from 1 to %u",
                        what, text, (unsigned) max);
    *out_p = (uint32_t) value;
    return 0;
}

/* Options that are a text, and where it goes. */
static const size_t text_options[OPTIONS] = {
    [OPT_TOPOLOGY] = offsetof(struct options, topology),
    [OPT_CPUS] = offsetof(struct options, cpus),
    [OPT_PROGRESS] = offsetof(struct options, progress),
    [OPT_POLICY] = offsetof(struct options, policy),
    [OPT_SITE] = offsetof(struct options, site),
    [OPT_PARTITION] = offsetof(struct options, facts.partition),
    [OPT_ACCOUNT] = offsetof(struct options, facts.account),
    [OPT_QOS] = offsetof(struct options, facts.qos),
    [OPT_PROGRAM] = offsetof(struct options, facts.program),
    [OPT_DISTRIBUTION] = offsetof(struct options, distribution),
    [OPT_LAYOUT] = offsetof(struct options, layout),
};

static int set_option(int opt, const char *arg, void *data, struct asp_err *err)
{
    struct options *options = data;
    uint32_t ghosts;

    if (opt == OPT_WAITS) {
        aspt_print_waits(stdout);
        return 1;
    }
    if (text_options[opt]) {
        *(const char **) (void *) ((char *) options + text_options[opt]) = arg;
        return 0;
    }
    if (opt == OPT_NODES)
        return parse_count("--nodes", arg, ASP_NODES_MAX, &options->facts.nodes,
                           err);
    if (opt == OPT_NODE)
        return parse_count("--node", arg, ASP_NODES_MAX, &options->node, err);
    if (opt == OPT_TASKS)
        return parse_count("--tasks", arg, ASP_RANKS_MAX, &options->tasks, err);
    if (parse_count("--ghosts", arg, 64, &ghosts, err) < 0)
        return -1;
    snprintf(options->ghosts, sizeof(options->ghosts), "ghost:%u",
             (unsigned) ghosts);
    options->progress = options->ghosts;
    return 0;
}

/* The whole of a layout file, up to what a layout may be. */
static char *read_text(const char *path, struct asp_err *err)
{
    FILE *f = strcmp(path, "-") ? fopen(path, "r") : stdin;
    char *text = malloc(ASP_LAYOUT_TEXT_MAX + 2);
    size_t len = 0;

    if (!f || !text) {
        asp_errf(err, errno, "cannot open %.200s: %s", path, strerror(errno));
        free(text);
        text = NULL;
    } else {
        len = fread(text, 1, ASP_LAYOUT_TEXT_MAX + 1, f);
        while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
            len--;
        text[len] = '\0';
    }
    if (f && f != stdin)
        fclose(f);
    return text;
}

static int load_topo(const struct options *options, struct asp_topo **topo_p,
                     struct asp_err *err)
{
    struct asp_cpuset cpus;

    if (options->cpus &&
        asp_cpuset_parse(options->cpus, strlen(options->cpus), &cpus) < 0)
        return asp_errf(err, EINVAL, "--cpus \"%.60s\" is no list such as 0-7",
                        options->cpus);
    return asp_topo_load(options->topology, options->cpus ? &cpus : NULL,
                         topo_p, err);
}

static int draw_layout(const struct options *options, struct asp_err *err)
{
    char *text = read_text(options->layout, err);
    struct asp_layout *layout = NULL;
    struct asp_topo *topo = NULL;
    int rc = -1;

    if (text && asp_layout_decode(text, strlen(text), &layout, err) == 0 &&
        (!options->topology || load_topo(options, &topo, err) == 0)) {
        aspt_picture(stdout, topo, layout);
        aspt_print_layout_rules(stdout, layout);
        rc = 0;
    }
    asp_topo_destroy(topo);
    asp_layout_destroy(layout);
    free(text);
    return rc;
}

static uint32_t step_cores(const struct asp_topo *topo)
{
    uint32_t count = 0;

    for (uint32_t c = 0; c < topo->ncores; c++)
        count += topo->cores[c].nallowed > 0;
    return count;
}

/* The ranks of all nodes, users as even as can be. */
static int make_ranks(const struct options *options, struct step *step,
                      struct asp_err *err)
{
    uint32_t helpers = step->ghosts + step->service;
    uint32_t cores = step_cores(step->topo), tasks = options->tasks;
    uint32_t nodes = options->facts.nodes, each, rest;
    char counts[64];

    if (!tasks && cores <= helpers)
        return asp_errf(err, EINVAL,
                        "%" PRIu32 " %s take all %" PRIu32
                        " cores: ask for fewer, or give --tasks",
                        helpers, step->ghosts ? "ghosts" : "service cores",
                        cores);
    if (!tasks && step->offload && cores - helpers > 1)
        tasks = (cores - helpers) / 2 * nodes; /* a core for each thread */
    else if (!tasks)
        tasks = (cores - helpers) * nodes;
    if (tasks < nodes)
        return asp_errf(err, EINVAL,
                        "%" PRIu32 " user tasks leave some of %" PRIu32
                        " nodes without one: ask for fewer nodes",
                        tasks, nodes);
    each = tasks / nodes + step->ghosts;
    rest = tasks % nodes;
    if (rest)
        snprintf(counts, sizeof(counts), "%u(x%u),%u(x%u)",
                 (unsigned) (each + 1), (unsigned) rest, (unsigned) each,
                 (unsigned) (nodes - rest));
    else
        snprintf(counts, sizeof(counts), "%u(x%u)", (unsigned) each,
                 (unsigned) nodes);
    return asp_step_ranks_compute(counts, options->distribution, 0,
                                  &step->ranks, err);
}

static int draw_node(const struct step *step, uint32_t node,
                     struct asp_err *err)
{
    struct asp_plan_request request = {
        .mode = asp_policy_mode(step->policy),
        .ghosts_per_node = step->ghosts,
        .service_cores = step->service,
        .offload = step->offload,
        .spread = (enum asp_spread) asp_policy_word(step->policy,
                                                    ASP_KNOB_SPREAD),
        .share = asp_policy_bool(step->policy, ASP_KNOB_SHARE),
        .use_threads = asp_policy_word(step->policy, ASP_KNOB_SMT) ==
                       ASP_SMT_USE,
        .may_bind = true,
        .nodes = step->ranks->nodes,
        .nnodes = step->ranks->nnodes,
        .node = node,
    };
    struct asp_layout *layout = NULL;

    if (asp_plan(step->topo, &request, &layout, err) < 0)
        return -1;
    asp_policy_to_layout(step->policy, layout);
    putchar('\n');
    aspt_picture(stdout, step->topo, layout);
    asp_layout_destroy(layout);
    return 0;
}

/* All nodes of a small step; of a large one the first of each number of
 * tasks, since the others differ by their ranks only. */
static int draw_nodes(const struct options *options, const struct step *step,
                      struct asp_err *err)
{
    const struct asp_step_ranks *ranks = step->ranks;

    if (options->node > ranks->nnodes)
        return asp_errf(err, EINVAL, "--node %u of %u nodes",
                        (unsigned) options->node, (unsigned) ranks->nnodes);
    if (options->node)
        return draw_node(step, options->node - 1, err);
    for (uint32_t n = 0, end; n < ranks->nnodes; n = end) {
        if (draw_node(step, n, err) < 0)
            return -1;
        end = n + 1;
        if (ranks->nnodes <= NODES_DRAWN)
            continue;
        while (end < ranks->nnodes &&
               ranks->nodes[end].ntasks == ranks->nodes[n].ntasks)
            end++;
        if (end > n + 1)
            printf("\nnodes %u to %u: the same with other ranks "
                   "(--node N draws one)\n",
                   (unsigned) n + 2, (unsigned) end);
    }
    return 0;
}

/* As `aspen request` does in srun, but what nobody asked for is ghost. */
static int resolve(const struct options *options, struct step *step,
                   struct asp_err *err)
{
    const char *env = getenv("ASPEN_PROGRESS");
    const char *job = options->policy ? options->policy
                                      : getenv("ASPEN_POLICY");
    const char *line = options->progress;

    if (!line && !(env && env[0]) && !(job && job[0]))
        line = "ghost";
    step->policy = asp_policy_create();
    if (!step->policy)
        return asp_errf(err, ENOMEM, "out of memory");
    if (asp_policy_add_default_site(step->policy, options->site, err) < 0 ||
        (job && job[0] && asp_policy_add_job(step->policy, job, err) < 0) ||
        (env && env[0] &&
         asp_policy_add_spec(step->policy, env, ASP_LAYER_ENV, "ASPEN_PROGRESS",
                             err) < 0) ||
        (line && asp_policy_add_spec(step->policy, line, ASP_LAYER_LINE,
                                     "command line", err) < 0) ||
        asp_policy_resolve(step->policy, &options->facts, err) < 0 ||
        aspt_advice_take(step->policy, &options->facts, stderr, err) < 0)
        return -1;
    step->offload = asp_policy_mode(step->policy) == ASP_MODE_OFFLOAD ||
                    (asp_policy_mode(step->policy) == ASP_MODE_GHOST &&
                     asp_policy_bool(step->policy, ASP_KNOB_OFFLOAD));
    if (asp_policy_mode(step->policy) == ASP_MODE_GHOST)
        step->ghosts = (uint32_t) asp_policy_number(step->policy,
                                                    ASP_KNOB_GHOSTS);
    if (asp_policy_mode(step->policy) == ASP_MODE_THREAD)
        step->service = (uint32_t) asp_policy_number(step->policy,
                                                     ASP_KNOB_THREAD_CORES);
    return 0;
}

static int draw_step(const struct options *options, struct asp_err *err)
{
    struct step step = {0};
    int rc = -1;

    if (resolve(options, &step, err) == 0 &&
        load_topo(options, &step.topo, err) == 0 &&
        make_ranks(options, &step, err) == 0) {
        aspt_print_settings(stdout, step.policy);
        rc = draw_nodes(options, &step, err);
    }
    if (!rc)
        puts("\nu user (its rank), g ghost (of the node), h offload thread (of "
             "the user),\n. idle, x not of this step, * of this step in part");
    asp_step_ranks_destroy(step.ranks);
    asp_topo_destroy(step.topo);
    asp_policy_destroy(step.policy);
    return rc;
}

static void know_facts(struct options *options)
{
    struct passwd *user = getpwuid(getuid());
    uint32_t nodes = options->facts.nodes;

    options->facts.user = user ? user->pw_name : NULL;
    options->facts.tasks_per_node = (options->tasks + nodes - 1) / nodes;
}

int aspt_explain(int argc, char **argv)
{
    static const struct aspt_options known = {"aspen explain", ":", longopts,
                                              usage, set_option};
    struct options options = {.facts = {.nodes = 1}};
    struct asp_err err;
    int status;

    if (argc > 1 && strcmp(argv[1], "coll") == 0)
        return aspt_explain_coll(argc - 1, argv + 1);
    status = aspt_options_read(&known, argc, argv, &options);
    if (status >= 0)
        return status;
    if (optind < argc) {
        fputs(usage, stderr);
        return ASPT_REFUSED;
    }
    know_facts(&options);
    if ((options.layout ? draw_layout : draw_step)(&options, &err) < 0)
        return aspt_complain(&err);
    return ASPT_OK;
}
