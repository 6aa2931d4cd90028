/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of tables: text, refusals with their lines, look-up of exact and
 * near sizes, where a table holds, and how tables are put together. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/base/mutate.h"
#include "common/coll/build/index.h"
#include "common/tune/table.h"

#define HEADER                                                                 \
    "aspen-coll-table 1\n"                                                     \
    "mpi 4.0.2\n"                                                              \
    "build build-id:0123abcd\n"                                                \
    "ucx 1.13.1\n"                                                             \
    "fabric tcp\n"                                                             \
    "cpus 2\n"                                                                 \
    "jobs 1x16,4x4\n"
#define SHAPE        ",ranks=16,nodes=4,ppn=4,map=block"
#define BCAST(BYTES) "bcast:bytes=" BYTES ",root=0,pattern=strict" SHAPE
#define REST         " 3 sweep 2026-11-27\n"

static const char good[] = HEADER
    "rows 4\n"
    "# the size that everybody asks for\n" BCAST(
        "8") " bcast:tree=knomial,k=4 12.345 20.000" REST
        BCAST("16384") " bcast:tree=kary,k=2,segment=4096 100.000 150.001" REST
            BCAST("32768") " default 200.000 200.000" REST
                           "allreduce:bytes=8,op=builtin,pattern=strict" SHAPE
                           " default 0.001 1000000000.999 0 hand 1999-01-01\n"
                           "end\n";

static struct asp_tune_table read_good(const char *text)
{
    struct asp_tune_table table;
    struct asp_err err = {.text = ""};

    if (asp_tune_table_parse("t", text, strlen(text), NULL, &table, &err) < 0)
        fail_msg("%s: %s", err.place, err.text);
    return table;
}

static void text_form(void **state)
{
    struct asp_tune_table table = read_good(good), again;
    size_t len, len2;
    char *one = asp_tune_table_text(&table, &len), *two;

    (void) state;
    assert_int_equal(table.nrows, 4);
    assert_int_equal(table.nconfigs, 3);
    assert_int_equal(table.njobs, 2);
    assert_string_equal(table.machine.build, "build-id:0123abcd");
    assert_int_equal(table.rows[0].best_ns, 12345);
    assert_int_equal(table.rows[3].default_ns, UINT64_C(1000000000999));
    assert_null(strchr(one, '#'));
    again = read_good(one);
    two = asp_tune_table_text(&again, &len2);
    assert_int_equal(len, len2);
    assert_string_equal(one, two);
    free(one);
    free(two);
    asp_tune_table_clear(&table);
    asp_tune_table_clear(&again);
}

/* What a probe has measured: each line may be missing. */
static void links(void **state)
{
    static const char text[] = HEADER "link inside 150000 80000 20000 125\n"
                                      "core 80 4000000000\n"
                                      "rows 0\nend\n";
    static const char newer[] = HEADER "link between 1 2 3 4\n"
                                       "core 5 6\n"
                                       "rows 0\nend\n";
    struct asp_tune_table old = read_good(text), new = read_good(newer);
    struct asp_err err;
    size_t len;
    char *again;

    (void) state;
    assert_true(old.links.has_inside && old.links.has_core);
    assert_false(old.links.has_between);
    assert_int_equal(old.links.inside.gap, 20000);
    assert_int_equal(old.links.core.reduce, INT64_C(4000000000));
    assert_int_equal(asp_tune_table_merge(&old, &new, &err), 0);
    assert_int_equal(old.links.inside.latency, 150000);
    assert_int_equal(old.links.between.byte, 4);
    assert_int_equal(old.links.core.copy, 5);
    again = asp_tune_table_text(&old, &len);
    assert_string_equal(again,
                        HEADER "link inside 150000 80000 20000 125\n"
                               "link between 1 2 3 4\ncore 5 6\nrows 0\nend\n");
    free(again);
    asp_tune_table_clear(&old);
    asp_tune_table_clear(&new);
}

