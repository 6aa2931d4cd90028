/* SPDX-License-Identifier: BSD-3-Clause */
/* Is what the simulator chooses good? For machines, nodes, ranks and sizes: its
 * choice against the exhaustive best of our index, against the best of MPICH's
 * algorithms, and against what MPICH's rules choose. No clock, no MPI.
 *
 *     coll_model [MAX_RANKS]     (64) larger ones are left out
 *
 * Exit status 1 when a goal of docs/design/coll.md is missed. */
#include "common/coll/choose.h"
#include "common/coll/mpich.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t nodes_of[] = {1, 2, 3, 4, 7, 16, 64, 256, 1024};
static const uint32_t each_of[] = {1, 4, 32};
static const size_t bytes_of[] = {8, 512, 4096, 32768, 262144, 4194304};

/* Steps of a schedule that are simulated here; the others are no candidates. */
static const uint64_t STEPS_MAX = UINT64_C(1) << 20;

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct sum {
    unsigned long points, near, behind;
    double log_gain; /* over MPICH's choice */
    unsigned long gains;
    double worst; /* of the choice over the best */
    unsigned long tried, ways;
};

static void add_sum(struct sum *to, const struct sum *what)
{
    to->points += what->points;
    to->near += what->near;
    to->behind += what->behind;
    to->log_gain += what->log_gain;
    to->gains += what->gains;
    to->worst = what->worst > to->worst ? what->worst : to->worst;
    to->tried += what->tried;
    to->ways += what->ways;
}

static int64_t time_of(const struct asp_coll_machine *machine,
                       const struct asp_coll_way *way,
                       const struct asp_coll_problem *problem)
{
    struct asp_coll_cost cost;

    if (asp_coll_predict_within(machine, way, problem, 1, INT64_MAX, STEPS_MAX,
                                &cost, NULL) < 0)
        return -1;
    return cost.time;
}

/* The best of MPICH's algorithms that is possible; -1: none. */
static int64_t best_of_mpich(const struct asp_coll_machine *machine,
                             const struct asp_coll_problem *problem)
{
    const char *const *texts = asp_coll_mpich_ways(problem->op);
    struct asp_coll_way way;
    int64_t best = -1;

    for (; *texts; texts++) {
        int64_t time = -1;

        if (asp_coll_way_parse(*texts, &way, NULL) == 0 &&
            asp_coll_fits(&way, problem, NULL) == 0)
            time = time_of(machine, &way, problem);
        if (time >= 0 && (best < 0 || time < best))
            best = time;
    }
    return best;
}

static void compare(const struct asp_coll_machine *machine,
                    const struct asp_coll_problem *problem, struct sum *sum)
{
    struct asp_coll_effort quick = {false, STEPS_MAX}, all = {true, STEPS_MAX};
    struct asp_coll_candidate *list;
    struct asp_coll_way way;
    struct asp_err err;
    uint32_t n;
    int64_t chosen, best, mpich, choice = -1;

    if (asp_coll_choose(machine, problem, &quick, &list, &n, &err) < 0)
        return; /* all too large */
    chosen = list[0].cost.time;
    for (uint32_t i = 0; i < n; i++)
        sum->tried += list[i].fate == ASP_COLL_OK ||
                      list[i].fate == ASP_COLL_SLOW;
    sum->ways += n;
    free(list);
    if (asp_coll_choose(machine, problem, &all, &list, &n, &err) < 0)
        return;
    best = list[0].cost.time;
    free(list);
    mpich = best_of_mpich(machine, problem);
    if (asp_coll_mpich(problem, &way, &err) == 0)
        choice = time_of(machine, &way, problem);
    sum->points++;
    sum->near += (double) chosen <= 1.05 * (double) best;
    sum->behind += mpich >= 0 && chosen > mpich;
    if (best > 0 && (double) chosen / (double) best > sum->worst)
        sum->worst = (double) chosen / (double) best;
    if (choice > 0 && chosen > 0) {
        sum->log_gain += log((double) choice / (double) chosen);
        sum->gains++;
    }
}

static void try_sizes(const struct asp_coll_machine *machine,
                      enum asp_coll_op op, uint32_t nodes, uint32_t each,
                      struct sum *sum)
{
    uint32_t ranks = nodes * each;
    uint32_t *node = malloc(ranks * sizeof(*node));

    for (uint32_t r = 0; node && r < ranks; r++)
        node[r] = r / each;
    for (size_t b = 0; node && b < COUNT(bytes_of); b++) {
        struct asp_coll_problem p = {.op = op,
                                     .ranks = ranks,
                                     .bytes = bytes_of[b],
                                     .grain = 8,
                                     .commutative = true,
                                     .node = node};

        /* Blocks for all: no more memory than a rank may have. */
        if (ranks * p.bytes > (size_t) 1 << 30 || (op == 0 && b > 0))
            continue;
        compare(machine, &p, sum);
    }
    free(node);
}

static void try_op(const struct asp_coll_machine *machine, enum asp_coll_op op,
                   uint32_t max_ranks, struct sum *sum)
{
    for (size_t n = 0; n < COUNT(nodes_of); n++)
        for (size_t e = 0; e < COUNT(each_of); e++) {
            uint32_t ranks = nodes_of[n] * each_of[e];

            if (ranks > 1 && ranks <= max_ranks)
                try_sizes(machine, op, nodes_of[n], each_of[e], sum);
        }
}

static void print(const char *machine, const char *op, const struct sum *s)
{
    printf("%-11s %-21s %6lu %7.1f %7.3f %7lu %7.2f %8.1f\n", machine, op,
           s->points, 100.0 * (double) s->near / (double) s->points, s->worst,
           s->behind, exp(s->log_gain / (double) s->gains),
           100.0 * (double) s->tried / (double) s->ways);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    uint32_t max_ranks = argc > 1 ? (uint32_t) strtoul(argv[1], NULL, 10) : 64;
    struct sum total = {0};
    double gain;

    printf("%-11s %-21s %6s %7s %7s %7s %7s %8s\n", "machine", "operation",
           "points", "near %", "worst", "behind", "gain", "tried %");
    for (size_t m = 0; asp_coll_machines[m].name; m++)
        for (int op = 0; op < ASP_COLL_SCATTERV; op++) {
            struct sum sum = {0};

            if (op == ASP_COLL_REDUCE_SCATTER)
                continue; /* as reduce_scatter_block */
            try_op(&asp_coll_machines[m], (enum asp_coll_op) op, max_ranks,
                   &sum);
            print(asp_coll_machines[m].name,
                  asp_coll_op_name((enum asp_coll_op) op), &sum);
            add_sum(&total, &sum);
        }
    print("all", "", &total);
    gain = exp(total.log_gain / (double) total.gains);
    puts("\nnear: within 5 % of the exhaustive best (goal: 95 % of points);\n"
         "behind: points at which MPICH's best algorithm is faster (0);\n"
         "gain: over MPICH's choice, geometric mean (1.3)");
    return total.behind || (double) total.near < 0.95 * (double) total.points ||
           gain < 1.3;
}
