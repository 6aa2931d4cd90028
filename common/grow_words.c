/* SPDX-License-Identifier: BSD-3-Clause */
/* What cli_filter.lua says to `aspen explain --extra`, and the answer. */
#include "grow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A request with the memory for its list. */
struct words {
    struct asp_grow_request request;
    uint32_t *alloc_cpus; /* owned */
};

static int take_u32(const char *text, uint32_t *out_p)
{
    char *end;
    unsigned long value;

    if (*text < '0' || *text > '9')
        return -1;
    errno = 0;
    value = strtoul(text, &end, 10);
    if (errno || *end != '\0' || value > UINT32_MAX)
        return -1;
    *out_p = (uint32_t)value;
    return 0;
}

/* "2", "2-4", or "2-0" (no upper bound). */
static int take_nodes(const char *text, struct asp_grow_request *request)
{
    char first[16];
    const char *dash = strchr(text, '-');
    uint32_t min, max;

    if (dash == NULL) {
        if (take_u32(text, &min) < 0)
            return -1;
        max = min;
    } else {
        size_t len = (size_t)(dash - text);

        if (len >= sizeof(first))
            return -1;
        memcpy(first, text, len);
        first[len] = '\0';
        if (take_u32(first, &min) < 0 || take_u32(dash + 1, &max) < 0)
            return -1;
    }
    request->nodes_min = min;
    request->nodes_max = max ? max : min;
    return 0;
}

static int take_distribution(const char *text, struct asp_grow_request *request)
{
    request->dist = ASP_GROW_BLOCK;
    if (strncmp(text, "cyclic", 6) == 0)
        request->dist = ASP_GROW_CYCLIC;
    else if (strncmp(text, "arbitrary", 9) == 0)
        request->dist = ASP_GROW_ARBITRARY;
    else if (strncmp(text, "plane", 5) == 0) {
        request->dist = ASP_GROW_PLANE;
        if (text[5] != '=' || take_u32(text + 6, &request->plane_size) < 0)
            return -1;
    }
    return 0;
}

static int take_alloc(const char *text, struct words *words)
{
    uint32_t n;

    free(words->alloc_cpus);
    words->alloc_cpus = calloc(ASP_GROW_NODES_MAX, sizeof(*words->alloc_cpus));
    if (words->alloc_cpus == NULL)
        return -1;
    n = asp_grow_list_parse(text, words->alloc_cpus, ASP_GROW_NODES_MAX);
    words->request.alloc_cpus = words->alloc_cpus;
    words->request.alloc_nnodes = n;
    return n ? 0 : -1;
}

/* "ghost:2,..." Anything but ghosts needs no tasks. */
static int take_spec(const char *text, struct asp_grow_request *request)
{
    char count[8];
    size_t len;

    if (strncmp(text, "ghost", 5) != 0)
        return 0;
    text += 5;
    len = strcspn(text, ",");
    if (len == 0) {
        request->ghosts = 1;
        return 0;
    }
    if (text[0] != ':' || len > sizeof(count))
        return -1;
    memcpy(count, text + 1, len - 1);
    count[len - 1] = '\0';
    return take_u32(count, &request->ghosts);
}

static int take_word(const char *word, struct words *words)
{
    struct asp_grow_request *request = &words->request;
    const struct {
        const char *key;
        uint32_t *number;
    } numbers[] = {{"ntasks=", &request->ntasks},
                   {"ntasks-per-node=", &request->ntasks_per_node},
                   {"cpus-per-task=", &request->cpus_per_task},
                   {"node-cpus=", &request->node_cpus},
                   {"max-cpus=", &request->max_cpus},
                   {"mincpus=", &request->mincpus}};
    const char *value = strchr(word, '=');

    if (value == NULL)
        return -1;
    value++;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (strncmp(word, numbers[i].key, strlen(numbers[i].key)) == 0)
            return take_u32(value, numbers[i].number);
    if (strncmp(word, "nodes=", 6) == 0)
        return take_nodes(value, request);
    if (strncmp(word, "distribution=", 13) == 0)
        return take_distribution(value, request);
    if (strncmp(word, "alloc-cpus=", 11) == 0)
        return take_alloc(value, words);
    if (strncmp(word, "spec=", 5) == 0)
        return take_spec(value, request);
    if (strncmp(word, "nodelist=", 9) == 0) {
        request->nodelist_count = asp_grow_nodelist_count(value);
        return request->nodelist_count ? 0 : -1;
    }
    if (strncmp(word, "ntasks-per-gpu=", 15) == 0 ||
        strncmp(word, "ntasks-per-tres=", 16) == 0 ||
        strncmp(word, "extra-node-info=", 16) == 0)
        request->per_device = true;
    else if (strncmp(word, "overcommit=", 11) == 0)
        request->overcommit = strcmp(value, "unset") != 0;
    else if (strncmp(word, "multi-prog=", 11) == 0)
        request->multi_prog = strcmp(value, "unset") != 0;
    else
        return -1;
    return 0;
}

static int write_result(const struct asp_grow_request *request,
                        const struct asp_grow_result *result, char *buf,
                        size_t size)
{
    int n =
        snprintf(buf, size, "set ntasks %" PRIu32 "\nset nodes %" PRIu32 "\n",
                 result->tasks, result->nodes);
    size_t used = n > 0 ? (size_t)n : size;

    if (used < size && result->ntasks_per_node)
        used += (size_t)snprintf(buf + used, size - used,
                                 "set ntasks-per-node %" PRIu32 "\n",
                                 result->ntasks_per_node);
    if (used < size && result->mincpus)
        used += (size_t)snprintf(buf + used, size - used,
                                 "set mincpus %" PRIu32 "\n", result->mincpus);
    if (used < size && result->plane_size)
        used += (size_t)snprintf(buf + used, size - used,
                                 "set distribution plane=%" PRIu32 "\n",
                                 result->plane_size);
    if (used < size)
        used += (size_t)snprintf(buf + used, size - used,
                                 "grown users=%" PRIu32 " ghosts=%" PRIu32
                                 " nodes=%" PRIu32 " tasks=%" PRIu32
                                 " per_node=%" PRIu32 "\n",
                                 result->users, request->ghosts, result->nodes,
                                 result->tasks, result->ntasks_per_node);
    return used < size ? 0 : -1;
}

int asp_grow_words(int nwords, const char *const words[], char *buf,
                   size_t size, struct asp_err *err)
{
    struct words all = {.alloc_cpus = NULL};
    struct asp_grow_result result;
    struct asp_err why = {.text = ""};
    int rc = 0;

    if (size > 0)
        buf[0] = '\0';
    for (int i = 0; i < nwords && rc == 0; i++)
        if (take_word(words[i], &all) < 0)
            rc = asp_errf(err, EINVAL,
                          "explain --extra: \"%.80s\" is not "
                          "understood",
                          words[i]);
    if (rc < 0 || all.request.ghosts == 0)
        goto out;
    if (asp_grow(&all.request, &result, &why) == 0)
        rc = write_result(&all.request, &result, buf, size);
    else if (errno == ENOMEM)
        rc = asp_errf(err, ENOMEM, "%s", why.text);
    else if (snprintf(buf, size, "refuse %s\n", why.text) >= (int)size)
        rc = -1;
    if (rc < 0 && errno != ENOMEM)
        asp_errf(err, ENOSPC, "explain --extra: no room for the answer");
out:
    free(all.alloc_cpus);
    return rc;
}