/* Lines of bad tables: what is said, and where. */
static void refusals(void **state)
{
    static const struct {
        const char *text, *says, *place;
    } rows[] = {
        {"", "cut off", "t:1"},
        {"hello\n", "no table of collectives", "t:1"},
        {"aspen-coll-table 2\n", "no table of collectives", "t:1"},
        {"aspen-coll-table 1\nucx 1\n", "\"mpi\" was expected", "t:2"},
        {"aspen-coll-table 1\nmpi 4.0.2", "cut off", "t:2"},
        {"aspen-coll-table 1\nmpi \n", "empty", "t:2"},
        {"aspen-coll-table 1\nmpi a%zz\n", "", "t:2"},
        {"aspen-coll-table 1\nmpi a\x1b[2J\n", "control character", "t:2"},
        {HEADER, "cut off", "t:8"},
        {HEADER "rows 99999\n", "rows: \"99999\" is no number up to 16384",
         "t:8"},
        {HEADER "rows 1\nend\n", "7 words", "t:9"},
        {HEADER "rows 0\nend\nmore\n", "follows \"end\"", "t:9"},
        {HEADER "rows 0\n" BCAST("8") " default 1.000 1.000" REST "end\n",
         "more rows", "t:9"},
        {HEADER "rows 1\nbcast:bytes=9 default 1.000 1.000" REST "end\n",
         "power of two", "t:9"},
        {HEADER "rows 1\n" BCAST("8") " default 1.00 1.000" REST, "12.345",
         "t:9"},
        {HEADER "rows 1\n" BCAST("8") " default -1.000 1.000" REST, "12.345",
         "t:9"},
        {HEADER "rows 1\n" BCAST("8") " default 1.000 1e9" REST, "12.345",
         "t:9"},
        {HEADER "rows 1\n" BCAST("8") " default 1.000 9999999999.000" REST,
         "12.345", "t:9"},
        {HEADER "rows 1\n" BCAST("8") " default 1.000 1.000 x sweep "
                                      "2026-11-27\n",
         "tried", "t:9"},
        {HEADER "rows 1\n" BCAST("8") " default 1.000 1.000 3 guess "
                                      "2026-11-27\n",
         "source", "t:9"},
        {HEADER "rows 1\n" BCAST("8") " default 1.000 1.000 3 sweep 27.11.26\n",
         "day", "t:9"},
        {HEADER "rows 2\n" BCAST("8") " default 1.000 1.000" REST BCAST(
             "8") " default 1.000 1.000" REST,
         "there already", "t:10"},
        {HEADER "rows 2\n" BCAST("16") " default 1.000 1.000" REST BCAST(
             "8") " default 1.000 1.000" REST,
         "not in order", "t:10"},
        {"aspen-coll-table 1\nmpi a\nbuild b\nucx c\nfabric d\ncpus 2\njobs "
         "1y2\n",
         "jobs:", "t:7"},
        {"aspen-coll-table 1\nmpi a\nbuild b\nucx c\nfabric d\ncpus 2\njobs "
         "0x2\n",
         "jobs:", "t:7"},
        {HEADER "link inside 1 2 3\nrows 0\nend\n", "links: L, o, g", "t:8"},
        {HEADER "link inside 1 2 3 4 5\nrows 0\nend\n", "follows the numbers",
         "t:8"},
        {HEADER "link inside 1 2 3 4000000001\nrows 0\nend\n", "links: L, o, g",
         "t:8"},
        {HEADER "link inside 1 2 3 -4\nrows 0\nend\n", "links: L, o, g", "t:8"},
        {HEADER "link beside 1 2 3 4\nrows 0\nend\n", "\"rows\" was expected",
         "t:8"},
        {HEADER "core 1\nrows 0\nend\n", "links: L, o, g", "t:8"},
        {HEADER "core 1 2\n", "cut off", "t:9"},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_tune_table table;
        struct asp_err err = {.text = ""};

        assert_int_equal(asp_tune_table_parse("t", rows[i].text,
                                              strlen(rows[i].text), NULL,
                                              &table, &err),
                         -1);
        if (!strstr(err.text, rows[i].says) ||
            strcmp(err.place, rows[i].place) != 0)
            fail_msg("row %zu: %s: %s", i, err.place, err.text);
    }
}

/* As a user of configurations checks them. */
static int check(enum asp_coll_op op, const char *config, struct asp_err *err)
{
    struct asp_coll_config parsed;

    if (strcmp(config, "default") == 0)
        return 0;
    if (asp_coll_config_parse(config, &parsed, err) < 0)
        return -1;
    return parsed.row->op == op
               ? 0
               : asp_errf(err, EINVAL, "%s is no configuration of a %s", config,
                          asp_coll_op_name(op));
}

static void unknown_config(void **state)
{
    static const char text[] = HEADER
        "rows 2\n" BCAST("8") " default 1.000 1.000" REST BCAST(
            "16") " bcast:magic=yes 1.000 1.000" REST "end\n";
    struct asp_tune_table table;
    struct asp_err err = {.text = ""};

    (void) state;
    assert_int_equal(
        asp_tune_table_parse("t", text, strlen(text), check, &table, &err), -1);
    assert_string_equal(err.place, "t:10");
    assert_true(err.text[0] != '\0');
}

