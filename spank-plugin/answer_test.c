/* SPDX-License-Identifier: BSD-3-Clause */
/* Hostile answers: each field wrong in turn, then random bytes and random
 * changes to a good answer. The parser may refuse, never read outside: build
 * with --enable-sanitizer to see that. */
#include "config.h"

#include "answer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { NTASKS = 3, GHOSTS = 1, BYTES_MAX = 8192, FUZZ_ROUNDS = 200000 };

/* A good answer, field by field, so that a test can spoil one. */
struct good {
    struct asp_answer header;
    struct asp_answer_task tasks[NTASKS];
    const char *shared;
    const char *env;
    size_t env_bytes;
};

static const char env_text[] = "ASPEN_A=1\0ASPEN_B=\0OMP_NUM_THREADS=2";
static const char shared_text[] = "ASPEN_A=0\0ASPEN_ALL=x";

static struct good make_good(void)
{
    struct good good = {.header = {.magic = ASP_ANSWER_MAGIC,
                                   .version = ASP_WIRE_VERSION,
                                   .ntasks = NTASKS,
                                   .shared_bytes = sizeof(shared_text),
                                   .message = "hello"},
                        .shared = shared_text,
                        .env = env_text,
                        .env_bytes = sizeof(env_text)};

    for (uint32_t i = 0; i < NTASKS; i++) {
        good.tasks[i].role = i + GHOSTS >= NTASKS;
        good.tasks[i].env_bytes = sizeof(env_text);
        good.tasks[i].bind = 1;
        good.tasks[i].cpus[0] = 1U << i;
    }
    return good;
}

/* Write it out; the length is made right unless it was set. */
static size_t write_out(struct good good, unsigned char *bytes)
{
    size_t used = sizeof(good.header);

    memcpy(bytes + used, good.shared, sizeof(shared_text));
    used += sizeof(shared_text);
    for (int i = 0; i < NTASKS; i++) {
        memcpy(bytes + used, &good.tasks[i], sizeof(good.tasks[i]));
        used += sizeof(good.tasks[i]);
        memcpy(bytes + used, good.env, good.env_bytes);
        used += good.env_bytes;
    }
    if (good.header.total_bytes == 0)
        good.header.total_bytes = (uint32_t) used;
    memcpy(bytes, &good.header, sizeof(good.header));
    return used;
}

/* Parse a copy in a block of just that size. Returns what is wrong, or NULL. */
static const char *parse(const unsigned char *bytes, size_t len)
{
    static char why[256];
    struct asps_answer answer;
    void *copy = malloc(len ? len : 1);
    int rc;

    memcpy(copy, bytes, len);
    rc = asps_answer_parse(copy, len, NTASKS, GHOSTS, &answer, why,
                           sizeof(why));
    if (rc == 0)
        asps_answer_clear(&answer);
    free(copy);
    return rc == 0 ? NULL : why;
}

static void refused(struct good good, const char *says)
{
    unsigned char bytes[BYTES_MAX];
    size_t len = write_out(good, bytes);
    const char *why = parse(bytes, len);

    if (why == NULL || strstr(why, says) == NULL)
        fail_msg("wanted \"%s\", got \"%s\"", says, why ? why : "(accepted)");
}

static void test_good(void **state)
{
    unsigned char bytes[BYTES_MAX];
    struct asps_answer answer;
    char why[256];
    size_t len = write_out(make_good(), bytes);

    (void) state;
    assert_int_equal(asps_answer_parse(bytes, len, NTASKS, GHOSTS, &answer, why,
                                       sizeof(why)),
                     0);
    assert_int_equal(answer.status, ASP_ANSWER_OK);
    assert_string_equal(answer.message, "hello");
    assert_true(answer.tasks[1].bind);
    assert_int_equal(answer.tasks[1].cpus[0], 2);
    assert_string_equal(asps_answer_getenv(&answer.tasks[2], "ASPEN_A"), "1");
    assert_string_equal(asps_answer_getenv(&answer.tasks[2], "ASPEN_ALL"), "x");
    assert_string_equal(asps_answer_getenv(&answer.tasks[2], "ASPEN_B"), "");
    assert_null(asps_answer_getenv(&answer.tasks[2], "ASPEN_"));
    assert_null(asps_answer_getenv(&answer.tasks[2], "OMP_NUM_THREADS2"));
    asps_answer_clear(&answer);
}

#define SPOIL(change, says)                                                    \
    do {                                                                       \
        struct good bad = make_good();                                         \
        change;                                                                \
        refused(bad, says);                                                    \
    } while (0)

