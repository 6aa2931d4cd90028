/* SPDX-License-Identifier: BSD-3-Clause */
/* What cli_filter.lua says to `aspen explain --extra`, and the answer. */
#include "expand.h"

#include "common/base/request_spec.h"
#include "common/base/strbuf.h"
#include "common/base/taskmap.h"
#include "common/base/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A request with the memory for its lists, and what other words must be known
 * for. */
struct words {
    struct asp_expand_request request;
    uint32_t *alloc_cpus; /* owned */
    uint32_t *part_cpus;  /* owned */
    bool offload;
    bool thread;
    bool exclusive;
};

static int take_u32(const char *text, uint32_t *out_p)
{
    return asp_parse_number(text, UINT32_MAX, out_p);
}

/* "2", "2-4", or "2-0" (no upper bound). */
static int take_nodes(const char *text, struct asp_expand_request *request)
{
    uint32_t min, max;

    if (asp_take_number(&text, UINT32_MAX, &min) < 0)
        return -1;
    max = min;
    if (*text == '-' ? take_u32(text + 1, &max) < 0 : *text != '\0')
        return -1;
    request->nodes_min = min;
    request->nodes_max = max ? max : min;
    return 0;
}

static int take_distribution(const char *text,
                             struct asp_expand_request *request)
{
    request->dist = ASP_EXPAND_BLOCK;
    if (strncmp(text, "cyclic", 6) == 0)
        request->dist = ASP_EXPAND_CYCLIC;
    else if (strncmp(text, "arbitrary", 9) == 0)
        request->dist = ASP_EXPAND_ARBITRARY;
    else if (strncmp(text, "plane", 5) == 0) {
        request->dist = ASP_EXPAND_PLANE;
        if (text[5] != '=' || take_u32(text + 6, &request->plane_size) < 0)
            return -1;
    }
    return 0;
}

/* CPUs by node, "4(x2)". */
static int take_list(const char *text, uint32_t **list_p,
                     const uint32_t **values_p, uint32_t *n_p)
{
    int n;

    free(*list_p);
    *list_p = calloc(ASP_NODES_MAX, sizeof(**list_p));
    if (*list_p == NULL)
        return -1;
    *values_p = *list_p;
    n = asp_counts_parse(text, 0, ASP_RANKS_MAX, *list_p, ASP_NODES_MAX);
    *n_p = n > 0 ? (uint32_t) n : 0;
    return *n_p ? 0 : -1;
}

/* Threads of a core: the number of --threads-per-core, or the third of -B. */
static int take_threads(const char *text, struct asp_expand_request *request)
{
    return *text < '0' || *text > '9' ? 0 /* "unset", "*": all */
                                      : take_u32(text, &request->threads_asked);
}

static int take_node_info(const char *text, struct asp_expand_request *request)
{
    const char *cores = strchr(text, ':');
    const char *threads = cores ? strchr(cores + 1, ':') : NULL;

    request->node_info = true;
    return threads ? take_threads(threads + 1, request) : 0;
}

/* All hints but one mean one thread on each core. */
static void take_hint(const char *text, struct asp_expand_request *request)
{
    if (strcmp(text, "nomultithread") == 0 ||
        strcmp(text, "compute_bound") == 0 || strcmp(text, "memory_bound") == 0)
        request->threads_asked = 1;
}

/* "4+5": what the allocation was grown from, and to. */
static int take_had(const char *text, struct asp_expand_request *request)
{
    return asp_take_number(&text, UINT32_MAX, &request->had_user) < 0 ||
                   *text != '+'
               ? -1
               : take_u32(text + 1, &request->had_total);
}

/* The number of thread.service_cores; 1 where it is not said. */
static int take_service(const char *spec, uint32_t *out_p)
{
    struct asp_spec_item item;

    *out_p = 1;
    while (asp_spec_next(&spec, &item))
        if (asp_is_word(item.key, item.key_len, "thread.service_cores"))
            return item.value == NULL ||
                           asp_take_number(&item.value, UINT32_MAX, out_p) <
                               0 ||
                           (*item.value != ',' && *item.value != '\0')
                       ? -1
                       : 0;
    return 0;
}

