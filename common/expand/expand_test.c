/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of requests and what they must grow to, and a search over many small
 * requests for one that breaks the rule "users as even as can be, plus G". */
#include "expand.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const uint32_t four_four[] = {4, 4}, three_one[] = {3, 1},
                      six_two[] = {6, 2}, four_three[] = {4, 3},
                      three_four[] = {3, 4}, eights[] = {8, 8, 8, 8};

#define ALLOC(cpus)                                                            \
    .alloc_cpus = (cpus), .alloc_nnodes = sizeof(cpus) / sizeof((cpus)[0])

struct grow_case {
    const char *name;
    struct asp_expand_request in;
    struct asp_expand_result out; /* users == 0: refused */
    const char *says;             /* in the refusal */
};

static const struct grow_case cases[] = {
    {"-N2 -n4 ghost:1",
     {.ghosts = 1, .ntasks = 4, .nodes_min = 2, .nodes_max = 2},
     {4, 2, 6, 3, 3, 0, false, false},
     NULL},
    {"-N4 -n8 ghost:1",
     {.ghosts = 1, .ntasks = 8, .nodes_min = 4, .nodes_max = 4},
     {8, 4, 12, 3, 3, 0, false, false},
     NULL},
    {"-N2 -n6 ghost:2",
     {.ghosts = 2, .ntasks = 6, .nodes_min = 2, .nodes_max = 2},
     {6, 2, 10, 5, 5, 0, false, false},
     NULL},
    {"no -n, no -N", {.ghosts = 1}, {1, 1, 2, 2, 0, 0, false, false}, NULL},
    {"-N2, no -n",
     {.ghosts = 1, .nodes_min = 2, .nodes_max = 2},
     {2, 2, 4, 2, 2, 0, false, false},
     NULL},
    {"-N2 --ntasks-per-node=3",
     {.ghosts = 1, .nodes_min = 2, .nodes_max = 2, .ntasks_per_node = 3},
     {6, 2, 8, 4, 4, 0, false, false},
     NULL},
    {"-n6 --ntasks-per-node=3, no -N",
     {.ghosts = 1, .ntasks = 6, .ntasks_per_node = 3},
     {6, 2, 8, 4, 4, 0, false, false},
     NULL},
    {"-N2 -n5: uneven",
     {.ghosts = 1, .ntasks = 5, .nodes_min = 2, .nodes_max = 2},
     {5, 2, 7, 0, 3, 0, false, false},
     NULL},
    {"-N2 -n5 --ntasks-per-node=3: uneven",
     {.ghosts = 1,
      .ntasks = 5,
      .nodes_min = 2,
      .nodes_max = 2,
      .ntasks_per_node = 3},
     {5, 2, 7, 4, 3, 0, false, false},
     NULL},
    {"-N2 -n5 -c2",
     {.ghosts = 1,
      .ntasks = 5,
      .nodes_min = 2,
      .nodes_max = 2,
      .cpus_per_task = 2},
     {5, 2, 7, 0, 6, 0, false, false},
     NULL},
    {"-N1-4 -n8: a range is narrowed",
     {.ghosts = 1, .ntasks = 8, .nodes_min = 1, .nodes_max = 4},
     {8, 1, 9, 9, 0, 0, true, false},
     NULL},
    {"-N1-4 -n8 on nodes of 4 CPUs: the first that has room",
     {.ghosts = 1, .ntasks = 8, .nodes_min = 1, .nodes_max = 4, .node_cpus = 4},
     {8, 3, 11, 0, 3, 0, true, false},
     NULL},
    {"-N1-2 -n2 -c2 on nodes of 4 CPUs",
     {.ghosts = 1,
      .ntasks = 2,
      .nodes_min = 1,
      .nodes_max = 2,
      .cpus_per_task = 2,
      .node_cpus = 4},
     {2, 2, 4, 2, 4, 0, true, false},
     NULL},
    {"-N4 -n2: fewer tasks than nodes",
     {.ghosts = 1, .ntasks = 2, .nodes_min = 4, .nodes_max = 4},
     {2, 2, 4, 2, 2, 0, false, false},
     NULL},
    {"-w n[1-2] -n4",
     {.ghosts = 1, .ntasks = 4, .nodelist_count = 2},
     {4, 2, 6, 3, 3, 0, false, false},
     NULL},
    {"-n8 on nodes of 4 CPUs: three nodes",
     {.ghosts = 1, .ntasks = 8, .node_cpus = 4},
     {8, 3, 11, 0, 3, 0, true, false},
     NULL},
    {"-n8 and nothing known", {.ghosts = 1, .ntasks = 8}, {0}, "Give -N"},
    {"-n8 ghost:4 on nodes of 4 CPUs",
     {.ghosts = 4, .ntasks = 8, .node_cpus = 4},
     {0},
     "no room"},
    {"-n1", {.ghosts = 1, .ntasks = 1}, {1, 1, 2, 2, 0, 0, false, false}, NULL},
    {"overcommit",
     {.ghosts = 1,
      .ntasks = 8,
      .nodes_min = 2,
      .nodes_max = 2,
      .overcommit = true},
     {8, 2, 10, 0, 0, 0, false, false},
     NULL},
    {"cyclic",
     {.ghosts = 1,
      .ntasks = 4,
      .nodes_min = 2,
      .nodes_max = 2,
      .dist = ASP_EXPAND_CYCLIC},
     {4, 2, 6, 3, 3, 0, false, false},
     NULL},
    {"plane=2, one round: a larger plane",
     {.ghosts = 1,
      .ntasks = 4,
      .nodes_min = 2,
      .nodes_max = 2,
      .dist = ASP_EXPAND_PLANE,
      .plane_size = 2},
     {4, 2, 6, 3, 3, 3, false, false},
     NULL},
    {"plane=2, ghost:2: whole planes of ghosts",
     {.ghosts = 2,
      .ntasks = 8,
      .nodes_min = 2,
      .nodes_max = 2,
      .dist = ASP_EXPAND_PLANE,
      .plane_size = 2},
     {8, 2, 12, 6, 6, 0, false, false},
     NULL},
    {"plane=2, two rounds: impossible",
     {.ghosts = 1,
      .ntasks = 8,
      .nodes_min = 2,
      .nodes_max = 2,
      .dist = ASP_EXPAND_PLANE,
      .plane_size = 2},
     {0},
     "plane=2 with 8 user tasks"},
    {"plane=2, 4 + 2 users: no plane leaves each where it was",
     {.ghosts = 1,
      .ntasks = 6,
      .nodes_min = 2,
      .nodes_max = 2,
      .overcommit = true,
      .dist = ASP_EXPAND_PLANE,
      .plane_size = 2},
     {0},
     "plane=2 with 6 user tasks"},
    {"plane=4, 4 + 2 users: 5 + 3, where the nodes are large enough",
     {.ghosts = 1,
      .ntasks = 6,
      .nodes_min = 2,
      .nodes_max = 2,
      .max_cpus = 8,
      .threads = 1,
      .overcommit = true,
      .srun = true,
      .whole_nodes = true,
      .dist = ASP_EXPAND_PLANE,
      .plane_size = 4},
     {6, 2, 8, 0, 0, 5, false, false},
     NULL},
    {"on nodes of 4 CPUs Slurm deals 4 + 4, with -O, too",
     {.ghosts = 1,
      .ntasks = 6,
      .nodes_min = 2,
      .nodes_max = 2,
      .max_cpus = 4,
      .threads = 1,
      .overcommit = true,
      .srun = true,
      .whole_nodes = true,
      .dist = ASP_EXPAND_PLANE,
      .plane_size = 4},
     {0},
     "node 1 of 2 has room for 4 task(s), but -m plane=4 gives it 4"},
    {"when all CPUs are taken planes would be 6 + 4, blocks are 5 + 5",
     {.ghosts = 1,
      .ntasks = 8,
      .nodes_min = 2,
      .nodes_max = 2,
      .max_cpus = 4,
      .threads = 1,
      .overcommit = true,
      .whole_nodes = true,
      .srun = true,
      .dist = ASP_EXPAND_PLANE,
      .plane_size = 4},
     {8, 2, 10, 0, 0, 0, false, true},
     NULL},
    {"sbatch places nothing",
     {.ghosts = 1,
      .ntasks = 8,
      .nodes_min = 2,
      .nodes_max = 2,
      .max_cpus = 4,
      .threads = 1,
      .overcommit = true,
      .whole_nodes = true,
      .dist = ASP_EXPAND_PLANE,
      .plane_size = 4},
     {8, 2, 10, 0, 0, 5, false, false},
     NULL},
    {"in an allocation the nodes' CPUs count",
     {.ghosts = 1,
      .ntasks = 6,
      .nodes_min = 2,
      .nodes_max = 2,
      .overcommit = true,
      .srun = true,
      .alloc_cpus = four_four,
      .alloc_nnodes = 2,
      .dist = ASP_EXPAND_PLANE,
      .plane_size = 4},
     {0},
     "--overcommit or not: use -m block"},
    {"-O where jobs share nodes: one core of each comes first",
     {.ghosts = 1,
      .ntasks = 6,
      .nodes_min = 2,
      .nodes_max = 2,
      .max_cpus = 4,
      .threads = 1,
      .overcommit = true,
      .srun = true,
      .dist = ASP_EXPAND_PLANE,
      .plane_size = 4},
     {0},
     "has room for 1 task(s)"},
    {"arbitrary",
     {.ghosts = 1, .ntasks = 4, .nodes_min = 2, .dist = ASP_EXPAND_ARBITRARY},
     {0},
     "arbitrary"},
    {"--multi-prog",
     {.ghosts = 1, .ntasks = 4, .nodes_min = 2, .multi_prog = true},
     {0},
     "--multi-prog"},
    {"--input=2",
     {.ghosts = 1,
      .ntasks = 4,
      .nodes_min = 2,
      .srun = true,
      .stream_of = true},
     {0},
     "name a task by its id"},
    {"--container",
     {.ghosts = 1, .ntasks = 4, .nodes_min = 2, .container = true},
     {0},
     "--container"},
    {"allocation 4+4, -n6",
     {.ghosts = 1,
      .ntasks = 6,
      .nodes_min = 2,
      .nodes_max = 2,
      ALLOC(four_four)},
     {6, 2, 8, 4, 0, 0, false, false},
     NULL},
    {"allocation 4+4, -n8",
     {.ghosts = 1,
      .ntasks = 8,
      .nodes_min = 2,
      .nodes_max = 2,
      ALLOC(four_four)},
     {0},
     "node 1 of the allocation has 4 CPU"},
    {"allocation 3+1, -n2",
     {.ghosts = 1,
      .ntasks = 2,
      .nodes_min = 2,
      .nodes_max = 2,
      ALLOC(three_one)},
     {0},
     "node 2 of the allocation has 1 CPU"},
    {"allocation 6+2, -n5",
     {.ghosts = 1, .ntasks = 5, .nodes_min = 2, .nodes_max = 2, ALLOC(six_two)},
     {0},
     "node 2 of the allocation has 2 CPU"},
    {"allocation 4+3, -n5",
     {.ghosts = 1,
      .ntasks = 5,
      .nodes_min = 2,
      .nodes_max = 2,
      ALLOC(four_three)},
     {5, 2, 7, 0, 0, 0, false, false},
     NULL},
    {"allocation 3+4, -n5: the other node has one more",
     {.ghosts = 1,
      .ntasks = 5,
      .nodes_min = 2,
      .nodes_max = 2,
      ALLOC(three_four)},
     {5, 2, 7, 0, 0, 0, false, false},
     NULL},
    {"allocation of 4 nodes, -N2 -n4",
     {.ghosts = 1, .ntasks = 4, .nodes_min = 2, .nodes_max = 2, ALLOC(eights)},
     {4, 2, 6, 3, 0, 0, false, false},
     NULL},
    {"allocation of 2 nodes, -N4",
     {.ghosts = 1,
      .ntasks = 4,
      .nodes_min = 4,
      .nodes_max = 4,
      ALLOC(four_four)},
     {0},
     "allocation has 2"},
    {"-N2 -n8 on nodes of 4 CPUs",
     {.ghosts = 1, .ntasks = 8, .nodes_min = 2, .nodes_max = 2, .max_cpus = 4},
     {0},
     "need 5 CPUs per node, but nodes have at most 4"},
    {"-N2 -n8 on nodes of 4 CPUs, overcommitted",
     {.ghosts = 1,
      .ntasks = 8,
      .nodes_min = 2,
      .nodes_max = 2,
      .max_cpus = 4,
      .overcommit = true},
     {8, 2, 10, 0, 0, 0, false, false},
     NULL},
    {"--ntasks-per-gpu",
     {.ghosts = 1, .ntasks = 4, .nodes_min = 2, .per_device = true},
     {0},
     "--ntasks-per-gpu"},
    {"--gpus-per-task",
     {.ghosts = 1, .ntasks = 4, .nodes_min = 2, .device_each = true},
     {0},
     "--gpus-per-node"},
    {"--ntasks-per-socket",
     {.ghosts = 1, .ntasks = 4, .nodes_min = 2, .per_part = true},
     {0},
     "--ntasks-per-node"},
    {"more than any node has, and placement.share",
     {.ghosts = 1,
      .ntasks = 8,
      .nodes_min = 2,
      .nodes_max = 2,
      .max_cpus = 4,
      .share = true},
     {0},
     "(-O)"},
    {"--mincpus=8",
     {.ghosts = 1, .ntasks = 4, .nodes_min = 2, .nodes_max = 2, .mincpus = 8},
     {4, 2, 6, 3, 0, 0, false, false},
     NULL},
    {"overcommit, --ntasks-per-node=4",
     {.ghosts = 1,
      .ntasks = 8,
      .nodes_min = 2,
      .nodes_max = 2,
      .ntasks_per_node = 4,
      .overcommit = true},
     {8, 2, 10, 5, 0, 0, false, false},
     NULL},
    {"no ghosts", {.ghosts = 0, .ntasks = 4, .nodes_min = 2}, {0}, "1 to 64"},
    {"too many ghosts",
     {.ghosts = 65, .ntasks = 4, .nodes_min = 2},
     {0},
     "1 to 64"},
    {"absurd",
     {.ghosts = 1, .ntasks = UINT32_MAX, .nodes_min = 2},
     {0},
     "absurd"},
    {"too many tasks in all",
     {.ghosts = 64,
      .nodes_min = 1 << 16,
      .nodes_max = 1 << 16,
      .ntasks_per_node = 1 << 19},
     {0},
     "too many"},
};

