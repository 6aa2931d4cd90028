/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and parsing the plugin's request. Called once by main.c. */
#include "config.h"

#include "request.h"

#include "common/base/clock.h"
#include "common/base/words.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { KIND_TEXT, KIND_NUMBER, KIND_RANKS };

/* One row per key of the wire form; the only place a key is named. */
struct key {
    const char *name;
    enum kind kind;
    size_t offset;
    uint32_t max; /* text: bytes; number: value */
    bool needed;
};

#define FIELD(name) offsetof(struct aspa_request, name)

static const struct key keys[] = {
    {"version", KIND_NUMBER, FIELD(version), UINT32_MAX, true},
    {"job", KIND_TEXT, FIELD(job), ASP_NAME_MAX - 1, true},
    {"uid", KIND_NUMBER, FIELD(uid), UINT32_MAX - 1, true},
    {"nnodes", KIND_NUMBER, FIELD(nnodes), ASP_NODES_MAX, true},
    {"node", KIND_NUMBER, FIELD(node), ASP_NODES_MAX - 1, true},
    {"nodename", KIND_TEXT, FIELD(nodename), ASP_NAME_MAX - 1, false},
    {"ntasks", KIND_NUMBER, FIELD(ntasks), ASP_RANKS_MAX, true},
    {"local", KIND_NUMBER, FIELD(nlocal), ASP_TASKS_MAX, true},
    {"ranks", KIND_RANKS, FIELD(ranks), ASP_RANKS_MAX - 1, true},
    {"tasks_per_node", KIND_TEXT, FIELD(tasks_per_node), 16384, true},
    {"distribution", KIND_TEXT, FIELD(distribution), 64, false},
    {"plane_size", KIND_NUMBER, FIELD(plane_size), ASP_RANKS_MAX, false},
    {"nodelist", KIND_TEXT, FIELD(nodelist), 32768, false},
    {"step_cpus", KIND_TEXT, FIELD(step_cpus), 8192, false},
    {"step_cores", KIND_TEXT, FIELD(step_cores), 8192, false},
    {"cpu_bind", KIND_TEXT, FIELD(cpu_bind), 64, false},
    {"threads_per_core", KIND_TEXT, FIELD(threads_per_core), 5, false},
    {"spec", KIND_TEXT, FIELD(spec), 8192, true},
    {"site_policy", KIND_TEXT, FIELD(site_policy), 4095, false},
    {"partition", KIND_TEXT, FIELD(partition), 255, false},
    {"account", KIND_TEXT, FIELD(account), 255, false},
    {"qos", KIND_TEXT, FIELD(qos), 255, false},
    {"user", KIND_TEXT, FIELD(user), 255, false},
    {"program", KIND_TEXT, FIELD(program), 4095, false},
    {"cpus_grown", KIND_NUMBER, FIELD(cpus_grown), 1, false},
    {"prefix", KIND_TEXT, FIELD(prefix), 4095, false},
    {"timeout_ms", KIND_NUMBER, FIELD(timeout_ms), 600000, false},
};

enum { NKEYS = sizeof(keys) / sizeof(keys[0]) };

/* Does text hold a whole request: a line "end"? */
static bool is_complete(const char *text)
{
    const char *end = strstr(text, "\nend\n");

    return end != NULL || strncmp(text, "end\n", 4) == 0;
}

/* Wait for more and read it. Returns bytes, 0 at end of file, -1 and errno. */
static ssize_t read_some(int fd, char *buf, size_t size, long long deadline_ms)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    ssize_t got;
    int ready;

    do {
        long long left = deadline_ms - asp_now_ms();

        ready = poll(&wait, 1, left > 0 ? (int) left : 0);
    } while (ready < 0 && errno == EINTR);
    if (ready < 0)
        return -1;
    if (ready == 0) {
        errno = ETIMEDOUT;
        return -1;
    }
    do
        got = read(fd, buf, size);
    while (got < 0 && errno == EINTR);
    return got;
}

int aspa_request_read(int fd, int timeout_ms, char **text_p,
                      struct asp_err *err)
{
    long long deadline_ms = asp_now_ms() + timeout_ms;
    char *text = malloc(ASP_REQUEST_MAX + 1);
    size_t used = 0;

    if (text == NULL)
        return asp_errf(err, ENOMEM, "out of memory for the request");
    for (;;) {
        ssize_t got;

        if (used == ASP_REQUEST_MAX) {
            asp_errf(err, EMSGSIZE, "request longer than %d bytes",
                     ASP_REQUEST_MAX);
            break;
        }
        got = read_some(fd, text + used, ASP_REQUEST_MAX - used, deadline_ms);
        if (got < 0) {
            asp_errf(err, errno, "cannot read the request: %m");
            break;
        }
        if (got == 0) {
            asp_errf(err, EPIPE, "request ends before its \"end\" line");
            break;
        }
        if (memchr(text + used, '\0', (size_t) got) != NULL) {
            asp_errf(err, EINVAL, "request holds a NUL byte");
            break;
        }
        used += (size_t) got;
        text[used] = '\0';
        if (is_complete(text)) {
            *text_p = text;
            return 0;
        }
    }
    free(text);
    return -1;
}

