/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of keys: what they hold and what not, shapes, text forms; and of
 * SHA-256. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/mutate.h"
#include "common/tune/key.h"
#include "common/tune/sha256.h"

/* A size belongs to the nearest power of two. */
static void buckets(void **state)
{
    static const struct {
        uint64_t bytes, power;
    } rows[] = {
        {0, 0},         {1, 1},         {2, 2},         {3, 4},
        {5, 4},         {6, 8},         {8, 8},         {11, 8},
        {12, 16},       {16384, 16384}, {24575, 16384}, {24576, 32768},
        {32768, 32768}, {49151, 32768}, {49152, 65536},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(asp_tune_bucket_bytes(asp_tune_bucket(rows[i].bytes)),
                         rows[i].power);
    for (uint32_t b = 1; b <= 61; b++)
        assert_int_equal(asp_tune_bucket(asp_tune_bucket_bytes(b)), b);
    assert_true(asp_tune_bucket(UINT64_MAX) < ASP_TUNE_BUCKET_ANY);
    assert_true(asp_tune_bucket(UINT64_MAX) >= asp_tune_bucket(UINT64_MAX / 2));
}

static const struct asp_tune_args plain = {
    .op = ASP_COLL_BCAST,
    .bytes = 4096,
    .reduction = ASP_TUNE_NO_REDUCTION,
};

/* What may differ between ranks for an operation changes nothing. */
static void equal_only(void **state)
{
    (void) state;
    for (int op = 0; op < ASP_COLL_OPS; op++) {
        struct asp_tune_args a = plain, b;
        unsigned rules = asp_tune_ops[op].rules;

        a.op = (enum asp_coll_op) op;
        b = a;
        b.in_place = true;
        assert_int_equal(asp_tune_call(&a) != asp_tune_call(&b),
                         (rules & ASP_TUNE_IN_PLACE) != 0);
        b = a;
        b.bytes = 1 << 20;
        assert_int_equal(asp_tune_call(&a) != asp_tune_call(&b),
                         (rules & ASP_TUNE_BYTES) != 0);
        b = a;
        b.root = 3;
        assert_int_equal(asp_tune_call(&a) != asp_tune_call(&b),
                         (rules & ASP_TUNE_ROOT) != 0);
        b = a;
        b.reduction = ASP_TUNE_ORDERED;
        assert_int_equal(asp_tune_call(&a) != asp_tune_call(&b),
                         (rules & ASP_TUNE_REDUCES) != 0);
    }
}

/* MPI_IN_PLACE of a rooted call is the root's own affair, and so are counts of
 * the calls that have one for each rank. */
static void local_is_local(void **state)
{
    enum {
        BYTES = ASP_TUNE_BYTES,
        ROOT = ASP_TUNE_ROOT,
        FOLD = BYTES | ASP_TUNE_REDUCES,
        PLACE = ASP_TUNE_IN_PLACE,
    };
    static const unsigned rules[ASP_COLL_OPS] = {
        [ASP_COLL_BARRIER] = 0,
        [ASP_COLL_BCAST] = BYTES | ROOT,
        [ASP_COLL_REDUCE] = FOLD | ROOT,
        [ASP_COLL_SCATTER] = BYTES | ROOT,
        [ASP_COLL_GATHER] = BYTES | ROOT,
        [ASP_COLL_ALLGATHER] = BYTES | PLACE,
        [ASP_COLL_ALLTOALL] = BYTES | PLACE,
        [ASP_COLL_ALLREDUCE] = FOLD | PLACE,
        [ASP_COLL_REDUCE_SCATTER_BLOCK] = FOLD | PLACE,
        [ASP_COLL_REDUCE_SCATTER] = FOLD | PLACE,
        [ASP_COLL_SCAN] = FOLD | PLACE,
        [ASP_COLL_EXSCAN] = FOLD | PLACE,
        [ASP_COLL_SCATTERV] = ROOT,
        [ASP_COLL_GATHERV] = ROOT,
        [ASP_COLL_ALLGATHERV] = BYTES | PLACE,
        [ASP_COLL_ALLTOALLV] = PLACE | ASP_TUNE_AGREED,
    };

    (void) state;
    for (int op = 0; op < ASP_COLL_OPS; op++)
        assert_int_equal(asp_tune_ops[op].rules, rules[op]);
}

static void call_words(void **state)
{
    struct asp_tune_args args = {.op = ASP_COLL_ALLREDUCE,
                                 .bytes = 12345,
                                 .reduction = ASP_TUNE_BUILTIN,
                                 .floating = true,
                                 .in_place = true,
                                 .pattern = ASP_TUNE_LOOSE},
                         back;
    uint32_t word = asp_tune_call(&args);

    (void) state;
    asp_tune_call_args(word, &back);
    assert_int_equal(back.op, args.op);
    assert_int_equal(back.bytes, 16384);
    assert_int_equal(back.reduction, args.reduction);
    assert_true(back.floating);
    assert_true(back.in_place);
    assert_int_equal(back.pattern, args.pattern);
    assert_int_equal(asp_tune_call(&back), word);
    assert_true(word < 1u << ASP_TUNE_CALL_BITS);
    /* Whether a user's type is a floating one is seen from its layout. */
    args.reduction = ASP_TUNE_USER;
    word = asp_tune_call(&args);
    args.floating = false;
    assert_int_equal(asp_tune_call(&args), word);
}

static struct asp_tune_shape shape(const char *nodes)
{
    uint32_t node[64], work[64], n = 0;
    struct asp_tune_shape out;

    for (; nodes[n]; n++)
        node[n] = (uint32_t) nodes[n];
    asp_tune_shape_of(node, n, work, &out);
    return out;
}

static void shapes(void **state)
{
    static const struct {
        const char *nodes;
        uint32_t n, ppn;
        bool block;
    } rows[] = {
        {"a", 1, 1, true},         {"aaaa", 1, 4, true},
        {"aabb", 2, 2, true},      {"bbaa", 2, 2, true},
        {"abcd", 4, 1, true},      {"abab", 2, 2, false},
        {"aab", 2, 2, false},      {"abb", 2, 2, false},
        {"aabbccdd", 4, 2, true},  {"abcdabcd", 4, 2, false},
        {"aaabbbbb", 2, 5, false}, {"zzyyxxww", 4, 2, true},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_tune_shape s = shape(rows[i].nodes);

        assert_int_equal(s.ranks, strlen(rows[i].nodes));
        assert_int_equal(s.nodes, rows[i].n);
        assert_int_equal(s.ppn, rows[i].ppn);
        assert_int_equal(s.map == 0, rows[i].block);
    }
    /* Only who shares with whom counts, not the numbers of nodes. */
    assert_true(shape("abab").map == shape("xyxy").map);
    assert_true(shape("abab").map == shape("baba").map);
    assert_true(shape("abba").map == shape("zkkz").map);
    assert_true(shape("abab").map != shape("abba").map);
    assert_true(shape("aab").map != shape("abb").map);
    assert_true(shape("aabab").map != shape("ababa").map);
}

static void large_shape(void **state)
{
    enum { N = 1 << 16 };
    uint32_t *node = malloc(N * sizeof(*node));
    uint32_t *work = malloc(N * sizeof(*work));
    struct asp_tune_shape block, cyclic;

    (void) state;
    assert_non_null(node);
    assert_non_null(work);
    for (uint32_t i = 0; i < N; i++)
        node[i] = 1000 - i / 128;
    asp_tune_shape_of(node, N, work, &block);
    for (uint32_t i = 0; i < N; i++)
        node[i] = i % 512;
    asp_tune_shape_of(node, N, work, &cyclic);
    free(node);
    free(work);
    assert_int_equal(block.nodes, 512);
    assert_int_equal(block.ppn, 128);
    assert_true(block.map == 0);
    assert_int_equal(cyclic.nodes, 512);
    assert_int_equal(cyclic.ppn, 128);
    assert_true(cyclic.map != 0);
}

static const char *const texts[] = {
    "bcast:bytes=16384,root=0,pattern=strict,ranks=16,nodes=4,ppn=4,map=block",
    "bcast:bytes=0,root=other,pattern=loose,ranks=3,nodes=2,ppn=2,"
    "map=00000000deadbeef",
    "allreduce:bytes=8,op=builtin-float,in_place=yes,pattern=strict,ranks=16,"
    "nodes=4,ppn=4,map=block",
    "scan:bytes=1,op=ordered,pattern=strict,ranks=2,nodes=1,ppn=2,map=block",
    "barrier:pattern=strict,ranks=64,nodes=1,ppn=64,map=block",
    "alltoallv:bytes=4096,pattern=strict,ranks=4,nodes=4,ppn=1,"
    "map=block",
    "reduce_scatter_block:bytes=1152921504606846976,op=user,pattern=loose,"
    "ranks=1048576,nodes=8192,ppn=128,map=block",
};

static void text_forms(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct asp_tune_key key;
        struct asp_err err = {.text = ""};
        char buf[ASP_TUNE_KEY_MAX];

        if (asp_tune_key_parse(texts[i], &key, &err) < 0)
            fail_msg("%s: %s", texts[i], err.text);
        assert_string_equal(asp_tune_key_print(&key, buf), texts[i]);
    }
}

