/* SPDX-License-Identifier: BSD-3-Clause */
/* aspen-agent --explain: what the plugin would get for a request, as text.
 * Tests read it, so its lines keep their form:
 *
 *   layout aspen-layout/1 ...
 *   status ok|plain|refuse
 *   message TEXT                  (when there is one)
 *   task 0 user bind 0-3          (or "bind none")
 *   env 0 NAME=VALUE              (not ASPEN_LAYOUT, which is above)
 *   ready                         (with --serve: the server runs)
 */
#include "config.h"

#include "explain.h"
#include "publish.h"
#include "request.h"
#include "resolve.h"
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_TIMEOUT_MS = 10000 };

static int print_err(const struct asp_err *err)
{
    char text[ASP_ERR_TEXT_MAX + ASP_ERR_PLACE_MAX];

    fprintf(stderr, "aspen-agent: %s\n",
            asp_err_print(err, text, sizeof(text)));
    return 1;
}

static void print_env(uint32_t p, const char *env, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += strlen(env + at) + 1)
        if (strncmp(env + at, "ASPEN_LAYOUT=", 13) != 0)
            printf("env %u %s\n", (unsigned) p, env + at);
}

static void print_task(uint32_t p, const struct asp_answer_task *task)
{
    char list[4096] = "none";
    struct asp_cpuset cpus;

    memcpy(cpus.word, task->cpus, sizeof(cpus.word));
    if (task->bind != 0)
        asp_cpuset_print(&cpus, list, sizeof(list));
    printf("task %u %s bind %s\n", (unsigned) p,
           task->role != 0 ? "ghost" : "user", list);
}

/* The bytes the plugin would read, in words. */
static void print_answer(const struct aspa_answer *answer)
{
    static const char *const names[] = {"ok", "plain", "refuse"};
    const char *shared = answer->bytes + sizeof(struct asp_answer);
    struct asp_answer head;
    size_t at;

    memcpy(&head, answer->bytes, sizeof(head));
    at = sizeof(head) + head.shared_bytes;
    printf("status %s\n", names[head.status]);
    if (head.message[0] != '\0')
        printf("message %s\n", head.message);
    for (uint32_t p = 0; p < head.ntasks; p++) {
        struct asp_answer_task task;

        memcpy(&task, answer->bytes + at, sizeof(task));
        at += sizeof(task);
        print_task(p, &task);
        print_env(p, shared, head.shared_bytes);
        print_env(p, answer->bytes + at, task.env_bytes);
        at += task.env_bytes;
    }
}

static int read_request(const char *file, struct aspa_request *request,
                        struct asp_err *err)
{
    int fd = STDIN_FILENO;
    char *text = NULL;
    int rc;

    if (file != NULL)
        fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return asp_errf(err, errno, "cannot open %.200s: %m", file);
    rc = aspa_request_read(fd, READ_TIMEOUT_MS, &text, err);
    if (fd != STDIN_FILENO)
        close(fd);
    if (rc == 0 && (rc = aspa_request_parse(text, request, err)) < 0)
        free(text);
    return rc;
}

static void serve_until_eof(void)
{
    char junk[256];

    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, junk, sizeof(junk)) > 0)
        ;
    aspa_serve_stop();
}

int aspa_explain(const char *file, const char *serve_dir)
{
    struct aspa_request request = {0};
    struct aspa_answer answer = {0};
    struct asp_node_plan plan = {0};
    struct asp_err err = {0};
    int status = 0;

    if (read_request(file, &request, &err) < 0)
        return print_err(&err);
    if (aspa_resolve(&request, &plan, &err) < 0) {
        struct asp_err why = err;

        status = print_err(&err);
        if (aspa_publish_failure(&answer, plan.require, &why, &err) == 0)
            print_answer(&answer);
    } else if (aspa_publish(&plan, serve_dir, &answer, &err) < 0) {
        status = print_err(&err);
    } else {
        printf("layout %s\n", plan.text);
        print_answer(&answer);
        if (serve_dir != NULL)
            serve_until_eof();
    }
    aspa_answer_clear(&answer);
    asp_node_plan_clear(&plan);
    aspa_request_clear(&request);
    return status;
}
