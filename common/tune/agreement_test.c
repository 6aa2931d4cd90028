/* SPDX-License-Identifier: BSD-3-Clause */
/* Do all ranks decide alike? Random programs on P ranks (2 to 16) and two
 * communicators, in which everything that MPI lets differ differs between
 * ranks: layouts of types, MPI_IN_PLACE of rooted calls, counts of
 * v-operations (in sizes that come and go), buffers, clocks, which rank runs
 * when. Each rank runs the real decision code; an agreement is a rendezvous of
 * the ranks of a communicator.
 *
 *   split  two ranks use different configurations in the same call
 *   hang   a rank waits for an agreement that another does not enter, or enters
 *          in another call
 *
 * Neither may happen in 100,000 cases. And the checker must be able to find
 * them: faulty programs that let something local into the decision are run,
 * too, and each must be found out.
 *
 * Argument: number of cases. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/tune/decide.h"

enum {
    RANKS_MAX = 16,
    CALLS_MAX = 160,
    KINDS_MAX = 5, /* different calls of a program */
    COMMS = 2,     /* all ranks; some of them */
    TABLES = 16,
    NO_CONFIG = -1,
};

/* What a faulty runtime lets into the decision. */
enum fault {
    NONE,
    EXTENT,      /* bytes are count times extent: layout */
    ADDRESS,     /* bytes depend on how the buffer is aligned */
    SITE,        /* root and others call from different lines (STAR-MPI) */
    ROOT_PLACE,  /* MPI_IN_PLACE of a rooted call */
    ROOT_COUNTS, /* counts that only the root has */
    V_COUNTS,    /* counts of MPI_Alltoallv */
    OWN_SIZE,    /* what they come to on this rank instead of what is agreed */
    CLOCK,       /* this rank's time says what the pattern is */
    NO_REDUCE,   /* own times instead of the agreed ones */
    OTHER_TABLE, /* a rank read another file */
    EPOCH,       /* a rank counts a call twice */
    UNCOUNTED,   /* a rank goes straight to MPI and does not count it */
    FAULTS,
};

static const char *const fault_names[FAULTS] = {"none",
                                                "extent",
                                                "address",
                                                "call site",
                                                "in_place of the root",
                                                "counts of the root",
                                                "counts of alltoallv",
                                                "own size",
                                                "clock",
                                                "own times",
                                                "another table",
                                                "epoch",
                                                "uncounted"};

/* A call of the program as all know it. */
struct kind {
    uint32_t comm;
    struct asp_tune_args args;
};

struct rank {
    uint64_t random;
    struct asp_decide *decide[COMMS];
    uint32_t at;     /* call of the program */
    bool waits;      /* in the agreement at its end */
    uint32_t member; /* bit for each communicator */
    double slow;     /* factor of its clock */
    uint32_t layout, address;
    /* Of calls of each kind; NULL: they are entered. */
    struct asp_decide_line *line[KINDS_MAX];
};

struct world {
    uint32_t ranks, calls, nkinds;
    enum fault fault;
    uint64_t random; /* of what all know */
    struct kind kinds[KINDS_MAX];
    uint8_t program[CALLS_MAX]; /* kind of each call */
    int64_t config[CALLS_MAX];  /* of the first rank that came to it */
    struct rank rank[RANKS_MAX];
    uint64_t truth; /* of times */
    bool model_differs;
};

struct found {
    uint64_t cases, calls, agreements, trials, hits, chosen, broken, straight;
    uint64_t sized; /* trials under a size that was agreed on */
    uint64_t splits, hangs;
};

static struct asp_tune_table tables[TABLES];
static void *memory[RANKS_MAX][COMMS];

/* ---- chance ---- */