static void refusals(void **state)
{
    static const char *const rows[][2] = {
        {"", "no ':'"},
        {"nothing:ranks=1", "nothing"},
        {"barrier", "no ':'"},
        {"barrier:", "has no value"},
        {"barrier:pattern=strict,ranks=2,nodes=1,ppn=2", "missing"},
        {"barrier:pattern=odd,ranks=2,nodes=1,ppn=2,map=block", "pattern=odd"},
        {"barrier:bytes=8,pattern=strict,ranks=2,nodes=1,ppn=2,map=block",
         "has no bytes"},
        {"gather:bytes=8,root=0,in_place=yes,pattern=strict,ranks=2,nodes=1,"
         "ppn=2,map=block",
         "has no in_place"},
        {"bcast:bytes=24,root=0,pattern=strict,ranks=2,nodes=1,ppn=2,map=block",
         "power of two"},
        {"bcast:bytes=08,root=0,pattern=strict,ranks=2,nodes=1,ppn=2,map=block",
         "power of two"},
        {"bcast:bytes=99999999999999999999999,root=0,pattern=strict,ranks=2,"
         "nodes=1,ppn=2,map=block",
         "power of two"},
        {"bcast:bytes=8,bytes=8,root=0,pattern=strict,ranks=2,nodes=1,ppn=2,"
         "map=block",
         "twice"},
        {"barrier:pattern=strict,ranks=3,nodes=1,ppn=2,map=block", "cannot be"},
        {"barrier:pattern=strict,ranks=3,nodes=2,ppn=2,map=block", "cannot be"},
        {"barrier:pattern=strict,ranks=0,nodes=0,ppn=0,map=block", "ranks=0"},
        {"barrier:pattern=strict,ranks=-1,nodes=1,ppn=1,map=block", "ranks=-1"},
        {"barrier:pattern=strict,ranks=2,nodes=1,ppn=2,map=0000000000000000",
         "map="},
        {"barrier:pattern=strict,ranks=2,nodes=1,ppn=2,map=12", "map=12"},
        {"barrier:site=0x1f,pattern=strict,ranks=2,nodes=1,ppn=2,map=block",
         "unknown field \"site\""},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_tune_key key;
        struct asp_err err = {.text = ""};

        assert_int_equal(asp_tune_key_parse(rows[i][0], &key, &err), -1);
        assert_int_equal(errno, EINVAL);
        if (!strstr(err.text, rows[i][1]))
            fail_msg("%s: \"%s\"", rows[i][0], err.text);
    }
}