static void limits(void **state)
{
    struct asp_tune_table table;
    struct asp_err err = {.text = ""};
    char *big = calloc(1, ASP_TUNE_FILE_MAX + 1);
    char line[ASP_TUNE_LINE_MAX + 64];

    (void) state;
    assert_non_null(big);
    assert_int_equal(asp_tune_table_parse("t", big, ASP_TUNE_FILE_MAX + 1, NULL,
                                          &table, &err),
                     -1);
    assert_int_equal(errno, EFBIG);
    assert_non_null(strstr(err.text, "4194304"));
    memset(big, '\n', ASP_TUNE_FILE_MAX); /* four million empty lines */
    assert_int_equal(
        asp_tune_table_parse("t", big, ASP_TUNE_FILE_MAX, NULL, &table, &err),
        -1);
    assert_string_equal(err.place, "t:4194305");
    free(big);
    memset(line, 'x', sizeof(line));
    line[sizeof(line) - 1] = '\n';
    assert_int_equal(
        asp_tune_table_parse("t", line, sizeof(line), NULL, &table, &err), -1);
    assert_int_equal(errno, EFBIG);
    assert_non_null(strstr(err.text, "longer than 511"));
    assert_int_equal(asp_tune_table_read("/dev/zero", NULL, &table, &err), -1);
    assert_int_equal(errno, EFBIG);
    assert_int_equal(asp_tune_table_read("/nowhere/t", NULL, &table, &err), -1);
    assert_int_equal(errno, ENOENT);
    assert_non_null(strstr(err.place, "/nowhere/t"));
    assert_int_equal(asp_tune_table_read("/dev/null", NULL, &table, &err), -1);
    assert_int_equal(asp_tune_table_read("/", NULL, &table, &err), -1);
}

/* A file that was cut off anywhere is refused, but for its last newline. */
static void cut(void **state)
{
    (void) state;
    for (size_t len = 0; len < sizeof(good) - 1; len++) {
        struct asp_tune_table table;
        char *copy = malloc(len + 1); /* for the sanitizer to see the end */

        assert_non_null(copy);
        memcpy(copy, good, len);
        assert_int_equal(
            asp_tune_table_parse("t", copy, len, NULL, &table, NULL), -1);
        free(copy);
    }
}

static void damaged(void **state)
{
    static const char *const edges[] = {
        "4294967296", "rows 99999999", "\n", "end\n", "%00", "map=block"};
    const struct asp_mutate how = {
        .edits = 4,
        .span = 40,
        .bytes = " =,:.%0123456789abcxyz\n\r\x01\xff",
        .edges = edges,
        .nedges = 6};
    uint32_t seed = 7, read = 0;

    (void) state;
    for (int i = 0; i < 20000; i++) {
        char text[2 * sizeof(good)];
        struct asp_tune_table table;
        size_t len = sizeof(good) - 1;

        memcpy(text, good, len);
        len = asp_mutate(&how, text, len, sizeof(text), &seed);
        if (asp_tune_table_parse("t", text, len, NULL, &table, NULL) < 0)
            continue;
        read++;
        asp_tune_table_clear(&table);
    }
    assert_true(read > 100);
}

static const struct asp_tune_shape four_by_four = {
    .ranks = 16, .nodes = 4, .ppn = 4};

static const char *find(const struct asp_tune_table *table,
                        const struct asp_tune_args *args)
{
    uint32_t at = asp_tune_table_shape(table, &four_by_four);
    const struct asp_tune_row *row = asp_tune_find(table, at,
                                                   asp_tune_call(args));

    return row ? table->configs[row->config] : "none";
}

static const char *bcast(const struct asp_tune_table *table, uint64_t bytes)
{
    struct asp_tune_args args = {.op = ASP_COLL_BCAST, .bytes = bytes};

    return find(table, &args);
}

static void look_up(void **state)
{
    struct asp_tune_table table = read_good(good);
    const struct asp_tune_shape other = {.ranks = 16, .nodes = 2, .ppn = 8};

    (void) state;
    assert_string_equal(bcast(&table, 8), "bcast:tree=knomial,k=4");
    assert_string_equal(bcast(&table, 16384),
                        "bcast:tree=kary,k=2,segment=4096");
    assert_string_equal(bcast(&table, 32768), "default");
    assert_string_equal(bcast(&table, 0), "none");
    assert_int_equal(asp_tune_table_shape(&table, &other), ASP_TUNE_NO_SHAPE);
    asp_tune_table_clear(&table);
}

/* 24 KiB between 16 and 32 KiB takes one of them; sizes that are too far away
 * take none. */
