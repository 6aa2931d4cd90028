/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads stand for the ranks of a node. Each posts the same random operations,
 * completes them in any order that it likes, and compares what it gets with a
 * model. Regions are small, so that many a post finds no room. */
#include "config.h"

#include "operation.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    RANKS = 5,
    OPERATIONS = 2000,
    FLIGHTS = 40,
    INTS_MOST = 900,
    REGION = 6 * ASPX_MAILBOX_UNIT,
};

struct rank {
    struct aspx_posts posts;
    uint64_t random;
    uint32_t wrong, waited; /* pending posts */
    pthread_t thread;
};

struct flight {
    struct aspx_post post;
    uint32_t number;
    int n;
    int out[INTS_MOST * RANKS];
};

static const uint32_t node_of[RANKS];
static const uint32_t member_of[RANKS] = {0, 1, 2, 3, 4};
static struct aspx_mailbox_shape shape = {.participants = RANKS,
                                          .region = REGION};
static void *memory;

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

static int value(uint32_t number, uint32_t rank, int i)
{
    return (int) (number * 31 + rank * 7) + i;
}

static int sum(void *inout, const void *in,
               const struct aspx_mailbox_descriptor *descriptor, uint64_t bytes)
{
    int *to = inout;
    const int *from = in;

    (void) descriptor;
    for (size_t i = 0; i < bytes / sizeof(int); i++)
        to[i] += from[i];
    return MPI_SUCCESS;
}

struct send_view {
    uint32_t number, rank;
};

static int fill(void *arg, void *data, uint64_t bytes)
{
    const struct send_view *send_view = arg;
    int *ints = data;

    for (size_t i = 0; i < bytes / sizeof(int); i++)
        ints[i] = value(send_view->number, send_view->rank, (int) i);
    return MPI_SUCCESS;
}

static const enum asp_coll_op kinds[] = {
    ASP_COLL_BARRIER,  ASP_COLL_BCAST,     ASP_COLL_REDUCE,
    ASP_COLL_SCATTER,  ASP_COLL_GATHER,    ASP_COLL_ALLGATHER,
    ASP_COLL_ALLTOALL, ASP_COLL_ALLREDUCE, ASP_COLL_REDUCE_SCATTER_BLOCK,
    ASP_COLL_SCAN,     ASP_COLL_EXSCAN,
};

/* What operation a number is: all ranks draw alike. */
static struct aspx_mailbox_descriptor draw(uint32_t number)
{
    uint64_t state = number * 2654435761u + 1;
    uint32_t kind = (uint32_t) (next_random(&state) %
                                (sizeof(kinds) / sizeof(kinds[0])));
    int n = (int) (next_random(&state) % INTS_MOST) + 1;

    return (struct aspx_mailbox_descriptor){
        .op = kinds[kind],
        .bytes = kinds[kind] == ASP_COLL_BARRIER ? 0 : n * sizeof(int),
        .root = (uint32_t) (next_random(&state) % RANKS),
        .element_size = sizeof(int),
    };
}

static int summed(uint32_t number, uint32_t end, int i)
{
    int total = 0;

    for (uint32_t r = 0; r < end; r++)
        total += value(number, r, i);
    return total;
}

/* Element i of block b. */
static bool is_right(const struct rank *rank, const struct flight *f, int b,
                     int i)
{
    const struct aspx_mailbox_descriptor *descriptor = &f->post.descriptor;
    uint32_t me = rank->posts.rank, from = (uint32_t) b;
    int got = f->out[b * f->n + i];

    switch ((enum asp_coll_op) descriptor->op) {
    case ASP_COLL_BCAST:
        return me == descriptor->root ||
               got == value(f->number, descriptor->root, i);
    case ASP_COLL_SCATTER:
        return got == value(f->number, descriptor->root, (int) me * f->n + i);
    case ASP_COLL_GATHER:
        return me != descriptor->root || got == value(f->number, from, i);
    case ASP_COLL_ALLGATHER:
        return got == value(f->number, from, i);
    case ASP_COLL_ALLTOALL:
        return got == value(f->number, from, (int) me * f->n + i);
    case ASP_COLL_REDUCE:
        return me != descriptor->root || got == summed(f->number, RANKS, i);
    case ASP_COLL_ALLREDUCE:
        return got == summed(f->number, RANKS, i);
    case ASP_COLL_REDUCE_SCATTER_BLOCK:
        return got == summed(f->number, RANKS, (int) me * f->n + i);
    case ASP_COLL_SCAN:
        return got == summed(f->number, me + 1, i);
    default:
        return me == 0 || got == summed(f->number, me, i);
    }
}

static void check(struct rank *rank, const struct flight *f)
{
    uint32_t op = f->post.descriptor.op;
    int blocks = op == ASP_COLL_GATHER || op == ASP_COLL_ALLGATHER ||
                         op == ASP_COLL_ALLTOALL
                     ? RANKS
                     : 1;

    if (op == ASP_COLL_BARRIER)
        blocks = 0;
    rank->wrong += f->post.rc != MPI_SUCCESS;
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < f->n; i++)
            rank->wrong += !is_right(rank, f, b, i);
}