static uint64_t next(uint64_t *random)
{
    uint64_t x = *random += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint32_t below(uint64_t *random, uint32_t n)
{
    return (uint32_t) ((next(random) >> 32) * n >> 32);
}

static bool chance(uint64_t *random, uint32_t percent)
{
    return below(random, 100) < percent;
}

/* A number that depends on both: 0 to 1. */
static double blend(uint64_t a, uint64_t b)
{
    uint64_t x = a * UINT64_C(0xd1342543de82ef95) + b;

    return (double) (next(&x) >> 40) / (1 << 24);
}

/* ---- what is decided about ---- */

/* 1 to 12 candidates, of which the default is one. */
static uint32_t order(void *data, const struct asp_tune_shape *shape,
                      const struct asp_tune_args *args,
                      struct asp_search_candidate *out)
{
    const struct world *w = data;
    uint64_t seed = asp_tune_call(args) + shape->ranks;
    uint32_t n = 1 + (uint32_t) (blend(seed, 1) * 12);
    uint32_t standard = (uint32_t) (blend(seed, 2) * n);

    for (uint32_t i = 0; i < n; i++)
        out[i] = (struct asp_search_candidate){
            i == standard ? ASP_DECIDE_DEFAULT : 100 + i,
            10 + 10 * i * blend(seed, 3)};
    (void) w;
    return n;
}

/* The same, computed by processors that round in different ways. */
static uint32_t order_locally(void *data, const struct asp_tune_shape *shape,
                              const struct asp_tune_args *args,
                              struct asp_search_candidate *out)
{
    uint32_t n = order(NULL, shape, args, out);
    struct rank *r = data;

    if (n > 2 && r->layout % 2) {
        struct asp_search_candidate first = out[0];

        out[0].config = out[1].config;
        out[1].config = first.config;
    }
    return n;
}

static struct asp_tune_args random_args(uint64_t *random, uint32_t ranks)
{
    static const uint64_t sizes[] = {0,     1,     8,     1000,  4096,
                                     12000, 16384, 24576, 65536, 1 << 20};
    struct asp_tune_args args = {
        .op = (enum asp_coll_op) below(random, ASP_COLL_OPS),
        .bytes = sizes[below(random, 10)],
        .reduction = (enum asp_tune_reduction)(1 + below(random, 3)),
        .floating = chance(random, 50),
        .in_place = chance(random, 30),
        .root = chance(random, 60) ? 0 : below(random, ranks),
        .pattern = chance(random, 15) ? ASP_TUNE_NONBLOCKING : ASP_TUNE_STRICT,
    };

    return args;
}

static struct asp_tune_shape shape_of(uint32_t ranks)
{
    return (struct asp_tune_shape){.ranks = ranks, .nodes = 1, .ppn = ranks};
}

static void make_table(struct asp_tune_table *table, uint64_t seed)
{
    for (int i = 0; i < 200; i++) {
        struct asp_tune_row row = {.best_ns = 1, .day = "2026-11-27"};
        struct asp_tune_args args = random_args(&seed, 4);
        char config[16];

        if (args.pattern == ASP_TUNE_STRICT && chance(&seed, 40))
            args.pattern = ASP_TUNE_LOOSE;
        row.key.shape = shape_of(2 + below(&seed, RANKS_MAX - 1));
        row.key.call = asp_tune_call(&args);
        snprintf(config, sizeof(config), "config%u", below(&seed, 20));
        assert_int_equal(asp_tune_table_add(table, &row, config, NULL), 0);
    }
    assert_int_equal(asp_tune_table_index(table), 0);
}

/* ---- a case ---- */

static void start_rank(struct world *w, uint32_t i, uint32_t table,
                       uint64_t seed)
{
    struct rank *r = &w->rank[i];
    struct asp_decide_config config = {
        .effort = asp_search_online,
        .order = w->model_differs ? order_locally : order,
        .data = w->model_differs ? (void *) r : w,
        .seed = 7,
    };

    *r = (struct rank){.random = seed};
    r->member = 1u | (i % 3 != 1 ? 2u : 0);
    r->slow = 0.5 + blend(seed, 5);
    r->layout = below(&r->random, 4);
    r->address = below(&r->random, 4);
    if (w->fault == OTHER_TABLE && i == 1)
        table = (table + 1) % TABLES;
    if (table < TABLES)
        config.table = &tables[table];
    config.effort.window = 4; /* for windows to end within the program */
    if (blend(w->truth, 7) < 0.05)
        config.effort.budget_us = 500;
    for (uint32_t c = 0; c < COMMS; c++) {
        uint32_t members = c == 0 ? w->ranks : w->ranks - (w->ranks + 1) / 3;

        config.shape = shape_of(members);
        r->decide[c] = asp_decide_start(memory[i][c], &config);
    }
}

static void start(struct world *w, uint64_t seed)
{
    uint32_t table;

    w->random = seed;
    w->truth = next(&w->random);
    w->ranks = 2 + below(&w->random, RANKS_MAX - 1);
    if (chance(&w->random, 60)) /* most of them small */
        w->ranks = 2 + w->ranks % 5;
    w->calls = 20 + below(&w->random, CALLS_MAX - 20);
    w->nkinds = 1 + below(&w->random, KINDS_MAX);
    for (uint32_t k = 0; k < w->nkinds; k++) {
        w->kinds[k].comm = below(&w->random, COMMS);
        w->kinds[k].args = random_args(&w->random, w->ranks);
    }
    for (uint32_t i = 0; i < w->calls; i++) {
        w->program[i] = (uint8_t) below(&w->random, w->nkinds);
        w->config[i] = NO_CONFIG;
    }
    table = chance(&w->random, 50) ? below(&w->random, TABLES) : TABLES;
    if (w->fault == OTHER_TABLE)
        table %= TABLES;
    for (uint32_t i = 0; i < w->ranks; i++)
        start_rank(w, i, table, next(&w->random));
}

static bool takes_part(const struct world *w, const struct rank *r)
{
    return r->member & 1u << w->kinds[w->program[r->at]].comm;
}

/* The args of the call on this rank: what the standard makes equal is, and all
 * the rest is not. */
static struct asp_tune_args local_args(struct world *w, struct rank *r)
{
    struct asp_tune_args args = w->kinds[w->program[r->at]].args;
    unsigned rules = asp_tune_ops[args.op].rules;
    bool is_root = r == &w->rank[args.root % w->ranks];

    if (!(rules & ASP_TUNE_IN_PLACE))
        args.in_place = is_root && chance(&r->random, 50);
    if (!(rules & ASP_TUNE_BYTES)) /* less and less, and all over again */
        args.bytes = below(&r->random, 1 << 20) >> r->at / 16 % 8 * 2;
    if (!(rules & ASP_TUNE_ROOT))
        args.root = below(&r->random, 100);
    if (!(rules & ASP_TUNE_REDUCES))
        args.reduction = (enum asp_tune_reduction) below(&r->random, 4);
    if (!(rules & ASP_TUNE_REDUCES) || args.reduction != ASP_TUNE_BUILTIN)
        args.floating = chance(&r->random, 50);
    return args;
}

static void damage(struct world *w, struct rank *r, struct asp_tune_args *args)
{
    bool is_root = r == &w->rank[args->root % w->ranks];
    struct asp_tune_args local = *args;

    switch (w->fault) {
    case EXTENT:
        args->bytes <<= r->layout;
        break;
    case ADDRESS:
        args->bytes += r->address * 4096;
        break;
    case SITE:
        if (asp_tune_ops[args->op].rules & ASP_TUNE_ROOT)
            args->root = is_root;
        break;
    case ROOT_PLACE:
        if (asp_tune_ops[args->op].rules & ASP_TUNE_ROOT)
            args->root = local.in_place;
        break;
    case ROOT_COUNTS:
        if (args->op == ASP_COLL_GATHERV || args->op == ASP_COLL_SCATTERV)
            args->op = ASP_COLL_GATHER;
        break;
    case V_COUNTS:
        if (args->op == ASP_COLL_ALLTOALLV)
            args->op = ASP_COLL_ALLTOALL;
        break;
    case CLOCK:
        if (args->pattern == ASP_TUNE_STRICT && r->slow > 1)
            args->pattern = ASP_TUNE_LOOSE;
        break;
    case NONE:
    case OWN_SIZE:
    case NO_REDUCE:
    case OTHER_TABLE:
    case EPOCH:
    case UNCOUNTED:
    case FAULTS:
        break;
    }
}

/* How long a call took here: what the configuration takes, noise, and a clock
 * that goes wrong; now and then the rank does not know. */
static struct asp_decide_seen look(struct world *w, struct rank *r,
                                   int64_t config)
{
    uint64_t call = r->at;
    double us = (20 + 100 * blend(w->truth, (uint64_t) config)) * r->slow *
                (1 + blend(next(&r->random), call));

    if (chance(&r->random, 2))
        us *= 20;
    return (struct asp_decide_seen){
        .took_us = chance(&r->random, 1) ? -1 : us,
        .gap_us = chance(&r->random, 70) ? us / 2 : us * 2,
        .last_us = us,
    };
}

/* Configurations of a table and of the model are different things. */
static int64_t used_config(const struct asp_decision *decision)
{
    if (decision->from == ASP_DECIDE_FROM_TABLE ||
        decision->from == ASP_DECIDE_FROM_NEAR)
        return (int64_t) decision->config + (INT64_C(1) << 40);
    return decision->config;
}

static void use(struct world *w, const struct rank *r, int64_t config,
                struct found *found)
{
    if (w->config[r->at] == NO_CONFIG)
        w->config[r->at] = config;
    found->splits += w->config[r->at] != config;
}

/* A call that is known to be MPI's, on a rank that makes use of that, which
 * another may not do. */
static bool goes_straight(struct world *w, struct rank *r, struct found *found)
{
    struct asp_decide_line *line = r->line[w->program[r->at]];

    if (!line || chance(&r->random, 30) || line->left == 0)
        return false;
    if (w->fault != UNCOUNTED || r != &w->rank[1])
        assert_true(asp_decide_pass(line));
    use(w, r, ASP_DECIDE_DEFAULT, found);
    found->straight++;
    return true;
}

/* Run a rank up to its next agreement, or the end. */
static void run_rank(struct world *w, struct rank *r, struct found *found)
{
    for (; r->at < w->calls; r->at++) {
        uint32_t comm = w->kinds[w->program[r->at]].comm;
        struct asp_tune_args args;
        struct asp_decision decision;
        struct asp_decide_seen seen;

        if (!takes_part(w, r) || goes_straight(w, r, found))
            continue;
        args = local_args(w, r);
        damage(w, r, &args);
        if (w->fault == EPOCH && r == &w->rank[1] && chance(&r->random, 10))
            asp_decide_enter(r->decide[comm], &args);
        decision = asp_decide_enter(r->decide[comm], &args);
        r->line[w->program[r->at]] = asp_decide_line(r->decide[comm]);
        use(w, r, used_config(&decision), found);
        found->hits += decision.from == ASP_DECIDE_FROM_TABLE ||
                       decision.from == ASP_DECIDE_FROM_NEAR;
        seen = look(w, r, used_config(&decision));
        asp_decide_leave(r->decide[comm], &seen);
        if (decision.agree) {
            r->waits = true;
            return;
        }
    }
}

/* The ranks of a communicator that wait are all there, and in the same call:
 * give them the maximum. Returns whether they were. */
static bool rendezvous(struct world *w, uint32_t comm, struct found *found)
{
    double all[ASP_DECIDE_VALUES], own[RANKS_MAX][ASP_DECIDE_VALUES];
    uint32_t at = UINT32_MAX;

    for (uint32_t i = 0; i < w->ranks; i++) {
        struct rank *r = &w->rank[i];

        if (!(r->member & 1u << comm))
            continue;
        if (!r->waits || w->kinds[w->program[r->at]].comm != comm ||
            (at != UINT32_MAX && r->at != at))
            return false;
        asp_decide_values(r->decide[comm], own[i]);
        for (uint32_t v = 0; v < ASP_DECIDE_VALUES; v++)
            if (at == UINT32_MAX || own[i][v] > all[v])
                all[v] = own[i][v];
        at = r->at;
    }
    for (uint32_t i = 0; i < w->ranks; i++) {
        struct rank *r = &w->rank[i];

        if (!(r->member & 1u << comm))
            continue;
        if (w->fault == OWN_SIZE)
            all[ASP_DECIDE_SIZE] = own[i][ASP_DECIDE_SIZE];
        asp_decide_agreed(r->decide[comm],
                          w->fault == NO_REDUCE ? own[i] : all);
        r->waits = false;
        r->at++;
    }
    found->agreements++;
    return true;
}

/* Ranks in any order. Returns when the program is done or hangs. */
static void run_world(struct world *w, struct found *found)
{
    bool moved = true;

    while (moved) {
        uint32_t first = below(&w->random, w->ranks), done = 0;

        for (uint32_t i = 0; i < w->ranks; i++) {
            struct rank *r = &w->rank[(first + i) % w->ranks];

            if (!r->waits)
                run_rank(w, r, found);
            done += r->at == w->calls;
        }
        if (done == w->ranks)
            return;
        moved = false;
        for (uint32_t c = 0; c < COMMS; c++)
            moved = rendezvous(w, c, found) || moved;
    }
    found->hangs++;
}

static void account(struct world *w, struct found *found)
{
    for (uint32_t c = 0; c < COMMS; c++) {
        struct asp_tune_key key;
        struct asp_search_sum sum;

        for (uint32_t i = 0;
             asp_decide_account(w->rank[0].decide[c], i, &key, &sum); i++) {
            found->trials += sum.trials;
            if ((key.call >> ASP_TUNE_OP_SHIFT & 31) == ASP_COLL_ALLTOALLV)
                found->sized += sum.trials;
            found->chosen += sum.end == ASP_SEARCH_CHOSEN;
        }
        found->broken += asp_decide_broken(w->rank[0].decide[c]);
    }
    found->cases++;
    found->calls += w->calls;
}

static struct found run_cases(uint64_t cases, enum fault fault,
                              bool model_differs)
{
    static struct world w;
    struct found found = {.cases = 0};

    for (uint64_t i = 0; i < cases; i++) {
        w.fault = fault;
        w.model_differs = model_differs;
        start(&w, 1 + i * 7919);
        run_world(&w, &found);
        account(&w, &found);
    }
    return found;
}

/* ---- tests ---- */

static uint64_t cases_wanted = 100000;

static void alike(void **state)
{
    struct found f = run_cases(cases_wanted, NONE, false);

    (void) state;
    printf("%" PRIu64 " cases, %" PRIu64 " calls, %" PRIu64
           " answered by a table, %" PRIu64 " straight to MPI, %" PRIu64
           " trials (%" PRIu64 " of agreed sizes), %" PRIu64
           " searches ended with a choice, %" PRIu64 " agreements: %" PRIu64
           " splits, %" PRIu64 " hangs\n",
           f.cases, f.calls, f.hits, f.straight, f.trials, f.sized, f.chosen,
           f.agreements, f.splits, f.hangs);
    assert_true(f.splits == 0);
    assert_true(f.hangs == 0);
    assert_true(f.broken == 0);
    /* It was about something. */
    assert_true(f.trials > f.cases);
    assert_true(f.hits > f.cases);
    assert_true(f.straight > f.cases);
    assert_true(f.sized > f.cases / 10);
    assert_true(f.chosen > f.cases / 2);
}

static void faults_are_found(void **state)
{
    (void) state;
    for (int fault = NONE + 1; fault < FAULTS; fault++) {
        struct found f = run_cases(3000, (enum fault) fault, false);

        printf("fault \"%s\": %" PRIu64 " splits, %" PRIu64 " hangs in %" PRIu64
               " cases\n",
               fault_names[fault], f.splits, f.hangs, f.cases);
        assert_true(f.splits + f.hangs > 0);
    }
}

/* Models that differ are no split: ranks see it before they try anything. */
static void models_differ(void **state)
{
    struct found f = run_cases(3000, NONE, true);

    (void) state;
    printf("models differ: %" PRIu64 " splits, %" PRIu64 " hangs, %" PRIu64
           " communicators left alone\n",
           f.splits, f.hangs, f.broken);
    assert_true(f.splits == 0);
    assert_true(f.hangs == 0);
    assert_true(f.broken > 1000);
}

static int set_up(void **state)
{
    (void) state;
    for (uint32_t i = 0; i < RANKS_MAX; i++)
        for (uint32_t c = 0; c < COMMS; c++) {
            memory[i][c] = malloc(asp_decide_bytes());
            if (!memory[i][c])
                return -1;
        }
    for (uint32_t i = 0; i < TABLES; i++)
        make_table(&tables[i], i);
    return 0;
}

static int tear_down(void **state)
{
    (void) state;
    for (uint32_t i = 0; i < RANKS_MAX; i++)
        for (uint32_t c = 0; c < COMMS; c++)
            free(memory[i][c]);
    for (uint32_t i = 0; i < TABLES; i++)
        asp_tune_table_clear(&tables[i]);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alike),
        cmocka_unit_test(faults_are_found),
        cmocka_unit_test(models_differ),
    };

    if (argc > 1)
        cases_wanted = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
