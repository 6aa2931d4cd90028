/* SPDX-License-Identifier: BSD-3-Clause */
/* What the simulator chooses at points, one a line of standard input:
 *     MACHINE OP NODES RANKS_PER_NODE BYTES
 * For each a line: the point, the times in picoseconds of the choice, of the
 * best of all configurations, of MPICH's best if it is less than the choice
 * (else 0), and of what MPICH's rules choose (0: too many steps), how many
 * configurations there are and were simulated to their end, and the choice.
 * bench/coll_model makes tables of them. --plain: the best is found without
 * bounds, and has to be the choice. No clock, no MPI. */
#include "common/coll/model/choose.h"
#include "common/coll/model/mpich.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Steps of all ranks together: as many as the choice looks at. */
static const uint64_t STEPS_MAX = UINT64_C(1) << 22;

struct point {
    const struct asp_coll_machine *machine;
    struct asp_coll_problem problem;
};

struct result {
    int64_t chosen, best, mpich, choice;
    uint32_t configs, tried;
    struct asp_coll_config config;
};

static int64_t time_of(const struct point *point,
                       const struct asp_coll_config *config, int64_t limit)
{
    struct asp_coll_cost cost;

    if (asp_coll_predict_within(point->machine, config, &point->problem, 1,
                                limit, STEPS_MAX, &cost, NULL) == 0)
        return cost.time;
    return 0;
}

/* The best of MPICH's algorithms, if it is faster than the choice. */
static int64_t faster_mpich(const struct point *point, int64_t chosen)
{
    const char *const *texts = asp_coll_mpich_configs(point->problem.op);
    struct asp_coll_config config;
    int64_t best = 0, time;

    for (; *texts; texts++) {
        if (asp_coll_config_parse(*texts, &config, NULL) < 0 ||
            asp_coll_fits(&config, &point->problem, NULL) < 0)
            continue;
        time = time_of(point, &config, chosen - 1);
        if (time && (!best || time < best))
            best = time;
    }
    return best;
}

static int64_t plain_best(const struct point *point)
{
    struct asp_coll_configs configs = {0};
    int64_t best = INT64_MAX;

    while (asp_coll_configs_next(&configs, &point->problem)) {
        int64_t time = time_of(point, &configs.config, INT64_MAX);

        best = time && time < best ? time : best;
    }
    return best;
}

/* A configuration that is faster than the choice, of more steps too. */
static int64_t bounded_best(const struct point *point, int64_t chosen)
{
    struct asp_coll_effort effort = {.wanted = 1, .max_steps = STEPS_MAX};
    struct asp_coll_candidate *list;
    int64_t best = chosen;
    struct asp_err err;
    uint32_t n;

    effort.below = chosen;
    if (asp_coll_choose(point->machine, &point->problem, &effort, &list, &n,
                        &err) < 0)
        return -1;
    if (list[0].fate == ASP_COLL_OK)
        best = list[0].cost.time;
    free(list);
    return best;
}

static int find(const struct point *point, bool plain, struct result *r,
                struct asp_err *err)
{
    struct asp_coll_effort one = {.wanted = 1};
    struct asp_coll_candidate *list;
    struct asp_coll_config config;

    if (asp_coll_choose(point->machine, &point->problem, &one, &list,
                        &r->configs, err) < 0)
        return errno == E2BIG ? 0 : -1;
    r->chosen = list[0].cost.time;
    r->config = list[0].config;
    for (uint32_t i = 0; i < r->configs; i++)
        r->tried += list[i].fate == ASP_COLL_OK;
    free(list);
    r->best = plain ? plain_best(point) : bounded_best(point, r->chosen);
    if (plain && r->best != r->chosen)
        return asp_errf(err, EINVAL,
                        "%" PRId64 " ps is chosen, %" PRId64 " is the best",
                        r->chosen, r->best);
    r->mpich = faster_mpich(point, r->chosen);
    if (asp_coll_mpich(&point->problem, &config, err) == 0)
        r->choice = time_of(point, &config, INT64_MAX);
    return 0;
}

static int answer(const char *machine, const char *op, unsigned nodes,
                  unsigned each, unsigned long bytes, bool plain)
{
    struct point point = {.machine = asp_coll_machine_find(machine)};
    uint32_t ranks = nodes * each;
    uint32_t *node = malloc((ranks + 1) * sizeof(*node));
    struct result r = {0};
    struct asp_err err = {.text = "no such machine"};
    char text[ASP_COLL_CONFIG_TEXT];
    int rc = -1;

    for (uint32_t i = 0; node && i < ranks; i++)
        node[i] = i / each;
    point.problem = (struct asp_coll_problem){.ranks = ranks,
                                              .bytes = bytes,
                                              .element_size = 8,
                                              .commutative = true,
                                              .node = node};
    if (node && point.machine &&
        asp_coll_op_parse(op, &point.problem.op, &err) == 0)
        rc = find(&point, plain, &r, &err);
    if (rc < 0)
        fprintf(stderr, "%s %s %u x %u, %lu bytes: %s\n", machine, op, nodes,
                each, bytes, err.text);
    else
        printf("%s\t%s\t%u\t%u\t%lu\t%" PRId64 "\t%" PRId64 "\t%" PRId64
               "\t%" PRId64 "\t%u\t%u\t%s\n",
               machine, op, nodes, each, bytes, r.chosen, r.best, r.mpich,
               r.choice, (unsigned) r.configs, (unsigned) r.tried,
               r.chosen ? asp_coll_config_text(&r.config, text) : "none");
    fflush(stdout);
    free(node);
    return rc;
}

int main(int argc, char **argv)
{
    bool plain = argc > 1 && strcmp(argv[1], "--plain") == 0;
    char machine[32], op[32];
    unsigned nodes, each;
    unsigned long bytes;

    while (scanf("%31s %31s %u %u %lu", machine, op, &nodes, &each, &bytes) ==
           5)
        if (answer(machine, op, nodes, each, bytes, plain) < 0)
            return 1;
    return 0;
}
