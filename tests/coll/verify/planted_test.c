/* SPDX-License-Identifier: BSD-3-Clause */
/* What the verifier refuses in the end: results that ranks have reduced by
 * different expressions, and bytes beside the result that are not what they
 * were. Each set of schedules is written by hand, and its sound twin passes. */
#include "tests/coll/verify/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { RANKS = 3, ELEMENT = 8, ELEMENTS = 2 };

static const size_t bytes = ELEMENTS * ELEMENT;

/* Scratch memory: the vector of rank r, copied or received, is at r. */
static struct asp_coll_place vector(uint32_t r, size_t offset)
{
    return asp_coll_at(ASP_COLL_SCRATCH, r * 64 + offset);
}

static struct asp_coll_place out(size_t offset)
{
    return asp_coll_at(ASP_COLL_OUT, offset);
}

static struct asp_coll_place in(size_t offset)
{
    return asp_coll_at(ASP_COLL_IN, offset);
}

static bool is_right(const struct asp_coll_problem *p,
                     struct asp_coll_schedule *s, const char *why)
{
    struct asp_err err = {.text = ""};
    int rc;

    for (uint32_t r = 0; r < p->ranks; r++)
        assert_int_equal(asp_coll_finish(&s[r]), 0);
    rc = asp_coll_verify(p, 1, s, 1, &err);
    for (uint32_t r = 0; r < p->ranks; r++)
        asp_coll_destroy(&s[r]);
    if (rc < 0 && !strstr(err.text, why))
        fail_msg("refused because: %s", err.text);
    return rc == 0;
}

/* How a rank puts three vectors together. */
enum order {
    LEFT,    /* (0 op 1) op 2 */
    RIGHT,   /* 0 op (1 op 2) */
    SWAPPED, /* (1 op 2) op 0 */
    OTHER,   /* (0 op 2) op 1 */
};

static void reduce(struct asp_coll_schedule *s, enum order order, size_t offset,
                   size_t n)
{
    static const uint32_t operands[][3] = {
        [LEFT] = {0, 1, 2},
        [SWAPPED] = {1, 2, 0},
        [OTHER] = {0, 2, 1},
    };
    const uint32_t *o = operands[order];

    if (order == RIGHT) {
        asp_coll_reduce_local(s, vector(1, offset), vector(2, offset), n);
        asp_coll_reduce_local(s, vector(0, offset), vector(2, offset), n);
        asp_coll_copy(s, vector(2, offset), out(offset), n);
        return;
    }
    asp_coll_reduce_local(s, vector(o[0], offset), vector(o[1], offset), n);
    asp_coll_reduce_local(s, vector(o[1], offset), vector(o[2], offset), n);
    asp_coll_copy(s, vector(o[2], offset), out(offset), n);
}

/* All send to all; the last element may have an order of its own. */
static bool allreduce(bool commutative, const enum order orders[RANKS],
                      const enum order last[RANKS])
{
    struct asp_coll_problem p = {.op = ASP_COLL_ALLREDUCE,
                                 .ranks = RANKS,
                                 .bytes = bytes,
                                 .element_size = ELEMENT,
                                 .commutative = commutative};
    struct asp_coll_schedule s[RANKS] = {{0}};

    for (uint32_t r = 0; r < RANKS; r++) {
        asp_coll_scratch(&s[r], 64 * RANKS);
        asp_coll_copy(&s[r], in(0), vector(r, 0), bytes);
        for (uint32_t i = 1; i < RANKS; i++) {
            uint32_t peer = (r + i) % RANKS;

            asp_coll_send(&s[r], peer, 0, in(0), bytes);
            asp_coll_recv(&s[r], peer, 0, vector(peer, 0), bytes);
        }
        reduce(&s[r], orders[r], 0, bytes - ELEMENT);
        reduce(&s[r], last[r], bytes - ELEMENT, ELEMENT);
    }
    return is_right(&p, s, "by another expression");
}

