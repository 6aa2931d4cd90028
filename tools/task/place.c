/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm tells each task all of it in SLURM_*; hydra tells ranks, and `aspen
 * run` told it how to deal them. */
#include "config.h"

#include "place.h"

#include "common/base/taskmap.h"
#include "common/base/words.h"
#include "common/plan/hostlist.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value ? value : "";
}

/* The first of two variables that is set. */
static const char *variable_of(const char *name, const char *other)
{
    return getenv(name) ? variable(name) : variable(other);
}

static int read_number(const char *name, const char *other, uint32_t *out_p,
                       struct asp_err *err)
{
    const char *text = variable_of(name, other);

    if (asp_parse_number(text, ASP_RANKS_MAX, out_p) == 0)
        return 0;
    return asp_errf(err, EINVAL, "the launcher's %s is \"%.40s\"", name, text);
}

static int contradicts(const char *what, struct asp_err *err)
{
    return asp_errf(err, EINVAL,
                    "what the launcher says of this task does not fit together "
                    "(%s)",
                    what);
}

/* This node's name by the launcher, or its own. */
static void set_nodename(const char *name, struct aspt_place *place)
{
    char host[ASP_NAME_MAX] = "?";

    gethostname(host, sizeof(host) - 1);
    snprintf(place->nodename, sizeof(place->nodename), "%s",
             *name ? name : host);
}

/* ---- Slurm ----------------------------------------------------------------- */

static int read_gtids(struct aspt_place *place)
{
    place->nlocal = ASP_TASKS_MAX;
    return asp_ranks_parse(variable("SLURM_GTIDS"), place->ranks,
                           &place->nlocal);
}

/* The counts of all nodes must be those of this one, and of the step. */
static int check_counts(const struct aspt_place *place, const char *text,
                        struct asp_err *err)
{
    uint32_t *counts = calloc(place->nnodes, sizeof(*counts));
    uint64_t sum = 0;
    int n = -1;
    bool fits;

    if (counts)
        n = asp_counts_parse(text, 1, ASP_RANKS_MAX, counts, place->nnodes);
    for (int i = 0; i < n; i++)
        sum += counts[i];
    fits = n == (int) place->nnodes && sum == place->ntasks &&
           counts[place->node] == place->nlocal;
    free(counts);
    return fits ? 0 : contradicts("SLURM_STEP_TASKS_PER_NODE", err);
}

/* The ranks of all nodes, where the distribution is one that is known. */
static void find_steps(const char *counts, struct aspt_place *place)
{
    const char *names = variable_of("SLURM_STEP_NODELIST", "SLURM_NODELIST");
    uint32_t plane = 0;
    struct asp_err why;

    asp_parse_number(variable("SLURM_DIST_PLANESIZE"), ASP_RANKS_MAX, &plane);
    if (asp_step_ranks_find(counts, variable("SLURM_DISTRIBUTION"), plane,
                            place->node, place->ranks, place->nlocal,
                            &place->steps, &why) < 0) {
        snprintf(place->no_steps, sizeof(place->no_steps), "%.200s", why.text);
        return;
    }
    if (asp_hostlist_name(names, place->steps->nodes, place->nnodes, NULL) < 0)
        for (uint32_t n = 0; n < place->nnodes; n++)
            place->steps->nodes[n].name[0] = '\0';
    snprintf(place->steps->nodes[place->node].name, ASP_NAME_MAX, "%s",
             place->nodename);
}

static int find_in_slurm(struct aspt_place *place, struct asp_err *err)
{
    const char *counts = variable_of("SLURM_STEP_TASKS_PER_NODE",
                                     "SLURM_TASKS_PER_NODE");
    uint32_t rank;

    if (read_number("SLURM_PROCID", "", &rank, err) < 0 ||
        read_number("SLURM_LOCALID", "", &place->local, err) < 0 ||
        read_number("SLURM_NODEID", "", &place->node, err) < 0 ||
        read_number("SLURM_STEP_NUM_NODES", "SLURM_NNODES", &place->nnodes,
                    err) < 0 ||
        read_number("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", &place->ntasks,
                    err) < 0)
        return -1;
    if (read_gtids(place) < 0 || place->local >= place->nlocal ||
        place->ranks[place->local] != rank)
        return contradicts("SLURM_GTIDS", err);
    if (place->node >= place->nnodes || place->nnodes > ASP_NODES_MAX)
        return contradicts("SLURM_NODEID", err);
    if (check_counts(place, counts, err) < 0)
        return -1;
    snprintf(place->job, sizeof(place->job), "%.20s.%.20s",
             variable_of("SLURM_JOB_ID", "SLURM_JOBID"),
             variable_of("SLURM_STEP_ID", "SLURM_STEPID"));
    set_nodename(variable("SLURMD_NODENAME"), place);
    find_steps(counts, place);
    return 0;
}