/* "ghost:2,..." needs tasks, "offload,..." and "thread,..." CPUs. */
static int take_spec(const char *text, struct words *words)
{
    struct asp_expand_request *request = &words->request;
    struct asp_request_spec spec;

    if (asp_request_spec_parse(text, &spec) < 0)
        return -1;
    words->offload = strcmp(spec.mode, "offload") == 0;
    words->thread = strcmp(spec.mode, "thread") == 0;
    request->ghosts = spec.ghosts;
    request->sibling = asp_spec_says(text, "placement.smt", "use");
    request->share = asp_spec_says(text, "placement.share", "yes");
    return words->thread ? take_service(text, &request->service) : 0;
}

static int take_word(const char *word, struct words *words)
{
    struct asp_expand_request *request = &words->request;
    const struct {
        const char *key;
        uint32_t *number;
    } numbers[] = {{"ntasks=", &request->ntasks},
                   {"ntasks-per-node=", &request->ntasks_per_node},
                   {"cpus-per-task=", &request->cpus_per_task},
                   {"node-cpus=", &request->node_cpus},
                   {"max-cpus=", &request->max_cpus},
                   {"mincpus=", &request->mincpus},
                   {"node-threads=", &request->threads}};
    const char *value = strchr(word, '=');
    uint32_t number;

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
        return take_list(value, &words->alloc_cpus, &request->alloc_cpus,
                         &request->alloc_nnodes);
    if (strncmp(word, "part-cpus=", 10) == 0)
        return take_list(value, &words->part_cpus, &request->part_cpus,
                         &request->part_nnodes);
    if (strncmp(word, "spec=", 5) == 0)
        return take_spec(value, words);
    if (strncmp(word, "had-cpus=", 9) == 0)
        return take_had(value, request);
    if (strncmp(word, "threads-per-core=", 17) == 0)
        return take_threads(value, request);
    if (strncmp(word, "extra-node-info=", 16) == 0)
        return take_node_info(value, request);
    if (strncmp(word, "nodelist=", 9) == 0) {
        request->nodelist_count = asp_expand_nodelist_count(value);
        return request->nodelist_count ? 0 : -1;
    }
    if (strncmp(word, "ntasks-per-gpu=", 15) == 0 ||
        strncmp(word, "ntasks-per-tres=", 16) == 0)
        request->per_device = true;
    else if (strncmp(word, "gpus-per-task=", 14) == 0 ||
             strncmp(word, "tres-per-task=", 14) == 0)
        request->device_each = true;
    else if (strncmp(word, "ntasks-per-socket=", 18) == 0 ||
             strncmp(word, "ntasks-per-core=", 16) == 0)
        /* A hint sets a number without end. */
        request->per_part = request->per_part ||
                            (take_u32(value, &number) == 0 && number > 0 &&
                             number <= ASP_RANKS_MAX);
    else if (strncmp(word, "cpus-per-gpu=", 13) == 0)
        request->per_gpu = true;
    else if (strncmp(word, "hint=", 5) == 0)
        take_hint(value, request);
    else if (strncmp(word, "type=", 5) == 0)
        request->srun = strcmp(value, "srun") == 0;
    else if (strncmp(word, "exclusive=", 10) == 0)
        words->exclusive = strcmp(value, "exclusive") == 0;
    else if (strncmp(word, "exact=", 6) == 0)
        request->exact = strcmp(value, "unset") != 0;
    else if (strncmp(word, "alloc-asked=", 12) == 0)
        request->alloc_asked = strcmp(value, "yes") == 0;
    else if (strncmp(word, "whole-nodes=", 12) == 0)
        request->whole_nodes = strcmp(value, "yes") == 0;
    else if (strncmp(word, "overcommit=", 11) == 0)
        request->overcommit = strcmp(value, "unset") != 0;
    else if (strncmp(word, "multi-prog=", 11) == 0)
        request->multi_prog = strcmp(value, "unset") != 0;
    else if (strncmp(word, "input=", 6) == 0 ||
             strncmp(word, "output=", 7) == 0 ||
             strncmp(word, "error=", 6) == 0)
        request->stream_of |= take_u32(value, &number) == 0 && number > 0;
    else if (strncmp(word, "container=", 10) == 0 ||
             strncmp(word, "container-id=", 13) == 0)
        request->container = strcmp(value, "unset") != 0;
    else
        return -1;
    return 0;
}

