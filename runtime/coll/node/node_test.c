/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads as the ranks of a node: what is read and written without order shows
 * under the thread sanitizer, which does not see through shared mappings
 * (tests/t9210-coll-node.bats). And the shape of trees. */
#include "config.h"

#include "flags.h"

#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

/* cmocka.h needs these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { RANKS = 4, ROUNDS = 40, COUNT = 1500, BYTES = COUNT * 8 };

struct rank {
    struct aspx_node_area area;
    pthread_t thread;
    uint64_t in[RANKS * COUNT], out[RANKS * COUNT];
    long wrong;
};

static struct rank *ranks;

static void no_poll(void *arg)
{
    (void) arg;
}

/* Not commutative: digits that are appended. */
static int append(void *inout, const void *in, size_t count, void *arg)
{
    const uint64_t *left = in;
    uint64_t *right = inout;

    (void) arg;
    for (size_t i = 0; i < count; i++) {
        uint64_t shift = 1;

        while (shift <= right[i])
            shift *= 10;
        right[i] += left[i] * shift;
    }
    return MPI_SUCCESS;
}

static void fill(struct rank *rank, uint64_t value)
{
    for (size_t i = 0; i < RANKS * COUNT; i++) {
        rank->in[i] = value;
        rank->out[i] = 0;
    }
}

/* out is `value` from block `from` on, in so many blocks; step for step more.
 */
static void expect(struct rank *rank, uint64_t value, size_t blocks,
                   uint64_t step)
{
    for (size_t i = 0; i < blocks * COUNT; i++)
        rank->wrong += rank->out[i] != value + i / COUNT * step;
}

static void reductions(struct rank *rank, struct aspx_node_config config,
                       uint32_t root)
{
    const struct aspx_node_operator operator= {.reduce = append, .element = 8};
    struct aspx_node_area *area = &rank->area;

    for (uint8_t reduction = 0; reduction < ASPX_NODE_REDUCTIONS; reduction++) {
        config.reduction = reduction;
        fill(rank, area->index + 1);
        rank->wrong += aspx_node_allreduce(area, &config, &operator, rank->in,
                                           rank->out, COUNT);
        expect(rank, 1234, 1, 0);
        fill(rank, area->index + 1);
        rank->wrong += aspx_node_reduce(area, &config, &operator, rank->in,
                                        rank->out, COUNT, root);
        if (area->index == root)
            expect(rank, 1234, 1, 0);
    }
}

static void movements(struct rank *rank, struct aspx_node_config config,
                      uint32_t root)
{
    const struct aspx_node_blocks blocks = {.size = BYTES};
    struct aspx_node_area *area = &rank->area;
    uint64_t index = area->index;

    fill(rank, index);
    rank->wrong += aspx_node_bcast(area, &config, rank->in, BYTES, root);
    memcpy(rank->out, rank->in, BYTES);
    expect(rank, root, 1, 0);
    fill(rank, index);
    rank->wrong += aspx_node_gather(area, &config, rank->in, BYTES, rank->out,
                                    &blocks, root);
    if (index == root)
        expect(rank, 0, RANKS, 1);
    memcpy(rank->in, rank->out, sizeof(rank->in));
    rank->wrong += aspx_node_scatter(area, &config, rank->in, &blocks,
                                     rank->out, BYTES, root);
    expect(rank, index, 1, 0);
    fill(rank, index);
    rank->wrong += aspx_node_allgather(area, &config, rank->in, BYTES,
                                       rank->out, &blocks);
    expect(rank, 0, RANKS, 1);
}

/* Elements from one rank to another: none, some, or as many as there can be. */
static size_t exchanged(uint32_t turn, uint32_t from, uint32_t to)
{
    return (turn + 3 * from + 5 * to) % 4 * (COUNT / 3);
}

static void exchanges(struct rank *rank, struct aspx_node_config config,
                      uint32_t turn)
{
    size_t sent[RANKS], received[RANKS], at[RANKS];
    const struct aspx_node_blocks out = {.sizes = sent, .offsets = at};
    const struct aspx_node_blocks in = {.sizes = received, .offsets = at};
    uint32_t index = rank->area.index;

    fill(rank, 0);
    for (uint32_t r = 0; r < RANKS; r++) {
        at[r] = r * BYTES;
        sent[r] = 8 * exchanged(turn, index, r);
        received[r] = 8 * exchanged(turn, r, index);
        for (size_t i = 0; i < sent[r] / 8; i++)
            rank->in[r * COUNT + i] = 1 + index * 1000 + r * 100 + i % 100;
    }
    rank->wrong += aspx_node_alltoall(&rank->area, &config, rank->in, &out,
                                      rank->out, &in);
    for (size_t i = 0; i < RANKS * COUNT; i++) {
        uint64_t from = i / COUNT, n = i % COUNT;

        rank->wrong += rank->out[i] !=
                       (n < received[from] / 8
                            ? 1 + from * 1000 + index * 100 + n % 100
                            : 0);
    }
}

