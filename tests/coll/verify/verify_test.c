/* SPDX-License-Identifier: BSD-3-Clause */
/* Every algorithm is right: all rows, a spread of their parameters, 1 to 64
 * ranks, roots, sizes, in place, in order, on nodes of all kinds. And the
 * verifier sees a schedule with one step changed. */
#include "tests/coll/verify/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { RANKS = ASP_COLL_VERIFY_RANKS };

/* A problem with everything that it borrows. */
struct world {
    struct asp_coll_problem problems[RANKS];
    uint32_t nproblems;
    uint32_t node[RANKS];
    size_t counts[RANKS], displs[RANKS];
    size_t sent[RANKS][RANKS], sent_at[RANKS][RANKS];
    size_t received[RANKS][RANKS], received_at[RANKS][RANKS];
};

static struct asp_coll_schedule schedules[RANKS];
static unsigned long verified;

static uint64_t seed = 88172645463325252u;

static uint32_t draw(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t) (seed >> 16) % below;
}

/* How ranks are on nodes. */
enum place { ONE_NODE, BLOCK, CYCLIC, UNEVEN, SHUFFLED, PLACES };

static void place_ranks(struct world *w, uint32_t ranks, enum place place)
{
    uint32_t nodes = 1 + (ranks > 1 ? draw(ranks < 9 ? ranks : 9) : 0);

    for (uint32_t r = 0; r < ranks; r++) {
        if (place == BLOCK)
            w->node[r] = r / ((ranks + nodes - 1) / nodes);
        else if (place == CYCLIC)
            w->node[r] = r % nodes;
        else if (place == UNEVEN) /* in blocks of all sizes */
            w->node[r] = r == 0 ? 0 : w->node[r - 1] + !draw(3);
        else if (place == SHUFFLED)
            w->node[r] = draw(nodes);
        else
            w->node[r] = 0;
    }
}

/* Blocks of odd sizes, some of none, in some other order. */
static void place_blocks(size_t *counts, size_t *displs, uint32_t n,
                         size_t element_size)
{
    size_t end = 0;

    for (uint32_t i = 0; i < n; i++)
        counts[i] = draw(4) * element_size;
    for (uint32_t i = n; i-- > 0;) {
        displs[i] = end + draw(2) * element_size;
        end = displs[i] + counts[i];
    }
}

static void give_counts(struct world *w, uint32_t ranks, size_t element_size,
                        bool dense)
{
    for (uint32_t r = 0; r < ranks; r++)
        place_blocks(w->sent[r], w->sent_at[r], ranks, element_size);
    for (uint32_t r = 0; r < ranks; r++) {
        size_t unused[RANKS];

        place_blocks(unused, w->received_at[r], ranks, 4 * element_size);
        for (uint32_t i = 0; i < ranks; i++) {
            if (w->problems[0].in_place)
                w->sent[i][r] = w->sent[r][i];
            w->received[r][i] = w->sent[i][r];
            w->received_at[r][i] = (ranks - i) * 4 * element_size;
        }
    }
    w->nproblems = ranks;
    for (uint32_t r = 0; r < ranks; r++) {
        struct asp_coll_problem *p = &w->problems[r];

        *p = w->problems[0];
        p->counts = w->sent[r];
        p->displs = dense ? NULL : w->sent_at[r];
        p->recv_counts = w->received[r];
        p->recv_displs = dense ? NULL : w->received_at[r];
    }
}

static void make_world(struct world *w, enum asp_coll_op op, uint32_t ranks,
                       size_t bytes, size_t element_size)
{
    struct asp_coll_problem *p = &w->problems[0];
    uint32_t root = draw(ranks); /* one after the other: compilers differ */
    bool dense = draw(2), commutative = draw(2), in_place = draw(2);

    *p = (struct asp_coll_problem){
        .op = op,
        .ranks = ranks,
        .root = root,
        .bytes = bytes * element_size,
        .element_size = element_size,
        .commutative = commutative,
        .in_place = in_place,
        .node = w->node,
    };
    w->nproblems = 1;
    place_ranks(w, ranks, (enum place) draw(PLACES));
    place_blocks(w->counts, w->displs, ranks, element_size);
    if (op == ASP_COLL_ALLTOALLV)
        give_counts(w, ranks, element_size, dense);
    else if (op == ASP_COLL_REDUCE_SCATTER || op >= ASP_COLL_SCATTERV)
        p->counts = w->counts;
    if (op == ASP_COLL_SCATTERV || op == ASP_COLL_GATHERV ||
        op == ASP_COLL_ALLGATHERV)
        p->displs = dense ? NULL : w->displs;
}