static void test_cases(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct grow_case *c = &cases[i];
        struct asp_expand_result out;
        struct asp_err err = {.text = ""};
        int rc;

        memset(&out, 0x55, sizeof(out));
        rc = asp_expand_tasks(&c->in, &out, &err);
        if ((rc == 0) != (c->out.users != 0))
            fail_msg("%s: rc %d: %s", c->name, rc, err.text);
        if (rc < 0) {
            if (strstr(err.text, c->says) == NULL)
                fail_msg("%s: says \"%s\"", c->name, err.text);
            continue;
        }
        if (out.users != c->out.users || out.nodes != c->out.nodes ||
            out.tasks != c->out.tasks ||
            out.ntasks_per_node != c->out.ntasks_per_node ||
            out.mincpus != c->out.mincpus ||
            out.plane_size != c->out.plane_size || out.block != c->out.block ||
            out.narrowed != c->out.narrowed)
            fail_msg("%s: users %u nodes %u tasks %u per node %u mincpus %u "
                     "plane %u narrowed %d",
                     c->name, out.users, out.nodes, out.tasks,
                     out.ntasks_per_node, out.mincpus, out.plane_size,
                     out.narrowed);
    }
}

/* Whatever is asked, the sums hold. */
static void test_sums(void **state)
{
    (void) state;
    for (uint32_t ghosts = 1; ghosts <= 4; ghosts++)
        for (uint32_t nodes = 1; nodes <= 5; nodes++)
            for (uint32_t ntasks = 1; ntasks <= 24; ntasks++) {
                struct asp_expand_request in = {.ghosts = ghosts,
                                                .ntasks = ntasks,
                                                .nodes_min = nodes,
                                                .nodes_max = nodes};
                struct asp_expand_result out;

                assert_int_equal(asp_expand_tasks(&in, &out, NULL), 0);
                assert_int_equal(out.users, ntasks);
                assert_true(out.nodes <= nodes && out.nodes <= ntasks);
                assert_int_equal(out.tasks, ntasks + ghosts * out.nodes);
                if (out.ntasks_per_node)
                    assert_int_equal(out.ntasks_per_node * out.nodes,
                                     out.tasks);
            }
}