static void near_sizes(void **state)
{
    static const char text[] = HEADER
        "rows 2\n" BCAST("1024") " small 1.000 1.000" REST BCAST(
            "8192") " large 1.000 1.000" REST "end\n";
    static const struct {
        uint64_t bytes;
        const char *config;
    } rows[] = {
        {1024, "small"}, {1500, "small"},  {2048, "small"}, {4096, "large"},
        {8192, "large"}, {32768, "large"}, {65536, "none"}, {512, "small"},
        {256, "small"},  {128, "none"},    {1, "none"},     {0, "none"},
    };
    struct asp_tune_table table = read_good(good);
    const char *config = bcast(&table, 24 * 1024);

    (void) state;
    assert_true(strcmp(config, "default") == 0 ||
                strcmp(config, "bcast:tree=kary,k=2,segment=4096") == 0);
    asp_tune_table_clear(&table);
    table = read_good(text);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(bcast(&table, rows[i].bytes), rows[i].config);
    asp_tune_table_clear(&table);
}

/* What a configuration may need is never granted by the row of another class.
 */
static void classes(void **state)
{
    struct asp_tune_table table = read_good(good);
    const struct asp_tune_args sum = {
        .op = ASP_COLL_ALLREDUCE, .bytes = 8, .reduction = ASP_TUNE_BUILTIN};
    struct asp_tune_args args = sum;

    (void) state;
    assert_string_equal(find(&table, &args), "default");
    args.bytes = 16;
    assert_string_equal(find(&table, &args), "default");
    args.reduction = ASP_TUNE_ORDERED;
    assert_string_equal(find(&table, &args), "none");
    args.reduction = ASP_TUNE_USER;
    assert_string_equal(find(&table, &args), "none");
    args = sum;
    args.floating = true;
    assert_string_equal(find(&table, &args), "none");
    args = sum;
    args.in_place = true;
    assert_string_equal(find(&table, &args), "none");
    args = sum;
    args.pattern = ASP_TUNE_LOOSE;
    assert_string_equal(find(&table, &args), "none");
    asp_tune_table_clear(&table);
}

/* Any order of additions makes the same table. */
static void order(void **state)
{
    enum { N = 2000 };
    struct asp_tune_table a = read_good(HEADER "rows 0\nend\n"), b;
    unsigned char one[ASP_SHA256_BYTES], two[ASP_SHA256_BYTES];
    struct asp_tune_row row = {
        .best_ns = 1000, .default_ns = 2000, .tried = 2, .day = "2026-11-27"};

    (void) state;
    b = read_good(HEADER "rows 0\nend\n");
    for (uint32_t i = 0; i < N; i++) {
        for (int other = 0; other < 2; other++) {
            uint32_t at = other ? i * 1201 % N : i;
            struct asp_tune_args args = {.op = (enum asp_coll_op)(at % 16),
                                         .bytes = UINT64_C(1) << at % 59,
                                         .root = at % 2};

            row.key = (struct asp_tune_key){{1 + at % 97, 1, 1 + at % 97, 0},
                                            asp_tune_call(&args)};
            assert_int_equal(asp_tune_table_add(other ? &b : &a, &row,
                                                at % 3 ? "default" : "x", NULL),
                             0);
        }
    }
    /* The same keys, in another order; the last of a key counts. */
    assert_int_equal(a.nrows, b.nrows);
    for (uint32_t i = 1; i < a.nrows; i++)
        assert_true(asp_tune_key_compare(&a.rows[i - 1].key, &a.rows[i].key) <
                    0);
    assert_int_equal(asp_tune_table_merge(&a, &b, NULL), 0);
    assert_int_equal(asp_tune_table_digest(&a, one), 0);
    assert_int_equal(asp_tune_table_digest(&b, two), 0);
    assert_memory_equal(one, two, sizeof(one));
    b.rows[N / 4].best_ns++;
    assert_int_equal(asp_tune_table_digest(&b, two), 0);
    assert_true(memcmp(one, two, sizeof(one)) != 0);
    asp_tune_table_clear(&a);
    asp_tune_table_clear(&b);
}