static void say(const struct world *w, const struct asp_coll_config *config,
                const struct asp_err *err)
{
    const struct asp_coll_problem *p = &w->problems[0];
    char text[ASP_COLL_CONFIG_TEXT];

    printf("%s, %u ranks, root %u, %zu bytes, element size %zu%s%s: %s\nnodes",
           asp_coll_config_text(config, text), (unsigned) p->ranks,
           (unsigned) p->root, p->bytes, p->element_size,
           p->commutative ? "" : ", ordered", p->in_place ? ", in place" : "",
           err->text);
    for (uint32_t r = 0; r < p->ranks; r++)
        printf(" %u", (unsigned) w->node[r]);
    printf("\n");
}

static bool is_right(const struct world *w,
                     const struct asp_coll_config *config)
{
    struct asp_err err;

    verified++;
    if (asp_coll_build_some(config, w->problems, w->nproblems, UINT64_MAX,
                            schedules, &err) == 0 &&
        asp_coll_verify(w->problems, w->nproblems, schedules, draw(1u << 30),
                        &err) == 0)
        return true;
    say(w, config, &err);
    return false;
}

/* Each configuration of some problems; of many configurations every some-th. */
static void try_problem(struct world *w, uint32_t every)
{
    struct asp_coll_configs configs = {0};
    uint32_t skip = draw(every);

    while (asp_coll_configs_next(&configs, &w->problems[0]))
        if (skip-- == 0) {
            assert_true(is_right(w, &configs.config));
            skip = every - 1;
        }
}

static void test_all(void **state)
{
    static const size_t bytes[] = {0, 1, 2, 3, 7, 16, 64, 1000, 5000};
    static const size_t element_sizes[] = {1, 4, 8, 12};
    struct world *w = calloc(1, sizeof(*w));

    (void) state;
    assert_non_null(w);
    for (int op = 0; op < ASP_COLL_OPS; op++)
        for (uint32_t ranks = 1; ranks <= RANKS; ranks++)
            for (uint32_t i = 0; i < (ranks < 10 ? 6 : 2); i++) {
                size_t size = bytes[draw(9)],
                       element_size = element_sizes[draw(4)];

                make_world(w, (enum asp_coll_op) op, ranks, size, element_size);
                try_problem(w, ranks < 10 ? 1 : ranks / 4);
            }
    print_message("%lu sets of schedules are right\n", verified);
    free(w);
}

/* Bine trees: every count of ranks, every root up to 16 ranks. */
static void test_bine(void **state)
{
    static const char *const texts[] = {
        "barrier:tree=bine",
        "barrier:levels,tree=bine,across=tree,inner=2",
        "bcast:tree=bine",
        "bcast:tree=bine,segment=16",
        "bcast:levels,tree=bine,across=tree,inner=2",
        "reduce:tree=bine",
        "reduce:tree=bine,segment=16",
        "reduce:levels,tree=bine,across=tree,inner=2",
        "allreduce:tree=bine",
        "allreduce:levels,tree=bine,across=tree,inner=3",
    };
    struct world *w = calloc(1, sizeof(*w));
    unsigned long right = 0;

    (void) state;
    assert_non_null(w);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        for (uint32_t ranks = 1; ranks <= RANKS; ranks++)
            for (uint32_t root = 0;
                 root<ranks; root += ranks> 16 ? 1 + draw(ranks) : 1) {
                struct asp_coll_config config;
                struct asp_err err;

                assert_int_equal(asp_coll_config_parse(texts[i], &config, &err),
                                 0);
                make_world(w, config.row->op, ranks, 5, 8);
                w->problems[0].root = root;
                w->problems[0].commutative = true;
                if (asp_coll_fits(&config, &w->problems[0], &err) != 0) {
                    assert_true(config.row->require & ASP_COLL_NODES);
                    continue;
                }
                assert_true(is_right(w, &config));
                right++;
            }
    print_message("%lu sets of Bine trees are right\n", right);
    free(w);
}

