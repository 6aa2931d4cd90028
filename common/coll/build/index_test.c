/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of configurations, what fits, trees, and the goals for messages between
 * nodes. */
#include "common/coll/model/simulate.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *again(const char *text)
{
    static char buf[ASP_COLL_CONFIG_TEXT];
    struct asp_coll_config config;
    struct asp_err err;

    if (asp_coll_config_parse(text, &config, &err) < 0)
        return "";
    return asp_coll_config_text(&config, buf);
}

static void test_texts(void **state)
{
    (void) state;
    assert_string_equal(again("bcast:tree=kary,k=4,segment=65536"),
                        "bcast:tree=kary,k=4,segment=65536");
    assert_string_equal(again("bcast:k=3,tree=kary"), "");
    assert_string_equal(again("bcast:tree,k=3"), "bcast:tree=knomial,k=3");
    assert_string_equal(again("bcast:tree=fork,dims=4x4x2"),
                        "bcast:tree=fork,dims=4x4x2");
    assert_string_equal(again("allreduce:levels,across=ring,inner=4,leaders=2"),
                        "allreduce:levels,across=ring,leaders=2,inner=4");
    assert_string_equal(again("allreduce:levels,across=ring,leaders=1"),
                        "allreduce:levels,across=ring,inner=2");
    assert_string_equal(again("allgather:ring"), "allgather:ring");
    assert_string_equal(again("allgather:ring,k=2"), "");
    assert_string_equal(again("allreduce:levels,across=ring,segment=x"), "");
    assert_string_equal(again("bcast:tree=oak"), "");
    assert_string_equal(again("bcast:tree=bine,segment=4096"),
                        "bcast:tree=bine,segment=4096");
    assert_string_equal(again("barrier:levels,tree=bine"),
                        "barrier:levels,tree=bine,across=tree,inner=2");
    assert_string_equal(again("bcast:tree=fork,dims=4x"), "");
    assert_string_equal(again("bcast:tree=fork"), "");
    assert_string_equal(again("bcast"), "");
    assert_string_equal(again("hug:tree"), "");
}

/* Every configuration that is listed has a text that means it, and none comes
 * twice. */
static void test_list(void **state)
{
    static uint32_t node[24];
    static char texts[4096][ASP_COLL_CONFIG_TEXT];

    (void) state;
    for (uint32_t r = 0; r < 24; r++)
        node[r] = r / 4;
    for (int op = 0; op < ASP_COLL_SCATTERV; op++) {
        struct asp_coll_problem p = {.op = (enum asp_coll_op) op,
                                     .ranks = 24,
                                     .bytes = 1 << 20,
                                     .element_size = 8,
                                     .commutative = true,
                                     .node = node};
        struct asp_coll_configs configs = {0};
        size_t n = 0;

        if (op == ASP_COLL_REDUCE_SCATTER)
            continue;
        while (asp_coll_configs_next(&configs, &p)) {
            asp_coll_config_text(&configs.config, texts[n]);
            assert_string_equal(again(texts[n]), texts[n]);
            for (size_t i = 0; i < n; i++)
                assert_string_not_equal(texts[i], texts[n]);
            n++;
        }
        assert_true(n >=
                    (op == ASP_COLL_SCAN || op == ASP_COLL_EXSCAN ? 2 : 8));
    }
}

static void test_fits(void **state)
{
    uint32_t node[6] = {0, 1, 0, 1, 0, 1};
    struct asp_coll_problem p = {.op = ASP_COLL_ALLREDUCE,
                                 .ranks = 6,
                                 .bytes = 64,
                                 .element_size = 8,
                                 .node = node};
    struct asp_coll_schedule s = {0};
    struct asp_coll_config config;
    struct asp_err err;

    (void) state;
    assert_int_equal(asp_coll_config_parse("allreduce:ring", &config, &err), 0);
    assert_int_equal(asp_coll_fits(&config, &p, &err), -1);
    assert_int_equal(errno, ENOTSUP);
    p.commutative = true;
    assert_int_equal(asp_coll_fits(&config, &p, &err), 0);
    assert_int_equal(asp_coll_build(&config, &p, 6, &s, &err), -1);
    assert_int_equal(asp_coll_build(&config, &p, 5, &s, &err), 0);
    p.bytes = 63;
    assert_int_equal(asp_coll_build(&config, &p, 5, &s, &err), -1);
    p.bytes = 64;
    node[0] = 6;
    assert_int_equal(asp_coll_fits(&config, &p, &err), -1);
    node[0] = 0;
    assert_int_equal(
        asp_coll_config_parse("allreduce:levels,leaders=4", &config, &err), 0);
    assert_int_equal(asp_coll_fits(&config, &p, &err), -1);
    assert_int_equal(
        asp_coll_config_parse("allreduce:tree=bine", &config, &err), 0);
    assert_int_equal(asp_coll_fits(&config, &p, &err), 0);
    p.commutative = false;
    assert_int_equal(asp_coll_fits(&config, &p, &err), -1);
    p.op = ASP_COLL_GATHER;
    assert_int_equal(asp_coll_config_parse("gather:tree=bine", &config, &err),
                     0);
    assert_int_equal(asp_coll_fits(&config, &p, &err), -1);
    p.ranks = 0;
    assert_int_equal(asp_coll_fits(&config, &p, &err), -1);
    asp_coll_destroy(&s);
}