static void test_expressions(void **state)
{
    static const enum order left[] = {LEFT, LEFT, LEFT};
    static const enum order right[] = {RIGHT, RIGHT, RIGHT};
    static const enum order mixed[] = {LEFT, RIGHT, LEFT};
    static const enum order swapped[] = {RIGHT, SWAPPED, RIGHT};
    static const enum order other[] = {LEFT, LEFT, OTHER};

    (void) state;
    for (int commutative = 0; commutative < 2; commutative++) {
        assert_true(allreduce(commutative, left, left));
        assert_true(allreduce(commutative, right, right));
        assert_true(allreduce(commutative, left, right)); /* of elements */
        assert_false(allreduce(commutative, mixed, mixed));
        assert_false(allreduce(commutative, left, mixed));
        assert_false(allreduce(commutative, mixed, left));
    }
    assert_true(allreduce(true, swapped, right));
    assert_false(allreduce(true, other, left));
    assert_false(allreduce(true, left, other));
}

/* In place; `waste` is written to in the receive buffer, on the way. */
static bool reduce_scatter(bool waste)
{
    struct asp_coll_problem p = {.op = ASP_COLL_REDUCE_SCATTER_BLOCK,
                                 .ranks = 2,
                                 .bytes = bytes,
                                 .element_size = ELEMENT,
                                 .commutative = true,
                                 .in_place = true};
    struct asp_coll_schedule s[2] = {{0}};

    for (uint32_t r = 0; r < 2; r++) {
        struct asp_coll_place own = out(r * bytes);
        struct asp_coll_place came = asp_coll_scratch(&s[r], bytes);

        asp_coll_send(&s[r], 1 - r, 0, out((1 - r) * bytes), bytes);
        asp_coll_recv(&s[r], 1 - r, 0, came, bytes);
        if (waste && r) {
            asp_coll_reduce_local(&s[r], came, own, bytes);
            asp_coll_copy(&s[r], own, out(0), bytes);
            continue;
        }
        asp_coll_reduce_local(&s[r], own, came, bytes);
        asp_coll_copy(&s[r], came, out(0), bytes);
    }
    return is_right(&p, s, "rank 1: byte 16 of its buffer is wrong");
}

/* Rank 0 of exscan has no result; of gatherv, the blocks of the root. */
static bool exscan(bool waste)
{
    struct asp_coll_problem p = {.op = ASP_COLL_EXSCAN,
                                 .ranks = 2,
                                 .bytes = bytes,
                                 .element_size = ELEMENT};
    struct asp_coll_schedule s[2] = {{0}};

    asp_coll_send(&s[0], 1, 0, in(0), bytes);
    asp_coll_recv(&s[1], 0, 0, out(0), bytes);
    if (waste)
        asp_coll_copy(&s[0], in(0), out(0), ELEMENT);
    return is_right(&p, s, "rank 0: writes outside of its result");
}

static bool gatherv(size_t waste)
{
    const size_t counts[] = {bytes, bytes}, displs[] = {4 * bytes, bytes};
    struct asp_coll_problem p = {.op = ASP_COLL_GATHERV,
                                 .ranks = 2,
                                 .counts = counts,
                                 .displs = displs,
                                 .element_size = 1};
    struct asp_coll_schedule s[2] = {{0}};

    asp_coll_copy(&s[0], in(0), out(displs[0]), bytes);
    asp_coll_recv(&s[0], 1, 0, out(displs[1]), bytes);
    asp_coll_send(&s[1], 0, 0, in(0), bytes);
    if (waste)
        asp_coll_copy(&s[0], in(0), out(waste), 1);
    return is_right(&p, s, "rank 0: writes outside of its result");
}

static void test_bytes_beside(void **state)
{
    (void) state;
    assert_true(reduce_scatter(false));
    assert_false(reduce_scatter(true));
    assert_true(exscan(false));
    assert_false(exscan(true));
    assert_true(gatherv(0));
    assert_false(gatherv(bytes - 1));
    assert_false(gatherv(2 * bytes));
    assert_false(gatherv(5 * bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_bytes_beside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