/* Kinds of mistakes in a step. */
enum mistake { LEFT_OUT, PEER, FROM, TO, SHORT, OTHER_ACTION, MISTAKES };

static bool change(struct asp_coll_schedule *s, uint32_t i,
                   enum mistake mistake, uint32_t ranks, size_t element_size)
{
    struct asp_coll_step *step = &s->steps[i];
    bool message = step->action == ASP_COLL_SEND ||
                   step->action == ASP_COLL_RECV;

    switch (mistake) {
    case LEFT_OUT:
        memmove(step, step + 1, (s->nsteps - i - 1) * sizeof(*step));
        s->nsteps--;
        return true;
    case PEER:
        step->peer = (step->peer + 1) % ranks;
        return message;
    case FROM:
        step->from += element_size;
        return step->action != ASP_COLL_RECV;
    case TO:
        step->to += element_size;
        return step->action != ASP_COLL_SEND;
    case SHORT:
        if (step->bytes <= element_size)
            return false;
        step->bytes -= element_size;
        return true;
    case OTHER_ACTION:
        step->action = step->action == ASP_COLL_COPY ? ASP_COLL_REDUCE_LOCAL
                                                     : ASP_COLL_COPY;
        return !message;
    case MISTAKES:
        break;
    }
    return false;
}

/* Change one step of a rank, and count whether the verifier sees it. Only
 * places and lengths may change unseen, and seldom: some schedules move more
 * than they need, such as the own block in place. */
static void try_mistake(const struct world *w,
                        const struct asp_coll_config *config,
                        unsigned long *made_p, unsigned long *seen_p)
{
    const struct asp_coll_problem *p = &w->problems[0];
    enum mistake mistake = (enum mistake) draw(MISTAKES);
    uint32_t rank = draw(p->ranks), step;
    struct asp_err err = {.text = "not seen"};

    assert_int_equal(asp_coll_build_some(config, w->problems, w->nproblems,
                                         UINT64_MAX, schedules, &err),
                     0);
    if (!schedules[rank].nsteps)
        return;
    step = draw(schedules[rank].nsteps);
    if (!change(&schedules[rank], step, mistake, p->ranks, p->element_size))
        return;
    ++*made_p;
    if (asp_coll_finish(&schedules[rank]) < 0 ||
        asp_coll_verify(w->problems, w->nproblems, schedules, draw(1u << 30),
                        &err) < 0) {
        ++*seen_p;
        return;
    }
    if (mistake == FROM || mistake == TO || mistake == SHORT)
        return;
    *made_p += 1000;
    printf("mistake %d in step %u of rank %u: ", mistake, (unsigned) step,
           (unsigned) rank);
    say(w, config, &err);
}

static void test_mistakes(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    unsigned long made = 0, seen = 0;

    (void) state;
    assert_non_null(w);
    for (uint32_t i = 0; i < 4000; i++) {
        struct asp_coll_configs configs = {0};
        struct asp_coll_config config = {0};
        uint32_t skip = draw(20), op = draw(ASP_COLL_OPS);
        uint32_t ranks = 2 + draw(15), elements = 1 + draw(6);

        make_world(w, (enum asp_coll_op) op, ranks, elements, 8);
        while (skip-- && asp_coll_configs_next(&configs, &w->problems[0]))
            config = configs.config;
        if (config.row)
            try_mistake(w, &config, &made, &seen);
    }
    print_message("%lu of %lu mistakes are seen\n", seen, made);
    assert_true(made - seen < made / 100);
    assert_true(made > 1000);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_bine),
        cmocka_unit_test(test_mistakes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
