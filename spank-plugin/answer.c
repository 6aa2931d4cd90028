/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by stepd.c once per node and step. */
#include "config.h"

#include "answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the agent may set in a task. LD_* above all is not here. */
static const char *const prefixes[] = {"ASPEN_", "OMP_"};

struct reader {
    const unsigned char *bytes;
    size_t len;
    size_t at;
    char *why;
    size_t why_bytes;
};

static int bad(struct reader *reader, const char *what, uint32_t task)
{
    if (task == UINT32_MAX)
        snprintf(reader->why, reader->why_bytes, "its answer %s", what);
    else
        snprintf(reader->why, reader->why_bytes,
                 "its answer for local task %u %s", (unsigned) task, what);
    errno = EPROTO;
    return -1;
}

static bool is_name_char(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c >= '0' && c <= '9') || c == '_';
}

/* "NAME=..." with a name that the agent may set. */
static bool is_variable(const char *text)
{
    bool known = false;

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        known |= strncmp(text, prefixes[i], strlen(prefixes[i])) == 0;
    if (!known)
        return false;
    while (is_name_char(*text))
        text++;
    return *text == '=';
}

static int check_environment(struct reader *reader, uint32_t task,
                             const char *env, size_t bytes)
{
    if (bytes > 0 && env[bytes - 1] != '\0')
        return bad(reader, "has an environment without end", task);
    for (size_t at = 0; at < bytes; at += strlen(env + at) + 1)
        if (!is_variable(env + at))
            return bad(reader, "sets a variable it must not set", task);
    return 0;
}

/* Behind the header. */
static const char *shared(const struct reader *reader)
{
    return (const char *) reader->bytes + sizeof(struct asp_answer);
}

static int read_header(struct reader *reader, uint32_t ntasks,
                       struct asps_answer *answer, size_t *shared_bytes_p)
{
    struct asp_answer header;

    if (reader->len < sizeof(header))
        return bad(reader, "is incomplete", UINT32_MAX);
    memcpy(&header, reader->bytes, sizeof(header));
    reader->at = sizeof(header);
    if (header.magic != ASP_ANSWER_MAGIC || header.version != ASP_WIRE_VERSION)
        return bad(reader, "is not one", UINT32_MAX);
    if (header.total_bytes != reader->len || reader->len > ASP_ANSWER_MAX)
        return bad(reader, "lies about its length", UINT32_MAX);
    if (header.status > ASP_ANSWER_REFUSE)
        return bad(reader, "has an unknown status", UINT32_MAX);
    if (memchr(header.message, '\0', sizeof(header.message)) == NULL)
        return bad(reader, "has a message without end", UINT32_MAX);
    if (header.ntasks != ntasks &&
        (header.ntasks != 0 || header.status == ASP_ANSWER_OK))
        return bad(reader, "is about another number of tasks", UINT32_MAX);
    if (header.shared_bytes > ASP_ANSWER_ENV_MAX ||
        header.shared_bytes > reader->len - reader->at)
        return bad(reader, "lies about its environment's length", UINT32_MAX);
    answer->status = (enum asp_answer_status) header.status;
    answer->ntasks = header.ntasks;
    memcpy(answer->message, header.message, sizeof(header.message));
    /* It goes to a terminal and to logs. */
    for (char *c = answer->message; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    reader->at += header.shared_bytes;
    *shared_bytes_p = header.shared_bytes;
    return check_environment(reader, UINT32_MAX, shared(reader),
                             header.shared_bytes);
}

static int read_task(struct reader *reader, uint32_t task, uint32_t role,
                     struct asps_answer_task *out)
{
    struct asp_answer_task header;
    uint64_t any = 0;

    if (reader->len - reader->at < sizeof(header))
        return bad(reader, "is incomplete", task);
    memcpy(&header, reader->bytes + reader->at, sizeof(header));
    reader->at += sizeof(header);
    if (header.env_bytes > ASP_ANSWER_ENV_MAX ||
        header.env_bytes > reader->len - reader->at)
        return bad(reader, "lies about its environment's length", task);
    if (header.role != role)
        return bad(reader, "gives it the wrong role", task);
    for (int i = 0; i < ASP_ANSWER_CPU_WORDS; i++)
        any |= header.cpus[i];
    if (header.bind > 1 || header.reserved != 0 || (header.bind && !any))
        return bad(reader, "is garbage", task);
    out->bind = header.bind;
    memcpy(out->cpus, header.cpus, sizeof(out->cpus));
    out->env = (const char *) reader->bytes + reader->at;
    out->env_bytes = header.env_bytes;
    reader->at += header.env_bytes;
    return check_environment(reader, task, out->env, out->env_bytes);
}

int asps_answer_parse(const void *bytes, size_t len, uint32_t ntasks,
                      uint32_t ghosts, struct asps_answer *out_p, char *why,
                      size_t why_bytes)
{
    struct reader reader = {
        .bytes = bytes, .len = len, .why = why, .why_bytes = why_bytes};
    struct asps_answer answer = {.ntasks = 0};
    size_t shared_bytes;

    if (read_header(&reader, ntasks, &answer, &shared_bytes) < 0)
        return -1;
    if (answer.ntasks > 0) {
        answer.tasks = calloc(answer.ntasks, sizeof(*answer.tasks));
        if (answer.tasks == NULL) {
            snprintf(why, why_bytes, "there is no memory for its answer");
            return -1;
        }
    }
    for (uint32_t i = 0; i < answer.ntasks; i++) {
        if (read_task(&reader, i, i + ghosts >= ntasks ? 1 : 0,
                      &answer.tasks[i]) < 0)
            goto err;
        answer.tasks[i].shared = shared(&reader);
        answer.tasks[i].shared_bytes = shared_bytes;
    }
    if (reader.at != len) {
        bad(&reader, "is longer than its tasks", UINT32_MAX);
        goto err;
    }
    *out_p = answer;
    return 0;
err:
    asps_answer_clear(&answer);
    errno = EPROTO;
    return -1;
}

void asps_answer_clear(struct asps_answer *answer)
{
    free(answer->tasks);
    answer->tasks = NULL;
    answer->ntasks = 0;
}

static const char *find_variable(const char *env, size_t bytes,
                                 const char *name)
{
    size_t len = strlen(name);

    for (size_t at = 0; at < bytes; at += strlen(env + at) + 1)
        if (strncmp(env + at, name, len) == 0 && env[at + len] == '=')
            return env + at + len + 1;
    return NULL;
}

const char *asps_answer_getenv(const struct asps_answer_task *task,
                               const char *name)
{
    const char *own = find_variable(task->env, task->env_bytes, name);

    return own != NULL ? own
                       : find_variable(task->shared, task->shared_bytes, name);
}
