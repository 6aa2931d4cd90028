/* SPDX-License-Identifier: BSD-3-Clause */
/* The answer: what goes into it, what does not fit, a reader that stops. */
#include "answer.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The wire is read by another program: its shape is fixed here. */
static void test_shape(void **state)
{
    (void) state;
    assert_int_equal(sizeof(struct asp_answer), 520);
    assert_int_equal(offsetof(struct asp_answer, ntasks), 12);
    assert_int_equal(offsetof(struct asp_answer, shared_bytes), 20);
    assert_int_equal(offsetof(struct asp_answer, message), 24);
    assert_int_equal(sizeof(struct asp_answer_task), 144);
    assert_int_equal(offsetof(struct asp_answer_task, cpus), 8);
    assert_int_equal(offsetof(struct asp_answer_task, env_bytes), 136);
}

static void test_env(void **state)
{
    struct aspa_env env = {0};
    struct asp_err err = {0};
    char *big = malloc(ASP_ANSWER_ENV_MAX);

    (void) state;
    assert_int_equal(aspa_env_add(&env, "A", "1", &err), 0);
    assert_int_equal(aspa_env_add(&env, "BB", "", &err), 0);
    assert_int_equal(env.used, 8);
    assert_memory_equal(env.bytes, "A=1\0BB=\0", 8);

    assert_int_equal(aspa_env_add(&env, "", "x", &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(aspa_env_add(&env, "A=B", "x", &err), -1);
    memset(big, 'x', ASP_ANSWER_ENV_MAX - 1);
    big[ASP_ANSWER_ENV_MAX - 1] = '\0';
    assert_int_equal(aspa_env_add(&env, "C", big, &err), -1);
    assert_int_equal(errno, EMSGSIZE);
    assert_int_equal(env.used, 8);
    aspa_env_reset(&env);
    assert_int_equal(env.used, 0);
    aspa_env_clear(&env);
    free(big);
}

static void test_answer(void **state)
{
    struct aspa_answer answer = {0};
    struct asp_cpuset cpus = {0};
    struct aspa_env env = {0};
    struct asp_err err = {0};
    struct asp_answer_task task;
    struct asp_answer head;
    size_t at = sizeof(head);

    (void) state;
    asp_cpuset_add(&cpus, 3);
    asp_cpuset_add(&cpus, 1023);
    assert_int_equal(aspa_env_add(&env, "ALL", "2", &err), 0);
    assert_int_equal(aspa_answer_share(&answer, &env, &err), 0);
    aspa_env_reset(&env);
    assert_int_equal(aspa_env_add(&env, "A", "1", &err), 0);
    assert_int_equal(aspa_answer_add(&answer, ASP_ROLE_USER, &cpus, &env, &err),
                     0);
    aspa_env_reset(&env);
    assert_int_equal(aspa_answer_add(&answer, ASP_ROLE_GHOST, NULL, &env, &err),
                     0);
    assert_int_equal(
        aspa_answer_finish(&answer, ASP_ANSWER_OK, "two\nlines", &err), 0);
    memcpy(&head, answer.bytes, sizeof(head));
    assert_int_equal(head.magic, ASP_ANSWER_MAGIC);
    assert_int_equal(head.version, ASP_WIRE_VERSION);
    assert_int_equal(head.ntasks, 2);
    assert_int_equal(head.total_bytes, answer.used);
    assert_int_equal(head.total_bytes, sizeof(head) + 6 + 2 * sizeof(task) + 4);
    assert_int_equal(head.shared_bytes, 6);
    assert_memory_equal(answer.bytes + at, "ALL=2", 6);
    at += head.shared_bytes;
    assert_string_equal(head.message, "two lines");
    memcpy(&task, answer.bytes + at, sizeof(task));
    assert_int_equal(task.role, 0);
    assert_int_equal(task.bind, 1);
    assert_true(task.cpus[0] == 8 && task.cpus[15] == UINT64_C(1) << 63);
    assert_int_equal(task.env_bytes, 4);
    at += sizeof(task);
    assert_memory_equal(answer.bytes + at, "A=1", 4);
    memcpy(&task, answer.bytes + at + 4, sizeof(task));
    assert_int_equal(task.role, 1);
    assert_int_equal(task.bind, 0);
    assert_true(task.cpus[0] == 0);
    assert_int_equal(task.env_bytes, 0);
    aspa_answer_clear(&answer);
    aspa_env_clear(&env);
}

/* Many large environments are refused before the frame gets too large, and
 * what is left still is a good answer. */
static void test_too_large(void **state)
{
    struct aspa_answer answer = {0};
    struct aspa_env env = {0};
    struct asp_err err = {0};
    char *big = malloc(200 * 1024);
    char message[1000];
    struct asp_answer head;
    int n = 0;

    (void) state;
    memset(big, 'x', 200 * 1024 - 1);
    big[200 * 1024 - 1] = '\0';
    memset(message, 'm', sizeof(message) - 1);
    message[sizeof(message) - 1] = '\0';
    assert_int_equal(aspa_env_add(&env, "BIG", big, &err), 0);
    assert_int_equal(aspa_answer_share(&answer, &env, &err), 0);
    while (n < 1000 &&
           aspa_answer_add(&answer, ASP_ROLE_USER, NULL, &env, &err) == 0)
        n++;
    assert_int_equal(n, 19);
    assert_int_equal(errno, EMSGSIZE);
    assert_true(answer.used <= ASP_ANSWER_MAX);
    assert_int_equal(answer.ntasks, 19);
    aspa_answer_reset(&answer);
    assert_int_equal(
        aspa_answer_finish(&answer, ASP_ANSWER_REFUSE, message, &err), 0);
    memcpy(&head, answer.bytes, sizeof(head));
    assert_int_equal(head.ntasks, 0);
    assert_int_equal(head.shared_bytes, 0);
    assert_int_equal(head.total_bytes, sizeof(head));
    assert_int_equal(strlen(head.message), sizeof(head.message) - 1);
    aspa_answer_clear(&answer);
    aspa_env_clear(&env);
    free(big);
}

/* A reader that does not read, and one that is gone. */
static void test_write(void **state)
{
    struct aspa_answer answer = {0};
    struct aspa_env env = {0};
    struct asp_err err = {0};
    char *big = calloc(1, 150 * 1024);
    int fds[2];

    (void) state;
    memset(big, 'x', 150 * 1024 - 1);
    assert_int_equal(aspa_env_add(&env, "BIG", big, &err), 0);
    assert_int_equal(aspa_answer_add(&answer, ASP_ROLE_USER, NULL, &env, &err),
                     0);
    assert_int_equal(aspa_answer_finish(&answer, ASP_ANSWER_OK, "", &err), 0);
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(aspa_answer_write(&answer, fds[1], 100, &err), -1);
    assert_int_equal(errno, ETIMEDOUT);
    close(fds[0]);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(aspa_answer_write(&answer, fds[1], 100, &err), -1);
    assert_int_equal(errno, EPIPE);
    close(fds[1]);
    aspa_answer_clear(&answer);
    aspa_env_clear(&env);
    free(big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape),  cmocka_unit_test(test_env),
        cmocka_unit_test(test_answer), cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