/* What is read at all is read alike from what is printed of it. */
static void damaged(void **state)
{
    static const char *const edges[] = {"ranks=", "map=block", ",",
                                        "4294967296", "0"};
    const struct asp_mutate how = {.edits = 3,
                                   .span = 6,
                                   .bytes = "=,:0123456789abcxyz \x01\xff",
                                   .edges = edges,
                                   .nedges = 5};
    uint32_t seed = 3, read = 0;

    (void) state;
    for (int i = 0; i < 50000; i++) {
        char text[ASP_TUNE_KEY_MAX], one[ASP_TUNE_KEY_MAX],
            two[ASP_TUNE_KEY_MAX];
        struct asp_tune_key key, again;
        size_t len;

        strcpy(text, texts[i % 7]);
        len = asp_mutate(&how, text, strlen(text), sizeof(text) - 1, &seed);
        text[len] = '\0';
        if (asp_tune_key_parse(text, &key, NULL) < 0)
            continue;
        read++;
        asp_tune_key_print(&key, one);
        assert_int_equal(asp_tune_key_parse(one, &again, NULL), 0);
        assert_string_equal(asp_tune_key_print(&again, two), one);
        assert_int_equal(asp_tune_key_compare(&key, &again), 0);
    }
    assert_true(read > 500);
}

/* The examples of FIPS 180-2, appendix B, and lengths around a block. */
static void sha256(void **state)
{
    static const struct {
        const char *text, *digest;
    } rows[] = {
        {"",
         "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc",
         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    enum { MILLION = 1000000 };
    unsigned char digest[ASP_SHA256_BYTES];
    char hex[ASP_SHA256_HEX], *many = malloc(MILLION);

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        asp_sha256(rows[i].text, strlen(rows[i].text), digest);
        assert_string_equal(asp_sha256_hex(digest, hex), rows[i].digest);
    }
    assert_non_null(many);
    memset(many, 'a', MILLION);
    asp_sha256(many, MILLION, digest);
    assert_string_equal(
        asp_sha256_hex(digest, hex),
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    /* 55, 56 and 64 bytes: where the padding needs a block more. */
    asp_sha256(many, 55, digest);
    assert_string_equal(
        asp_sha256_hex(digest, hex),
        "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    asp_sha256(many, 56, digest);
    assert_string_equal(
        asp_sha256_hex(digest, hex),
        "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    asp_sha256(many, 64, digest);
    assert_string_equal(
        asp_sha256_hex(digest, hex),
        "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets),        cmocka_unit_test(equal_only),
        cmocka_unit_test(local_is_local), cmocka_unit_test(call_words),
        cmocka_unit_test(shapes),         cmocka_unit_test(large_shape),
        cmocka_unit_test(text_forms),     cmocka_unit_test(refusals),
        cmocka_unit_test(damaged),        cmocka_unit_test(sha256),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