/* ---- hydra ----------------------------------------------------------------- */

/* Put the names that `aspen run` told into the nodes. */
static void name_nodes(const char *names, struct asp_step_ranks *steps)
{
    for (uint32_t n = 0; n < steps->nnodes; n++) {
        size_t len = strcspn(names, ",");

        snprintf(steps->nodes[n].name, ASP_NAME_MAX, "%.*s", (int) len, names);
        names += len + (names[len] == ',');
    }
}

static bool find_rank(struct aspt_place *place, uint32_t rank)
{
    for (uint32_t n = 0; n < place->nnodes; n++) {
        const struct asp_layout_node *node = &place->steps->nodes[n];

        for (uint32_t i = 0; i < node->ntasks; i++) {
            if (node->ranks_world[i] != rank)
                continue;
            place->node = n;
            place->local = i;
            place->nlocal = node->ntasks;
            return node->ntasks <= ASP_TASKS_MAX;
        }
    }
    return false;
}

/* Did hydra put as many tasks here as it was told to? */
static int check_local(const struct aspt_place *place, struct asp_err *err)
{
    uint32_t local = place->local, count = place->nlocal;

    if ((*variable("MPI_LOCALRANKID") &&
         read_number("MPI_LOCALRANKID", "", &local, err) < 0) ||
        (*variable("MPI_LOCALNRANKS") &&
         read_number("MPI_LOCALNRANKS", "", &count, err) < 0))
        return -1;
    if (local == place->local && count == place->nlocal)
        return 0;
    return asp_errf(err, EINVAL,
                    "mpiexec put its ranks elsewhere than asked: local rank "
                    "%" PRIu32 " of %" PRIu32 " instead of %" PRIu32
                    " of %" PRIu32,
                    local, count, place->local, place->nlocal);
}

static int find_in_hydra(const struct aspt_task_arguments *arguments,
                         struct aspt_place *place, struct asp_err *err)
{
    uint32_t rank, size;

    /* -pmi-port: PMI_ID alone */
    if (read_number("PMI_RANK", "PMI_ID", &rank, err) < 0 ||
        asp_step_ranks_compute(arguments->tasks_per_node,
                               arguments->distribution, 0, &place->steps,
                               err) < 0)
        return -1;
    name_nodes(arguments->names, place->steps);
    place->nnodes = place->steps->nnodes;
    place->ntasks = place->steps->ntasks;
    size = place->ntasks;
    if (*variable("PMI_RANK") && read_number("PMI_SIZE", "", &size, err) < 0)
        return -1;
    if (size != place->ntasks || !find_rank(place, rank))
        return contradicts("PMI_RANK, PMI_SIZE", err);
    if (check_local(place, err) < 0)
        return -1;
    memcpy(place->ranks, place->steps->nodes[place->node].ranks_world,
           place->nlocal * sizeof(place->ranks[0]));
    snprintf(place->job, sizeof(place->job), "%s", arguments->job);
    set_nodename(place->steps->nodes[place->node].name, place);
    return 0;
}

int aspt_place_find(const struct aspt_task_arguments *arguments,
                    struct aspt_place *out_p, struct asp_err *err)
{
    memset(out_p, 0, sizeof(*out_p));
    out_p->slurm = strcmp(arguments->launcher, "srun") == 0;
    if (out_p->slurm)
        return find_in_slurm(out_p, err);
    return find_in_hydra(arguments, out_p, err);
}

void aspt_place_clear(struct aspt_place *place)
{
    asp_step_ranks_destroy(place->steps);
    place->steps = NULL;
}

int aspt_place_user_ranks(const struct aspt_place *place, uint32_t ghosts,
                          uint32_t *out)
{
    uint32_t next = 0, users = 0;
    bool *marks;

    if (!place->steps || !(marks = asp_step_ranks_ghosts(place->steps, ghosts)))
        return -1;
    for (uint32_t i = 0; i < place->nlocal; i++) { /* ranks ascend */
        for (; next < place->ranks[i]; next++)
            users += !marks[next];
        out[i] = marks[place->ranks[i]] ? ASP_RANK_NONE : users;
    }
    free(marks);
    return 0;
}