static void fits(void **state)
{
    struct asp_tune_table table = read_good(good);
    const struct asp_tune_machine here = table.machine;
    struct asp_tune_machine other;
    struct asp_tune_job job = {4, 4};
    struct asp_err err = {.text = ""};

    (void) state;
    assert_int_equal(asp_tune_table_fits(&table, &here, &job, &err), 0);
    other = here;
    strcpy(other.mpi, "4.2.1");
    assert_int_equal(asp_tune_table_fits(&table, &other, &job, &err), -1);
    assert_string_equal(err.text, "table ignored: built for MPICH 4.0.2, this "
                                  "is 4.2.1");
    other = here;
    strcpy(other.build, "build-id:ffff");
    assert_int_equal(asp_tune_table_fits(&table, &other, &job, &err), -1);
    other = here;
    strcpy(other.ucx, "1.17");
    assert_int_equal(asp_tune_table_fits(&table, &other, &job, &err), -1);
    other = here;
    strcpy(other.fabric, "mlx5");
    assert_int_equal(asp_tune_table_fits(&table, &other, &job, &err), -1);
    other = here;
    other.cpus = 4;
    assert_int_equal(asp_tune_table_fits(&table, &other, &job, &err), -1);
    assert_string_equal(err.text, "table ignored: built for 2 CPUs per node, "
                                  "this has 4");
    job.ppn = 8;
    assert_int_equal(asp_tune_table_fits(&table, &here, &job, &err), -1);
    assert_string_equal(err.text, "table ignored: built for nodes x ranks per "
                                  "node of 1x16,4x4, this is 4x8");
    asp_tune_table_clear(&table);
}

/* Runs on other numbers of nodes go into one file; the newer row is kept. */
static void merge(void **state)
{
    static const char newer[] =
        "aspen-coll-table 1\nmpi 4.0.2\nbuild build-id:0123abcd\nucx 1.13.1\n"
        "fabric tcp\ncpus 2\njobs 2x4\nrows 2\n"
        "bcast:bytes=8,root=0,pattern=strict,ranks=8,nodes=2,ppn=4,map=block "
        "default 1.000 1.000" REST BCAST("8") " new 99.000 100.000" REST
                                              "end\n";
    struct asp_tune_table table = read_good(good), more = read_good(newer);
    struct asp_err err = {.text = ""};

    (void) state;
    assert_int_equal(asp_tune_table_merge(&table, &more, &err), 0);
    assert_int_equal(asp_tune_table_index(&table), 0);
    assert_int_equal(table.nrows, 5);
    assert_int_equal(table.njobs, 3);
    assert_string_equal(bcast(&table, 8), "new");
    strcpy(more.machine.ucx, "2");
    assert_int_equal(asp_tune_table_merge(&table, &more, &err), -1);
    assert_non_null(strstr(err.text, "built for UCX 1.13.1, this is 2"));
    asp_tune_table_clear(&table);
    asp_tune_table_clear(&more);
}

/* As large as it may be: all rows are found, in a bounded time. */
static void large(void **state)
{
    struct asp_tune_table table = read_good(HEADER "rows 0\nend\n"), again;
    struct asp_tune_row row = {.day = "2026-11-27"};
    struct asp_err err = {.text = ""};
    size_t len;
    char *text, config[16];

    (void) state;
    for (uint32_t i = 0; i < ASP_TUNE_ROWS_MAX; i++) {
        struct asp_tune_args args = {.op = ASP_COLL_BCAST,
                                     .bytes = UINT64_C(1) << i % 32,
                                     .root = i / 32 % 2};

        row.key.call = asp_tune_call(&args);
        row.key.shape = (struct asp_tune_shape){1 + i / 64, 1, 1 + i / 64, 0};
        snprintf(config, sizeof(config), "w%u", i % ASP_TUNE_CONFIGS_MAX);
        assert_int_equal(asp_tune_table_add(&table, &row, config, &err), 0);
    }
    row.key.shape.ranks = 1000;
    assert_int_equal(asp_tune_table_add(&table, &row, "w1", &err), -1);
    assert_int_equal(errno, EFBIG);
    text = asp_tune_table_text(&table, &len);
    assert_non_null(text);
    if (asp_tune_table_parse("t", text, len, NULL, &again, &err) < 0)
        fail_msg("%s: %s", err.place, err.text);
    free(text);
    assert_int_equal(again.nshapes, 256);
    for (uint32_t i = 0; i < again.nrows; i++) {
        const struct asp_tune_key *key = &again.rows[i].key;
        uint32_t at = asp_tune_table_shape(&again, &key->shape);

        assert_ptr_equal(asp_tune_find(&again, at, key->call), &again.rows[i]);
    }
    asp_tune_table_clear(&table);
    asp_tune_table_clear(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_form),  cmocka_unit_test(links),
        cmocka_unit_test(refusals),   cmocka_unit_test(unknown_config),
        cmocka_unit_test(limits),     cmocka_unit_test(cut),
        cmocka_unit_test(damaged),    cmocka_unit_test(look_up),
        cmocka_unit_test(near_sizes), cmocka_unit_test(classes),
        cmocka_unit_test(order),      cmocka_unit_test(fits),
        cmocka_unit_test(merge),      cmocka_unit_test(large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