/* End what can be ended, but for some by chance. */
static void step(struct rank *rank, struct flight *flights)
{
    struct aspx_posts *posts = &rank->posts;

    aspx_posts_look(posts);
    for (int i = 0; i < FLIGHTS; i++) {
        struct flight *f = &flights[i];

        if (!f->number || f->post.has_ended ||
            next_random(&rank->random) % 4 == 0 ||
            aspx_post_misses(posts, &f->post) < RANKS)
            continue;
        aspx_post_take(posts, &f->post, f->out);
        aspx_post_end(posts, &f->post);
        check(rank, f);
        f->number = 0;
    }
}

static struct flight *free_flight(struct rank *rank, struct flight *flights)
{
    for (;;) {
        for (int i = 0; i < FLIGHTS; i++)
            if (!flights[i].number)
                return &flights[i];
        step(rank, flights);
        sched_yield();
    }
}

static bool any_left(const struct flight *flights)
{
    for (int i = 0; i < FLIGHTS; i++)
        if (flights[i].number)
            return true;
    return false;
}

static void *run(void *arg)
{
    struct rank *rank = arg;
    struct flight *flights = calloc(FLIGHTS, sizeof(*flights));

    for (uint32_t number = 1; number <= OPERATIONS; number++) {
        struct flight *f = free_flight(rank, flights);
        struct send_view send_view = {number, rank->posts.rank};

        memset(f, 0, sizeof(*f));
        f->number = number;
        f->post.descriptor = draw(number);
        f->n = (int) (f->post.descriptor.bytes / sizeof(int));
        if (aspx_post_begin(&rank->posts, &f->post, fill, &send_view) != 0)
            rank->wrong++;
        rank->waited += f->post.is_pending;
        if (next_random(&rank->random) % 3 == 0)
            step(rank, flights);
    }
    while (any_left(flights)) {
        step(rank, flights);
        sched_yield();
    }
    free(flights);
    return NULL;
}

static void see(struct rank *rank, uint32_t me)
{
    *rank = (struct rank){
        .posts = {.rank = me,
                  .ranks = RANKS,
                  .members = RANKS,
                  .nodes = 1,
                  .fullest = RANKS,
                  .most = REGION,
                  .node_of = node_of,
                  .member_of = member_of,
                  .reduce = sum},
        .random = me,
    };
    assert_int_equal(aspx_mailbox_see(&rank->posts.mailbox, memory, me, &shape),
                     0);
}

static void all_operations(void **state)
{
    struct rank ranks[RANKS];
    uint32_t waited = 0;

    (void) state;
    memory = aligned_alloc(4096, aspx_mailbox_bytes(&shape));
    assert_non_null(memory);
    memset(memory, 0, aspx_mailbox_bytes(&shape));
    for (uint32_t r = 0; r < RANKS; r++)
        see(&ranks[r], r);
    for (uint32_t r = 0; r < RANKS; r++)
        pthread_create(&ranks[r].thread, NULL, run, &ranks[r]);
    for (uint32_t r = 0; r < RANKS; r++) {
        pthread_join(ranks[r].thread, NULL);
        assert_int_equal(ranks[r].wrong, 0);
        waited += ranks[r].waited;
        aspx_mailbox_leave(&ranks[r].posts.mailbox);
    }
    assert_true(waited > 0); /* or it tests less than it says */
    free(memory);
}

/* Ranks that disagree about a size get an error, and nothing is read beyond
 * what there is. */
static void disagreement(void **state)
{
    struct rank ranks[2];
    struct send_view send_view = {1, 0};
    struct aspx_post posts[2] = {{.rc = 0}};
    int out[INTS_MOST];

    (void) state;
    memory = aligned_alloc(4096, aspx_mailbox_bytes(&shape));
    memset(memory, 0, aspx_mailbox_bytes(&shape));
    for (uint32_t r = 0; r < 2; r++) {
        see(&ranks[r], r);
        posts[r].descriptor = (struct aspx_mailbox_descriptor){
            .op = ASP_COLL_BCAST, .bytes = 8 + 8 * r, .element_size = 1};
        assert_int_equal(
            aspx_post_begin(&ranks[r].posts, &posts[r], fill, &send_view), 0);
    }
    aspx_posts_look(&ranks[1].posts);
    assert_int_equal(aspx_post_misses(&ranks[1].posts, &posts[1]), RANKS);
    aspx_post_take(&ranks[1].posts, &posts[1], out);
    assert_int_equal(posts[1].rc, MPI_ERR_TRUNCATE);
    for (uint32_t r = 0; r < 2; r++) {
        aspx_post_end(&ranks[r].posts, &posts[r]);
        aspx_mailbox_leave(&ranks[r].posts.mailbox);
    }
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_operations),
        cmocka_unit_test(disagreement),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