/* Of what a rank sends another expects more or less: all return. */
static void disagree(struct rank *rank, struct aspx_node_config config)
{
    size_t sent[RANKS] = {0}, received[RANKS] = {0}, at[RANKS];
    const struct aspx_node_blocks out = {.sizes = sent, .offsets = at};
    const struct aspx_node_blocks in = {.sizes = received, .offsets = at};
    uint32_t index = rank->area.index;
    int rc;

    for (uint32_t r = 0; r < RANKS; r++)
        at[r] = r * BYTES;
    for (uint32_t r = 0; r < RANKS; r++) /* the own block agrees */
        sent[r] = received[r] = r == index ? 8 : BYTES;
    sent[(index + 1) % RANKS] = 8 * index; /* and none expects so few */
    rc = aspx_node_alltoall(&rank->area, &config, rank->in, &out, rank->out,
                            &in);
    rank->wrong += rc != MPI_ERR_TRUNCATE;
}

static void *be_rank(void *arg)
{
    struct rank *rank = arg;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct aspx_node_config config = {
            .radix = 1 + i % RANKS,
            .segment = ASPX_NODE_SEGMENT_MIN,
            .up = (i / 2) % 2,
            .down = i % 2,
            .waiter = i % 3 ? ASPX_NODE_SLEEP : ASPX_NODE_YIELD,
        };

        movements(rank, config, i % RANKS);
        reductions(rank, config, (i / 2) % RANKS);
        exchanges(rank, config, i);
        disagree(rank, config);
        exchanges(rank, config, i + 1);
        for (int b = 0; b < 5; b++)
            rank->wrong += aspx_node_barrier(&rank->area, &config);
    }
    return NULL;
}

static void threads_as_ranks(void **state)
{
    void *map = NULL;

    (void) state;
    ranks = calloc(RANKS, sizeof(*ranks));
    for (uint32_t r = 0; r < RANKS; r++) {
        ranks[r].area = (struct aspx_node_area){
            .index = r, .count = RANKS, .poll = no_poll};
        aspx_node_lay_out(&ranks[r].area, ASPX_NODE_SEGMENT_MIN);
    }
    assert_int_equal(posix_memalign(&map, 4096, ranks[0].area.map_bytes), 0);
    memset(map, 0, ranks[0].area.map_bytes);
    for (uint32_t r = 0; r < RANKS; r++) {
        aspx_node_find_parts(&ranks[r].area, map);
        pthread_create(&ranks[r].thread, NULL, be_rank, &ranks[r]);
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        pthread_join(ranks[r].thread, NULL);
        assert_int_equal(ranks[r].wrong, 0);
    }
    free(map);
    free(ranks);
}

/* Each child of a rank names it as its parent, and stands for the ranks up to
 * the next child. */
static void check_rank(uint32_t count, uint32_t radix, uint32_t first,
                       uint32_t rank, int *parents)
{
    struct aspx_node_tree tree, child;

    aspx_node_tree_make(&tree, count, rank, radix, first);
    assert_true(tree.children <= radix);
    assert_int_equal(tree.place, (rank + count - first) % count);
    for (uint32_t at = 0; at < tree.children; at++) {
        uint32_t other = aspx_node_tree_child(&tree, at);

        aspx_node_tree_make(&child, count, other, radix, first);
        assert_int_equal(child.parent, rank);
        assert_int_equal(child.siblings, tree.children);
        assert_true(child.place > tree.place);
        parents[other]++;
    }
}

static void trees(void **state)
{
    (void) state;
    for (uint32_t count = 1; count <= 40; count++)
        for (uint32_t radix = 1; radix <= count; radix++)
            for (uint32_t first = 0; first < count; first++) {
                int parents[40] = {0};

                for (uint32_t rank = 0; rank < count; rank++)
                    check_rank(count, radix, first, rank, parents);
                for (uint32_t rank = 0; rank < count; rank++)
                    assert_int_equal(parents[rank], rank != first);
            }
}

static void configs(void **state)
{
    const struct aspx_node_config good = {.radix = 1,
                                          .segment = ASPX_NODE_SEGMENT_MIN};
    struct aspx_node_config bad = good;

    (void) state;
    assert_true(aspx_node_config_is_valid(&good));
    bad.radix = 0;
    assert_false(aspx_node_config_is_valid(&bad));
    bad = good;
    bad.segment--;
    assert_false(aspx_node_config_is_valid(&bad));
    bad = good;
    bad.waiter = ASPX_NODE_WAITERS;
    assert_false(aspx_node_config_is_valid(&bad));
}

/* Flags may wrap around. */
static void numbers_wrap(void **state)
{
    (void) state;
    assert_true(aspx_node_is_past(5, 5));
    assert_false(aspx_node_is_past(4, 5));
    assert_true(aspx_node_is_past(3, UINT64_MAX - 3));
    assert_false(aspx_node_is_past(UINT64_MAX - 3, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_as_ranks),
        cmocka_unit_test(trees),
        cmocka_unit_test(configs),
        cmocka_unit_test(numbers_wrap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