/* Mode offload: a core more for each task. */
#define PART(cpus)                                                             \
    .part_cpus = (cpus), .part_nnodes = sizeof(cpus) / sizeof((cpus)[0])

static const struct {
    const char *name;
    struct asp_expand_request in;
    struct asp_expand_cpus out;
} cpu_cases[] = {
    {"-n4", {.ntasks = 4, .srun = true}, {2, 0, 0, 0, 2}},
    {"-n4 -c3", {.ntasks = 4, .cpus_per_task = 3}, {4, 0, 0, 3, 4}},
    {"srun -N2 -c1, no -n: as many as fit, as ever",
     {.nodes_min = 2, .nodes_max = 2, .cpus_per_task = 1, .srun = true},
     {2, 0, 0, 1, 2}},
    {"srun -N2: one task on each node, also with -c",
     {.nodes_min = 2, .nodes_max = 2, .srun = true},
     {2, 2, 2, 0, 2}},
    {"srun -N1-4: narrowed",
     {.nodes_min = 1, .nodes_max = 4, .srun = true},
     {2, 1, 1, 0, 2}},
    {"srun alone", {.srun = true}, {2, 1, 0, 0, 2}},
    {"sbatch -N2", {.nodes_min = 2, .nodes_max = 2}, {2, 0, 0, 0, 2}},
    {"srun -N2 --ntasks-per-node=2",
     {.nodes_min = 2, .nodes_max = 2, .ntasks_per_node = 2, .srun = true},
     {2, 0, 0, 0, 2}},
    {"2 threads, -c4: a core is 2 CPUs",
     {.ntasks = 1, .cpus_per_task = 4, .threads = 2},
     {6, 0, 0, 4, 6}},
    {"2 threads, -c3: the user's last core is whole",
     {.ntasks = 1, .cpus_per_task = 3, .threads = 2},
     {6, 0, 0, 3, 6}},
    {"2 threads, no -c", {.ntasks = 1, .threads = 2}, {4, 0, 0, 0, 4}},
    {"2 threads, -c3, smt=use",
     {.ntasks = 1, .cpus_per_task = 3, .threads = 2, .sibling = true},
     {4, 0, 0, 3, 4}},
    {"2 threads, -c3 --threads-per-core=1",
     {.ntasks = 1, .cpus_per_task = 3, .threads = 2, .threads_asked = 1},
     {4, 0, 0, 3, 4}},
    {"2 threads, -c4 --threads-per-core=1 on nodes of 8: only 4 count",
     {.ntasks = 1,
      .cpus_per_task = 4,
      .threads = 2,
      .threads_asked = 1,
      .max_cpus = 8},
     {0, 0, 0, 4, 0}},
    {"the same in an allocation",
     {.ntasks = 1,
      .cpus_per_task = 4,
      .threads = 2,
      .threads_asked = 1,
      .srun = true,
      ALLOC(eights)},
     {0, 0, 0, 4, 0}},
    {"the same in an allocation that counts like this",
     {.ntasks = 1,
      .cpus_per_task = 4,
      .threads = 2,
      .threads_asked = 1,
      .alloc_asked = true,
      .srun = true,
      ALLOC(eights)},
     {5, 0, 0, 4, 5}},
    {"--threads-per-core beyond the core's",
     {.ntasks = 1, .cpus_per_task = 3, .threads = 1, .threads_asked = 4},
     {4, 0, 0, 3, 4}},
    {"-N2 -n4 -c2 on nodes of 4 CPUs: no room, left",
     {.ntasks = 4,
      .nodes_min = 2,
      .nodes_max = 2,
      .cpus_per_task = 2,
      .max_cpus = 4,
      PART(four_four)},
     {0, 0, 0, 2, 0}},
    {"-n2 -c3 on nodes of 4 CPUs",
     {.ntasks = 2, .cpus_per_task = 3, .max_cpus = 4, PART(four_four)},
     {4, 0, 0, 3, 4}},
    {"-n3 -c3 on two nodes of 4 CPUs",
     {.ntasks = 3, .cpus_per_task = 3, .max_cpus = 4, PART(four_four)},
     {0, 0, 0, 3, 0}},
    {"-n1 -c4 on nodes of 4 CPUs",
     {.ntasks = 1, .cpus_per_task = 4, .max_cpus = 4, PART(four_four)},
     {0, 0, 0, 4, 0}},
    {"whole nodes, no -c: more of them",
     {.ntasks = 4, .node_cpus = 4, .whole_nodes = true, PART(four_four)},
     {0, 0, 2, 0, 0}},
    {"whole nodes, no -c, not enough of them",
     {.ntasks = 5, .node_cpus = 4, .whole_nodes = true, PART(four_four)},
     {0, 0, 0, 0, 0}},
    {"whole nodes, -N",
     {.ntasks = 4,
      .nodes_min = 1,
      .nodes_max = 1,
      .node_cpus = 4,
      .whole_nodes = true},
     {0, 0, 0, 0, 0}},
    {"whole nodes, -c2",
     {.ntasks = 2, .cpus_per_task = 2, .node_cpus = 4, .whole_nodes = true},
     {3, 0, 0, 2, 3}},
    {"whole nodes, but srun counts",
     {.ntasks = 2, .node_cpus = 4, .whole_nodes = true, .exact = true},
     {2, 0, 0, 0, 2}},
    {"overcommit",
     {.ntasks = 2, .cpus_per_task = 2, .overcommit = true},
     {0, 0, 0, 2, 0}},
    {"--cpus-per-gpu", {.ntasks = 2, .per_gpu = true}, {0, 0, 0, 0, 0}},
    {"absurd -c", {.cpus_per_task = UINT32_MAX}, {0, 0, 0, UINT32_MAX, 0}},
    {"step, no -c: has all CPUs",
     {.ntasks = 2, .srun = true, ALLOC(four_four)},
     {0, 0, 0, 0, 0}},
    {"step, --exact",
     {.ntasks = 2, .srun = true, .exact = true, ALLOC(four_four)},
     {2, 0, 0, 0, 2}},
    {"step, -n2 -c3 in 4+4",
     {.ntasks = 2, .cpus_per_task = 3, .srun = true, ALLOC(four_four)},
     {4, 0, 0, 3, 4}},
    {"step, -n4 -c2 in 4+4: left",
     {.ntasks = 4, .cpus_per_task = 2, .srun = true, ALLOC(four_four)},
     {0, 0, 0, 2, 0}},
    {"step, -N1 -n1 -c2 in 6+2: which node?",
     {.ntasks = 1,
      .nodes_min = 1,
      .nodes_max = 1,
      .cpus_per_task = 2,
      .srun = true,
      ALLOC(six_two)},
     {0, 0, 0, 2, 0}},
    {"step in a grown allocation, no -c",
     {.ntasks = 2,
      .srun = true,
      .had_user = 3,
      .had_total = 4,
      ALLOC(four_four)},
     {0, 0, 0, 3, 4}},
    {"step in a grown allocation, -c as the user gave it",
     {.ntasks = 2,
      .cpus_per_task = 3,
      .srun = true,
      .had_user = 3,
      .had_total = 4,
      ALLOC(four_four)},
     {4, 0, 0, 3, 4}},
    {"step in a grown allocation, -c as Slurm had it: not twice",
     {.ntasks = 1,
      .cpus_per_task = 4,
      .srun = true,
      .had_user = 3,
      .had_total = 4,
      ALLOC(eights)},
     {0, 0, 0, 3, 4}},
};

