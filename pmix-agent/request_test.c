/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: read from a pipe in time, and each line that is refused. */
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char good[] = "version 2\n"
                           "job 12.0\n"
                           "uid 1000\n"
                           "nnodes 2\n"
                           "node 1\n"
                           "nodename n2\n"
                           "ntasks 6\n"
                           "local 3\n"
                           "ranks 3,4,5\n"
                           "tasks_per_node 3(x2)\n"
                           "distribution \n"
                           "step_cpus 0-3\n"
                           "spec ghost:1,cpus=2\n"
                           "program /home/u/my app\n"
                           "end\n";

static int parse(const char *text, struct aspa_request *request,
                 struct asp_err *err)
{
    char *copy = strdup(text);
    int rc = aspa_request_parse(copy, request, err);

    if (rc < 0)
        free(copy);
    return rc;
}

static void test_good(void **state)
{
    struct aspa_request r;
    struct asp_err err = {0};

    (void) state;
    assert_int_equal(parse(good, &r, &err), 0);
    assert_string_equal(r.job, "12.0");
    assert_int_equal(r.uid, 1000);
    assert_int_equal(r.node, 1);
    assert_int_equal(r.nranks, 3);
    assert_int_equal(r.ranks[2], 5);
    assert_string_equal(r.distribution, "");
    assert_string_equal(r.program, "/home/u/my app");
    assert_string_equal(r.qos, "");
    aspa_request_clear(&r);
}

/* good with one line replaced; line NULL drops it. */
static char *altered(const char *key, const char *line)
{
    static char out[sizeof(good) + 200];
    const char *at = strstr(good, key);
    const char *end = strchr(at, '\n') + 1;

    snprintf(out, sizeof(out), "%.*s%s%s%s", (int) (at - good), good,
             line ? line : "", line ? "\n" : "", end);
    return out;
}

static void test_bad(void **state)
{
    static const struct {
        const char *key;
        const char *line;
        int errnum;
    } rows[] = {
        {"version", "version 1", EPROTO},
        {"version", NULL, EINVAL},
        {"job", "job ../../etc", EINVAL},
        {"job", "job ", EINVAL},
        {"job", "job .0", EINVAL},
        {"uid", "uid -1", EINVAL},
        {"uid", "uid 4294967295", EINVAL},
        {"uid", "uid 0x10", EINVAL},
        {"uid", "uid 1 ", EINVAL},
        {"nnodes", "nnodes 1", EINVAL},
        {"nnodes", "nnodes 99999999999999999999", EINVAL},
        {"nodename",
         "nodename "
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         EINVAL},
        {"ntasks", "ntasks 5", EINVAL},
        {"local", "local 0", EINVAL},
        {"local", "local 2", EINVAL},
        {"local", "local 1025", EINVAL},
        {"ranks", "ranks 3,4,", EINVAL},
        {"ranks", "ranks 3,5,4", EINVAL},
        {"ranks", "ranks 3,4,4", EINVAL},
        {"ranks", "ranks 3 4 5", EINVAL},
        {"ranks", "ranks ", EINVAL},
        {"ranks", NULL, EINVAL},
        {"spec", "colour green", EINVAL},
        {"spec", "job 12.0", EINVAL},
        {"end", "fin", EINVAL},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct aspa_request r;
        struct asp_err err = {0};

        errno = 0;
        assert_int_equal(parse(altered(rows[i].key, rows[i].line), &r, &err),
                         -1);
        assert_int_equal(errno, rows[i].errnum);
        assert_true(err.text[0] != '\0');
    }
}

/* Every proper prefix is refused, none is read beyond. */
static void test_truncated(void **state)
{
    (void) state;
    for (size_t len = 0; len < strlen(good) - 1; len++) {
        struct aspa_request r;
        struct asp_err err = {0};
        char *text = strndup(good, len);

        assert_int_equal(aspa_request_parse(text, &r, &err), -1);
        free(text);
    }
}

/* Damage good in a few places; whatever comes out must not crash, and what is
 * accepted must be within its limits. The seed is fixed: a failure repeats. */
static void test_damaged(void **state)
{
    static const char bytes[] = "\n ,-0123456789xe\377\1%(";
    unsigned seed = 20221105;

    (void) state;
    for (int i = 0; i < 20000; i++) {
        struct aspa_request r;
        struct asp_err err = {0};
        char *text = strdup(good);

        for (int n = 1 + i % 4; n > 0; n--)
            text[(size_t) rand_r(&seed) % strlen(good)] =
                bytes[(size_t) rand_r(&seed) % (sizeof(bytes) - 1)];
        if (aspa_request_parse(text, &r, &err) < 0) {
            free(text);
            continue;
        }
        assert_true(r.nlocal >= 1 && r.nlocal <= ASP_TASKS_MAX);
        assert_true(r.node < r.nnodes && r.nranks == r.nlocal);
        assert_true(r.ranks[r.nranks - 1] < r.ntasks);
        assert_true(strlen(r.job) < ASP_NAME_MAX);
        aspa_request_clear(&r);
    }
}

static void test_read(void **state)
{
    struct asp_err err = {0};
    char *text = NULL;
    int fds[2];

    (void) state;
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], good, strlen(good)), (ssize_t) strlen(good));
    assert_int_equal(aspa_request_read(fds[0], 1000, &text, &err), 0);
    assert_string_equal(text, good);
    free(text);

    errno = 0;
    assert_int_equal(write(fds[1], "job 1\n", 6), 6);
    assert_int_equal(aspa_request_read(fds[0], 50, &text, &err), -1);
    assert_int_equal(errno, ETIMEDOUT);

    assert_int_equal(write(fds[1], "job\0\n", 5), 5);
    assert_int_equal(aspa_request_read(fds[0], 50, &text, &err), -1);
    assert_int_equal(errno, EINVAL);

    assert_int_equal(write(fds[1], "job 1\n", 6), 6);
    close(fds[1]);
    assert_int_equal(aspa_request_read(fds[0], 1000, &text, &err), -1);
    assert_int_equal(errno, EPIPE);
    close(fds[0]);
}

static void test_read_too_long(void **state)
{
    struct asp_err err = {0};
    char *text = NULL;
    int fd = open("/dev/zero", O_RDONLY);
    char block[4096];
    int fds[2];

    (void) state;
    assert_true(fd >= 0);
    assert_int_equal(aspa_request_read(fd, 1000, &text, &err), -1);
    assert_int_equal(errno, EINVAL);
    close(fd);

    memset(block, 'x', sizeof(block));
    assert_int_equal(pipe(fds), 0);
    for (size_t n = 0; n < ASP_REQUEST_MAX; n += sizeof(block))
        assert_int_equal(write(fds[1], block, sizeof(block)), sizeof(block));
    assert_int_equal(aspa_request_read(fds[0], 1000, &text, &err), -1);
    assert_int_equal(errno, EMSGSIZE);
    close(fds[0]);
    close(fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),      cmocka_unit_test(test_bad),
        cmocka_unit_test(test_truncated), cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_read),      cmocka_unit_test(test_read_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