/* "set OPTION VALUE", where there is one. */
static void write_set(struct asp_strbuf *out, const char *option,
                      uint32_t value)
{
    if (value)
        asp_strbuf_add(out, "set %s %" PRIu32 "\n", option, value);
}

static void write_result(const struct asp_expand_request *request,
                         const struct asp_expand_result *result,
                         struct asp_strbuf *out)
{
    asp_strbuf_add(out, "set ntasks %" PRIu32 "\nset nodes %" PRIu32 "\n",
                   result->tasks, result->nodes);
    write_set(out, "ntasks-per-node", result->ntasks_per_node);
    write_set(out, "mincpus", result->mincpus);
    if (result->plane_size)
        asp_strbuf_add(out, "set distribution plane=%" PRIu32 "\n",
                       result->plane_size);
    if (result->block)
        asp_strbuf_add(out, "set distribution block\n");
    asp_strbuf_add(out,
                   "grown users=%" PRIu32 " ghosts=%" PRIu32 " nodes=%" PRIu32
                   " tasks=%" PRIu32 " per_node=%" PRIu32,
                   result->users, request->ghosts, result->nodes, result->tasks,
                   result->ntasks_per_node);
    if (result->plane_size)
        asp_strbuf_add(out, " plane=%" PRIu32, request->plane_size);
    asp_strbuf_add(out, "\n");
}

/* --exclusive of srun counts CPUs; that of sbatch and salloc takes nodes. */
static void heed_exclusive(struct words *words)
{
    struct asp_expand_request *request = &words->request;

    if (words->exclusive && request->srun)
        request->exact = true;
    else if (words->exclusive)
        request->whole_nodes = true;
}

static void answer_offload(const struct asp_expand_request *request,
                           struct asp_strbuf *out)
{
    struct asp_expand_cpus cpus;

    asp_expand_cpus(request, &cpus);
    write_set(out, "cpus-per-task", cpus.cpus_per_task);
    write_set(out, "ntasks", cpus.ntasks);
    write_set(out, "nodes", cpus.nodes);
    if (cpus.total)
        asp_strbuf_add(out, "cpus user=%" PRIu32 " total=%" PRIu32 "\n",
                       cpus.user, cpus.total);
}

static void answer_thread(const struct asp_expand_request *request,
                          struct asp_strbuf *out)
{
    struct asp_expand_service service;

    asp_expand_service(request, &service);
    write_set(out, "mincpus", service.mincpus);
    write_set(out, "nodes", service.nodes);
}

static int answer_ghosts(const struct asp_expand_request *request,
                         struct asp_strbuf *out, struct asp_err *err)
{
    struct asp_expand_result result;
    struct asp_err why = {.text = ""};

    if (asp_expand_tasks(request, &result, &why) == 0)
        write_result(request, &result, out);
    else if (errno == ENOMEM)
        return asp_errf(err, ENOMEM, "%s", why.text);
    else
        asp_strbuf_add(out, "refuse %s\n", why.text);
    return 0;
}

int asp_expand_words(int nwords, const char *const words[], char *buf,
                     size_t size, struct asp_err *err)
{
    struct words all = {.alloc_cpus = NULL};
    struct asp_strbuf out = asp_strbuf_on(buf, size);
    int rc = 0;

    for (int i = 0; i < nwords && rc == 0; i++)
        if (take_word(words[i], &all) < 0)
            rc = asp_errf(err, EINVAL,
                          "explain --extra: \"%.80s\" is not "
                          "understood",
                          words[i]);
    if (rc < 0 || (all.request.ghosts == 0 && !all.offload && !all.thread))
        goto free;
    heed_exclusive(&all);
    if (all.offload)
        answer_offload(&all.request, &out);
    else if (all.thread)
        answer_thread(&all.request, &out);
    else
        rc = answer_ghosts(&all.request, &out, err);
    if (rc == 0 && out.cut)
        rc = asp_errf(err, ENOSPC, "explain --extra: no room for the answer");
free:
    free(all.alloc_cpus);
    free(all.part_cpus);
    return rc;
}
