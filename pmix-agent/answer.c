/* SPDX-License-Identifier: BSD-3-Clause */
/* Building and writing the answer. Called by main.c. */
#include "config.h"

#include "answer.h"

#include "common/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Make room for more bytes; sizes double. Returns 0, or -1 with ENOMEM. */
static int reserve(char **bytes_p, size_t *size_p, size_t need,
                   struct asp_err *err)
{
    size_t size = *size_p < 1024 ? 1024 : *size_p;
    char *bytes;

    if (need <= *size_p)
        return 0;
    while (size < need)
        size *= 2;
    bytes = realloc(*bytes_p, size);
    if (bytes == NULL)
        return asp_errf(err, ENOMEM, "out of memory for the answer");
    *bytes_p = bytes;
    *size_p = size;
    return 0;
}

int aspa_env_add(struct aspa_env *env, const char *name, const char *value,
                 struct asp_err *err)
{
    size_t name_len = strlen(name);
    size_t value_len = strlen(value);
    size_t need = env->used + name_len + value_len + 2;

    if (name_len == 0 || strchr(name, '=') != NULL)
        return asp_errf(err, EINVAL, "bad variable name \"%.60s\"", name);
    if (need > ASP_ANSWER_ENV_MAX)
        return asp_errf(err, EMSGSIZE,
                        "%s does not fit a task's environment block", name);
    if (reserve(&env->bytes, &env->size, need, err) < 0)
        return -1;
    memcpy(env->bytes + env->used, name, name_len);
    env->bytes[env->used + name_len] = '=';
    memcpy(env->bytes + env->used + name_len + 1, value, value_len + 1);
    env->used = need;
    return 0;
}

void aspa_env_reset(struct aspa_env *env)
{
    env->used = 0;
}

void aspa_env_clear(struct aspa_env *env)
{
    free(env->bytes);
    memset(env, 0, sizeof(*env));
}

void aspa_answer_reset(struct aspa_answer *answer)
{
    answer->used = 0;
    answer->ntasks = 0;
    answer->shared_bytes = 0;
}

void aspa_answer_clear(struct aspa_answer *answer)
{
    free(answer->bytes);
    memset(answer, 0, sizeof(*answer));
}

int aspa_answer_share(struct aspa_answer *answer, const struct aspa_env *env,
                      struct asp_err *err)
{
    size_t need = sizeof(struct asp_answer) + env->used;

    if (reserve(&answer->bytes, &answer->size, need, err) < 0)
        return -1;
    if (env->used > 0)
        memcpy(answer->bytes + sizeof(struct asp_answer), env->bytes,
               env->used);
    answer->used = need;
    answer->shared_bytes = (uint32_t) env->used;
    return 0;
}

int aspa_answer_add(struct aspa_answer *answer, enum asp_role role,
                    const struct asp_cpuset *cpus, const struct aspa_env *env,
                    struct asp_err *err)
{
    size_t at = answer->used != 0 ? answer->used : sizeof(struct asp_answer);
    size_t need = at + sizeof(struct asp_answer_task) + env->used;
    struct asp_answer_task task = {
        .role = role == ASP_ROLE_GHOST,
        .bind = cpus != NULL,
        .env_bytes = (uint32_t) env->used,
    };

    _Static_assert(sizeof(task.cpus) == sizeof(cpus->word),
                   "wire and cpuset have the same CPUs");
    if (answer->ntasks == ASP_TASKS_MAX || need > ASP_ANSWER_MAX)
        return asp_errf(err, EMSGSIZE,
                        "the tasks' environment does not fit the answer");
    if (reserve(&answer->bytes, &answer->size, need, err) < 0)
        return -1;
    if (cpus != NULL)
        memcpy(task.cpus, cpus->word, sizeof(task.cpus));
    memcpy(answer->bytes + at, &task, sizeof(task));
    if (env->used > 0)
        memcpy(answer->bytes + at + sizeof(task), env->bytes, env->used);
    answer->used = need;
    answer->ntasks++;
    return 0;
}

int aspa_answer_finish(struct aspa_answer *answer,
                       enum asp_answer_status status, const char *message,
                       struct asp_err *err)
{
    size_t used = answer->used != 0 ? answer->used : sizeof(struct asp_answer);
    struct asp_answer head = {
        .magic = ASP_ANSWER_MAGIC,
        .version = ASP_WIRE_VERSION,
        .status = status,
        .ntasks = answer->ntasks,
        .total_bytes = (uint32_t) used,
        .shared_bytes = answer->shared_bytes,
    };

    if (reserve(&answer->bytes, &answer->size, used, err) < 0)
        return -1;
    for (size_t i = 0; message[i] != '\0' && i < sizeof(head.message) - 1; i++)
        head.message[i] = message[i] == '\n' ? ' ' : message[i];
    memcpy(answer->bytes, &head, sizeof(head));
    answer->used = used;
    return 0;
}

/* The pipe is made non-blocking for this: a reader that stopped reading must
 * not hold the agent beyond its deadline. */
int aspa_answer_write(const struct aspa_answer *answer, int fd, int timeout_ms,
                      struct asp_err *err)
{
    long long deadline_ms = asp_now_ms() + timeout_ms;
    size_t done = 0;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return asp_errf(err, errno, "cannot write the answer: %m");
    while (done < answer->used) {
        struct pollfd wait = {.fd = fd, .events = POLLOUT};
        long long left = deadline_ms - asp_now_ms();
        ssize_t n = write(fd, answer->bytes + done, answer->used - done);

        if (n >= 0) {
            done += (size_t) n;
            continue;
        }
        if (errno == EAGAIN && left > 0) {
            poll(&wait, 1, (int) left);
            continue;
        }
        if (errno == EINTR)
            continue;
        if (errno == EAGAIN)
            errno = ETIMEDOUT;
        return asp_errf(err, errno, "cannot write the answer: %m");
    }
    return 0;
}