static int parse_ranks(const char *text, uint32_t max,
                       struct aspa_request *request)
{
    uint32_t n = 0;

    for (;;) {
        if (n == ASP_TASKS_MAX ||
            asp_take_number(&text, max, &request->ranks[n]) < 0)
            return -1;
        n++;
        if (*text == '\0')
            break;
        if (*text++ != ',')
            return -1;
    }
    request->nranks = n;
    return 0;
}

static int parse_value(const struct key *key, char *value,
                       struct aspa_request *request)
{
    void *field = (char *) request + key->offset;
    const char *text = value;

    switch (key->kind) {
    case KIND_TEXT:
        if (strlen(value) > key->max)
            return -1;
        memcpy(field, &text, sizeof(text));
        return 0;
    case KIND_NUMBER:
        if (asp_parse_number(text, key->max, field) < 0)
            return -1;
        return 0;
    case KIND_RANKS:
        return parse_ranks(text, key->max, request);
    }
    return -1;
}

static int parse_line(char *line, size_t nline, struct aspa_request *request,
                      bool *seen, struct asp_err *err)
{
    const struct asp_location at = {"request", nline, 0};
    char *value = strchr(line, ' ');
    size_t i;

    if (value != NULL)
        *value++ = '\0';
    else
        value = line + strlen(line);
    for (i = 0; i < NKEYS; i++)
        if (strcmp(keys[i].name, line) == 0)
            break;
    if (i == NKEYS)
        return asp_err_at(err, EINVAL, &at, "unknown key \"%.40s\"", line);
    if (seen[i])
        return asp_err_at(err, EINVAL, &at, "key \"%s\" twice", line);
    seen[i] = true;
    if (parse_value(&keys[i], value, request) < 0)
        return asp_err_at(err, EINVAL, &at, "bad value \"%.60s\" for %s", value,
                          line);
    return 0;
}

/* The job's name becomes part of a directory name and of a PMIx namespace. */
static bool is_job_name(const char *job)
{
    return job[0] != '\0' && job[0] != '.' &&
           strspn(job, "0123456789abcdefghijklmnopqrstuvwxyz"
                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ._+-") == strlen(job);
}

/* What no single value shows. */
static int check_whole(const struct aspa_request *request, struct asp_err *err)
{
    if (request->version != ASP_WIRE_VERSION)
        return asp_errf(err, EPROTO,
                        "request is version %u and this agent speaks %d: "
                        "plugin and agent come from different installations",
                        (unsigned) request->version, ASP_WIRE_VERSION);
    if (!is_job_name(request->job))
        return asp_errf(err, EINVAL, "request has job \"%.60s\"", request->job);
    if (request->nlocal == 0 || request->nranks != request->nlocal)
        return asp_errf(err, EINVAL, "request has %u ranks for %u local tasks",
                        (unsigned) request->nranks, (unsigned) request->nlocal);
    if (request->node >= request->nnodes)
        return asp_errf(err, EINVAL, "request is for node %u of %u",
                        (unsigned) request->node, (unsigned) request->nnodes);
    for (uint32_t i = 0; i < request->nranks; i++) {
        if (request->ranks[i] >= request->ntasks)
            return asp_errf(err, EINVAL, "request has rank %u of %u",
                            (unsigned) request->ranks[i],
                            (unsigned) request->ntasks);
        if (i > 0 && request->ranks[i] <= request->ranks[i - 1])
            return asp_errf(err, EINVAL, "request's ranks do not ascend");
    }
    return 0;
}

static void set_defaults(struct aspa_request *request)
{
    const char *empty = "";

    memset(request, 0, sizeof(*request));
    for (size_t i = 0; i < NKEYS; i++)
        if (keys[i].kind == KIND_TEXT)
            memcpy((char *) request + keys[i].offset, &empty, sizeof(empty));
}

int aspa_request_parse(char *text, struct aspa_request *out_p,
                       struct asp_err *err)
{
    bool seen[NKEYS] = {false};
    size_t nline = 0;
    char *next = NULL;

    set_defaults(out_p);
    for (char *line = text;; line = next) {
        next = strchr(line, '\n');
        if (next == NULL)
            return asp_errf(err, EINVAL, "request has no \"end\" line");
        *next++ = '\0';
        nline++;
        if (strcmp(line, "end") == 0)
            break;
        if (parse_line(line, nline, out_p, seen, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < NKEYS; i++)
        if (keys[i].needed && !seen[i])
            return asp_errf(err, EINVAL, "request lacks \"%s\"", keys[i].name);
    if (check_whole(out_p, err) < 0)
        return -1;
    out_p->text = text;
    return 0;
}

void aspa_request_clear(struct aspa_request *request)
{
    if (request == NULL)
        return;
    free(request->text);
    set_defaults(request);
}
