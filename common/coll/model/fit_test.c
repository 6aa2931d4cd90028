/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of fitting: what the simulator says of a link is measured, and
 * gives the link back. */
#include "common/coll/model/fit.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SMALL = 16, LARGE = 65536 };

/* One message of n bytes, simulated, in ns. */
static double message(const struct asp_coll_machine *machine, size_t n)
{
    static const uint32_t node[] = {0, 1};
    struct asp_coll_problem problem = {.op = ASP_COLL_BCAST,
                                       .ranks = 2,
                                       .bytes = n,
                                       .element_size = 1,
                                       .commutative = true,
                                       .node = node};
    struct asp_coll_cost cost;
    struct asp_coll_config config;

    assert_int_equal(
        asp_coll_config_parse("bcast:tree=knomial,k=2", &config, NULL), 0);
    assert_int_equal(
        asp_coll_predict(machine, &config, &problem, 1, &cost, NULL), 0);
    return (double) cost.time / 1000;
}

static struct asp_coll_samples measure(const struct asp_coll_machine *machine)
{
    const struct asp_coll_link *link = &machine->between;
    double o = (double) link->overhead / 1000;
    double next = (double) (link->gap + SMALL * link->byte) / 1000;

    return (struct asp_coll_samples){
        .round_small = 2 * message(machine, SMALL),
        .round_large = 2 * message(machine, LARGE),
        .send = o,
        .receive = o,
        .burst = next > o ? next : o,
        .small = SMALL,
        .large = LARGE,
    };
}

static void gives_machines_back(void **state)
{
    (void) state;
    for (const struct asp_coll_machine *m = asp_coll_machines; m->name; m++) {
        struct asp_coll_samples samples = measure(m);
        struct asp_coll_link link;

        assert_int_equal(asp_coll_fit(&samples, &link), 0);
        assert_int_equal(link.latency, m->between.latency);
        assert_int_equal(link.overhead, m->between.overhead);
        assert_int_equal(link.byte, m->between.byte);
        /* A gap below the overhead is not seen, and does not matter. */
        if (m->between.gap + SMALL * m->between.byte > m->between.overhead)
            assert_int_equal(link.gap, m->between.gap);
        else
            assert_true(link.gap <= m->between.overhead);
    }
}

static void noise_gives_no_nonsense(void **state)
{
    struct asp_coll_samples s = {.round_small = 100,
                                 .round_large = 90,
                                 .send = 500,
                                 .receive = 500,
                                 .burst = -1,
                                 .small = SMALL,
                                 .large = LARGE};
    struct asp_coll_link link;

    (void) state;
    assert_int_equal(asp_coll_fit(&s, &link), 0);
    assert_int_equal(link.byte, 0);
    assert_int_equal(link.gap, 0);
    assert_int_equal(link.overhead, 25000);
    assert_int_equal(link.latency, 0);
    s.round_small = s.round_large = 1e12;
    assert_int_equal(asp_coll_fit(&s, &link), 0);
    assert_int_equal(link.latency, ASP_COLL_LINK_PS_MAX);
}

static void halves(void **state)
{
    struct asp_coll_samples one = {
        .round_small = 100, .round_large = 1000, .send = 3, .burst = 7};
    struct asp_coll_samples other = {
        .round_small = 149, .round_large = 900, .send = 2, .receive = 5};

    (void) state;
    assert_true(asp_coll_samples_agree(&one, &other));
    asp_coll_samples_join(&one, &other);
    assert_true(one.round_small == 100 && one.round_large == 900);
    assert_true(one.send == 2 && one.receive == 5 && one.burst == 7);
    other.round_small = 151;
    assert_false(asp_coll_samples_agree(&one, &other));
    assert_false(asp_coll_samples_agree(&other, &one));
    other.round_small = 0; /* no round */
    assert_false(asp_coll_samples_agree(&one, &other));
}

static void refuses_what_was_not_measured(void **state)
{
    struct asp_coll_samples s = {.round_small = 100,
                                 .round_large = 1000,
                                 .small = SMALL,
                                 .large = LARGE};
    struct asp_coll_link link;

    (void) state;
    assert_int_equal(asp_coll_fit(&s, &link), 0);
    assert_int_equal(link.overhead, 0); /* not measured: all of it is flight */
    s.round_large = 0;
    assert_int_equal(asp_coll_fit(&s, &link), -1);
    assert_int_equal(errno, EINVAL);
    s.round_large = 1000;
    s.large = SMALL;
    assert_int_equal(asp_coll_fit(&s, &link), -1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_machines_back),
        cmocka_unit_test(noise_gives_no_nonsense),
        cmocka_unit_test(halves),
        cmocka_unit_test(refuses_what_was_not_measured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