static void test_bad(void **state)
{
    (void) state;
    SPOIL(bad.header.magic = 0, "is not one");
    SPOIL(bad.header.version = 1, "is not one");
    SPOIL(bad.header.shared_bytes = UINT32_MAX, "length");
    SPOIL(bad.header.shared_bytes = ASP_ANSWER_ENV_MAX, "length");
    SPOIL(bad.header.shared_bytes -= 1, "without end");
    SPOIL(bad.shared = "LD_PRELOAD=/x\0ASPEN_A", "must not set");
    SPOIL(bad.header.status = 3, "status");
    SPOIL(bad.header.total_bytes = 40, "length");
    SPOIL(bad.header.total_bytes = UINT32_MAX, "length");
    SPOIL(bad.header.ntasks = 2, "number of tasks");
    SPOIL(bad.header.ntasks = 0, "number of tasks");
    SPOIL(bad.header.ntasks = UINT32_MAX, "number of tasks");
    SPOIL(memset(bad.header.message, 'x', sizeof(bad.header.message)),
          "without end");
    SPOIL(bad.tasks[0].role = 1, "role");
    SPOIL(bad.tasks[2].role = 0, "role");
    SPOIL(bad.tasks[2].role = 7, "role");
    SPOIL(bad.tasks[1].bind = 2, "garbage");
    SPOIL(bad.tasks[1].cpus[0] = 0, "garbage");
    SPOIL(bad.tasks[1].reserved = 1, "garbage");
    SPOIL(bad.tasks[2].env_bytes += 1, "length");
    SPOIL(bad.tasks[0].env_bytes = UINT32_MAX, "length");
    SPOIL(bad.tasks[0].env_bytes -= 1, "without end");
    SPOIL(bad.tasks[2].env_bytes = 10, "longer than its tasks");
    for (const char *const *env =
             (const char *const[]){"LD_PRELOAD=/x", "PATH=/x", "=x", "ASPEN_X",
                                   "ASPEN X=1", "PMI_X=1", "PMIX=1",
                                   "XASPEN_=1", "", NULL};
         *env; env++) {
        struct good bad = make_good();

        bad.env = *env;
        bad.env_bytes = strlen(*env) + 1;
        for (int i = 0; i < NTASKS; i++)
            bad.tasks[i].env_bytes = (uint32_t) bad.env_bytes;
        refused(bad, "must not set");
    }
}

static void test_lengths(void **state)
{
    unsigned char bytes[BYTES_MAX];
    size_t len = write_out(make_good(), bytes);

    (void) state;
    for (size_t cut = 0; cut < len; cut++)
        if (parse(bytes, cut) == NULL)
            fail_msg("accepted %zu of %zu bytes", cut, len);
}

/* PLAIN and REFUSE may come without tasks; control characters do not reach
 * the terminal. */
static void test_status(void **state)
{
    struct asp_answer header = {.magic = ASP_ANSWER_MAGIC,
                                .version = ASP_WIRE_VERSION,
                                .status = ASP_ANSWER_REFUSE,
                                .total_bytes = sizeof(header),
                                .message = "no\033[31m core\n"};
    struct asps_answer answer;
    char why[256];

    (void) state;
    assert_int_equal(asps_answer_parse(&header, sizeof(header), NTASKS, GHOSTS,
                                       &answer, why, sizeof(why)),
                     0);
    assert_int_equal(answer.status, ASP_ANSWER_REFUSE);
    assert_int_equal(answer.ntasks, 0);
    assert_string_equal(answer.message, "no?[31m core?");
    asps_answer_clear(&answer);
}

static void test_fuzz(void **state)
{
    unsigned char good[BYTES_MAX], bytes[BYTES_MAX];
    size_t len = write_out(make_good(), good);
    uint32_t seed = 20260921;
    unsigned accepted = 0;

    (void) state;
    for (int round = 0; round < FUZZ_ROUNDS; round++) {
        memcpy(bytes, good, len);
        for (int change = round % 4; change >= 0; change--) {
            seed = seed * 1664525 + 1013904223;
            bytes[(seed >> 8) % len] = (unsigned char) (seed >> 24);
        }
        accepted += parse(bytes, len) == NULL;
    }
    /* Changed values and message characters are fine, the rest is not. */
    assert_in_range(accepted, 1, FUZZ_ROUNDS - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),    cmocka_unit_test(test_bad),
        cmocka_unit_test(test_lengths), cmocka_unit_test(test_status),
        cmocka_unit_test(test_fuzz),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