/* Parents, children and intervals of a whole tree say the same. */
static void check_tree(const struct asp_coll_tree *tree, uint32_t n)
{
    struct asp_coll_node node = {0}, child = {0};

    for (uint32_t v = 0; v < n; v++) {
        uint32_t next;

        assert_int_equal(asp_coll_tree_find(tree, n, v, &node), 0);
        next = node.end;
        for (uint32_t c = 0; c < node.nchildren; c++) {
            assert_int_equal(node.children[c].end, next);
            next = node.children[c].first;
            assert_int_equal(asp_coll_tree_find(tree, n, next, &child), 0);
            assert_int_equal(child.parent, v);
            assert_int_equal(child.end, node.children[c].end);
            assert_int_equal(child.depth, node.depth + 1);
        }
        assert_int_equal(next, v + 1);
    }
    asp_coll_node_destroy(&node);
    asp_coll_node_destroy(&child);
}

/* Parents and children of a Bine tree say the same, nobody is left out, and
 * from any root messages of 2^s ranks go as far as the distances say. */
static void check_bine(uint32_t n)
{
    static const struct asp_coll_tree bine = {.shape = ASP_COLL_BINE};
    struct asp_coll_node node = {0}, child = {0};
    uint32_t edges = 0, levels = 0;

    while (n >> (levels + 1))
        levels++;
    for (uint32_t v = 0; v < n; v++) {
        assert_int_equal(asp_coll_tree_find(&bine, n, v, &node), 0);
        assert_true(node.depth <= levels + ((n & (n - 1)) != 0));
        assert_true((node.parent == v) == !v);
        for (uint32_t c = 0; c < node.nchildren; c++, edges++) {
            uint32_t to = node.children[c].first;

            assert_int_equal(asp_coll_tree_find(&bine, n, to, &child), 0);
            assert_int_equal(child.parent, v);
            assert_int_equal(child.depth, node.depth + 1);
        }
    }
    assert_int_equal(edges, n - 1);
    asp_coll_node_destroy(&node);
    asp_coll_node_destroy(&child);
}

static void test_bine(void **state)
{
    static const struct asp_coll_tree bine = {.shape = ASP_COLL_BINE};
    static const uint32_t of_16[] = {11, 3, 15, 1}; /* -5, 3, -1, 1 */
    struct asp_coll_node node = {0};

    (void) state;
    for (uint32_t n = 1; n < 300; n++)
        check_bine(n);
    assert_int_equal(asp_coll_tree_find(&bine, 16, 0, &node), 0);
    assert_int_equal(node.nchildren, 4);
    for (uint32_t c = 0; c < 4; c++)
        assert_int_equal(node.children[c].first, of_16[c]);
    /* 11 is odd: it sends the other way. */
    assert_int_equal(asp_coll_tree_find(&bine, 16, 11, &node), 0);
    assert_int_equal(node.nchildren, 3);
    assert_int_equal(node.children[0].first, 8);
    asp_coll_node_destroy(&node);
}

static void test_trees(void **state)
{
    struct asp_coll_tree fork = {.shape = ASP_COLL_FORK};
    struct asp_coll_node node = {0};

    (void) state;
    for (uint32_t n = 1; n < 70; n++) {
        for (uint32_t k = 1; k < 9; k++) {
            check_tree(&(struct asp_coll_tree){ASP_COLL_KARY, k, {0}}, n);
            if (k > 1)
                check_tree(&(struct asp_coll_tree){ASP_COLL_KNOMIAL, k, {0}},
                           n);
        }
        for (uint32_t d = 1; d <= ASP_COLL_DIMS; d++)
            if (asp_coll_tree_box(n, d, fork.dims))
                check_tree(&fork, n);
    }
    /* The root of a 3 x 3 box has the next row and the next in its own. */
    assert_int_equal(asp_coll_tree_box(9, 2, fork.dims), 1);
    assert_int_equal(asp_coll_tree_find(&fork, 9, 0, &node), 0);
    assert_int_equal(node.nchildren, 2);
    assert_int_equal(node.children[0].first, 3);
    assert_int_equal(node.children[1].first, 1);
    asp_coll_node_destroy(&node);
}

/* 4 nodes of 4 ranks: messages between nodes (docs/design/coll.md). */
static void test_goals(void **state)
{
    static const struct {
        const char *config;
        size_t bytes;
        uint64_t goal;
    } goals[] = {
        {"allgather:levels,across=exchange,k=2", 8, 8},
        {"alltoall:levels,across=flat", 8, 12},
        {"allreduce:levels,across=exchange,k=2", 4096, 8},
        {"reduce_scatter_block:levels,across=halving", 8, 12},
        {"barrier:levels,across=exchange,k=2", 0, 8},
        {"barrier:levels,tree=knomial,k=2", 0, 6},
    };
    uint32_t node[16];

    (void) state;
    for (int cyclic = 0; cyclic < 2; cyclic++)
        for (size_t i = 0; i < sizeof(goals) / sizeof(goals[0]); i++) {
            struct asp_coll_problem p = {.ranks = 16,
                                         .bytes = goals[i].bytes,
                                         .element_size = 8,
                                         .commutative = true,
                                         .node = node};
            struct asp_coll_cost cost;
            struct asp_coll_config config;
            struct asp_err err;

            for (uint32_t r = 0; r < 16; r++)
                node[r] = cyclic ? r % 4 : r / 4;
            assert_int_equal(
                asp_coll_config_parse(goals[i].config, &config, &err), 0);
            p.op = config.row->op;
            assert_int_equal(asp_coll_predict(&asp_coll_machines[1], &config,
                                              &p, 1, &cost, &err),
                             0);
            assert_true(cost.messages_between <= goals[i].goal);
            assert_true(cost.messages_between > 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts), cmocka_unit_test(test_list),
        cmocka_unit_test(test_fits),  cmocka_unit_test(test_trees),
        cmocka_unit_test(test_bine),  cmocka_unit_test(test_goals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