static void test_cpus(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof(cpu_cases) / sizeof(cpu_cases[0]); i++) {
        const struct asp_expand_cpus *want = &cpu_cases[i].out;
        struct asp_expand_cpus out;

        memset(&out, 0x55, sizeof(out));
        asp_expand_cpus(&cpu_cases[i].in, &out);
        if (memcmp(&out, want, sizeof(out)) != 0)
            fail_msg("%s: -c%u -n%u -N%u user %u total %u", cpu_cases[i].name,
                     out.cpus_per_task, out.ntasks, out.nodes, out.user,
                     out.total);
    }
}

static void test_nodelist(void **state)
{
    (void) state;
    assert_int_equal(asp_expand_nodelist_count("n1"), 1);
    assert_int_equal(asp_expand_nodelist_count("n1,n2"), 2);
    assert_int_equal(asp_expand_nodelist_count("n[1-3,7],login"), 5);
    assert_int_equal(asp_expand_nodelist_count("r[0-1]n[0-9]"), 20);
    assert_int_equal(asp_expand_nodelist_count("n[001-010]"), 10);
    assert_int_equal(asp_expand_nodelist_count(""), 0);
    assert_int_equal(asp_expand_nodelist_count("n1,"), 0);
    assert_int_equal(asp_expand_nodelist_count(",n1"), 0);
    assert_int_equal(asp_expand_nodelist_count("n[1"), 0);
    assert_int_equal(asp_expand_nodelist_count("n[]"), 0);
    assert_int_equal(asp_expand_nodelist_count("n[3-1]"), 0);
    assert_int_equal(asp_expand_nodelist_count("n[1-4294967295]"), 0);
    assert_int_equal(asp_expand_nodelist_count("n[1-99999]n[1-99999]"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_cpus),
        cmocka_unit_test(test_nodelist),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
