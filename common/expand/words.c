/* SPDX-License-Identifier: BSD-3-Clause */
/* What cli_filter.lua says to `aspen explain --extra`, and the answer. */
#include "expand.h"

#include "common/base/request_spec.h"
#include "common/base/strbuf.h"
#include "common/base/slurm_rules.h"
#include "common/base/taskmap.h"
#include "common/base/tres.h"
#include "common/base/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A request with the memory for its lists, and what other words must be known
 * for. */
struct words {
    struct asp_expand_request request;
    uint32_t *alloc_cpus; /* owned */
    uint32_t *part_cpus;  /* owned */
    const char *tres;     /* --tres-per-task, or its variable; or NULL */
    bool tres_env;
    bool offload;
    bool thread;
    bool exclusive;
    bool exclusive_job;
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
static int take_hint(const char *text, struct asp_expand_request *request)
{
    if (strcmp(text, "nomultithread") == 0 ||
        strcmp(text, "compute_bound") == 0 || strcmp(text, "memory_bound") == 0)
        request->threads_asked = 1;
    return 0;
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

/* A hint sets a number without end. */
static int take_per_part(const char *text, struct asp_expand_request *request)
{
    uint32_t number;

    request->per_part |= take_u32(text, &number) == 0 && number > 0 &&
                         number <= ASP_RANKS_MAX;
    return 0;
}

/* The stream of one task, by its number. */
static int take_stream(const char *text, struct asp_expand_request *request)
{
    uint32_t number;

    request->stream_of |= take_u32(text, &number) == 0 && number > 0;
    return 0;
}

static int take_nodelist(const char *text, struct asp_expand_request *request)
{
    request->nodelist_count = asp_expand_nodelist_count(text);
    return request->nodelist_count ? 0 : -1;
}

static int take_slurm(const char *text, struct asp_expand_request *request)
{
    return asp_slurm_release_parse(text, &request->slurm);
}

/* CPUs are as -c; all else is devices. */
static int take_tres(const char *text, struct words *words)
{
    bool others;

    words->tres = asp_tres_cpus(text, &others) ? text : NULL;
    words->request.device_each |= others;
    return 0;
}

/* Keys whose value is a number. */
static const struct {
    const char *key;
    size_t number; /* where, in a request */
} numbers[] = {
    {"ntasks", offsetof(struct asp_expand_request, ntasks)},
    {"ntasks-per-node", offsetof(struct asp_expand_request, ntasks_per_node)},
    {"cpus-per-task", offsetof(struct asp_expand_request, cpus_per_task)},
    {"node-cpus", offsetof(struct asp_expand_request, node_cpus)},
    {"max-cpus", offsetof(struct asp_expand_request, max_cpus)},
    {"mincpus", offsetof(struct asp_expand_request, mincpus)},
    {"node-threads", offsetof(struct asp_expand_request, threads)},
};

/* Keys that set a flag: with any value (""), with all but "unset" ("!unset"),
 * or with this one. */
static const struct {
    const char *key, *value;
    size_t flag; /* where, in struct words */
} flags[] = {
    {"ntasks-per-gpu", "", offsetof(struct words, request.per_device)},
    {"ntasks-per-tres", "", offsetof(struct words, request.per_device)},
    {"gpus-per-task", "", offsetof(struct words, request.device_each)},
    {"cpus-per-gpu", "", offsetof(struct words, request.per_gpu)},
    {"exact", "!unset", offsetof(struct words, request.exact)},
    {"overcommit", "!unset", offsetof(struct words, request.overcommit)},
    {"multi-prog", "!unset", offsetof(struct words, request.multi_prog)},
    {"container", "!unset", offsetof(struct words, request.container)},
    {"container-id", "!unset", offsetof(struct words, request.container)},
    {"type", "srun", offsetof(struct words, request.srun)},
    {"exclusive", "exclusive", offsetof(struct words, exclusive)},
    {"exclusive", "allocation", offsetof(struct words, exclusive_job)},
    {"alloc-asked", "yes", offsetof(struct words, request.alloc_asked)},
    {"whole-nodes", "yes", offsetof(struct words, request.whole_nodes)},
    {"tres-env", "yes", offsetof(struct words, tres_env)},
    {"plugin", "no", offsetof(struct words, request.no_plugin)},
};

/* Keys whose values have a form of their own. */
static const struct {
    const char *key;
    int (*take)(const char *value, struct asp_expand_request *request);
} forms[] = {
    {"nodes", take_nodes},
    {"nodelist", take_nodelist},
    {"distribution", take_distribution},
    {"had-cpus", take_had},
    {"threads-per-core", take_threads},
    {"extra-node-info", take_node_info},
    {"ntasks-per-socket", take_per_part},
    {"ntasks-per-core", take_per_part},
    {"hint", take_hint},
    {"input", take_stream},
    {"output", take_stream},
    {"error", take_stream},
    {"slurm", take_slurm},
};

#define SIZE(array) (sizeof(array) / sizeof((array)[0]))

static bool has_flag_value(const char *wanted, const char *value)
{
    return strcmp(wanted, "!unset") == 0
               ? strcmp(value, "unset") != 0
               : !wanted[0] || strcmp(wanted, value) == 0;
}

enum { NOT_KNOWN = 1 };

/* Returns 0; -1: the value is not understood; or NOT_KNOWN: the key is not. */
static int take_word(const char *word, struct words *words)
{
    struct asp_expand_request *request = &words->request;
    size_t len = strcspn(word, "=");
    const char *value = word + len + 1;
    bool known = false;

    if (word[len] != '=')
        return -1;
    for (size_t i = 0; i < SIZE(numbers); i++)
        if (asp_is_word(word, len, numbers[i].key))
            return take_u32(value, (uint32_t *) (void *) ((char *) request +
                                                          numbers[i].number));
    for (size_t i = 0; i < SIZE(flags); i++)
        if (asp_is_word(word, len, flags[i].key)) {
            *(bool *) ((char *) words +
                       flags[i].flag) |= has_flag_value(flags[i].value, value);
            known = true;
        }
    if (known)
        return 0;
    for (size_t i = 0; i < SIZE(forms); i++)
        if (asp_is_word(word, len, forms[i].key))
            return forms[i].take(value, request);
    if (asp_is_word(word, len, "alloc-cpus"))
        return take_list(value, &words->alloc_cpus, &request->alloc_cpus,
                         &request->alloc_nnodes);
    if (asp_is_word(word, len, "part-cpus"))
        return take_list(value, &words->part_cpus, &request->part_cpus,
                         &request->part_nnodes);
    if (asp_is_word(word, len, "tres-per-task"))
        return take_tres(value, words);
    return asp_is_word(word, len, "spec") ? take_spec(value, words) : NOT_KNOWN;
}

/* Of the options that the user gave, those count that are known here. */
static bool takes(const char *word, struct words *words)
{
    const char *option = asp_after(word, "--");
    int rc = take_word(option ? option : word, words);

    return rc == 0 || (rc == NOT_KNOWN && option);
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

/* --exclusive of srun counts CPUs; that of sbatch and salloc takes nodes, and
 * so does srun's --exclusive=allocation (26.05) where it makes the job. */
static void apply_exclusive(struct words *words)
{
    struct asp_expand_request *request = &words->request;

    request->exclusive = words->exclusive && request->alloc_cpus == NULL;
    if (words->exclusive && request->srun)
        request->exact = true;
    else if (words->exclusive)
        request->whole_nodes = true;
    if (words->exclusive_job && request->alloc_cpus == NULL)
        request->whole_nodes = true;
}

/* --tres-per-task=cpu=N is -c N under a name that cannot be set beside -c. In
 * the environment it only repeats the -c of the allocation. */
static void apply_tres(struct words *words)
{
    struct asp_expand_request *request = &words->request;
    bool others;

    if (words->tres == NULL)
        return;
    if (request->cpus_per_task == 0)
        request->cpus_per_task = asp_tres_cpus(words->tres, &others);
    request->tres_cpus = !words->tres_env;
}

/* A new -c, and the same in the copy that srun holds it against. */
static void write_cpus(const struct words *words, uint32_t cpus,
                       struct asp_strbuf *out)
{
    char text[1024];

    write_set(out, "cpus-per-task", cpus);
    if (cpus && words->tres &&
        asp_tres_set_cpus(words->tres, cpus, text, sizeof(text)) > 0)
        asp_strbuf_add(out, "set tres-per-task %s\n", text);
}

static void answer_offload(const struct words *words, struct asp_strbuf *out)
{
    struct asp_expand_cpus cpus;

    asp_expand_cpus(&words->request, &cpus);
    write_cpus(words, cpus.cpus_per_task, out);
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
    write_set(out, "cpus-per-task", service.cpus_per_task);
    write_set(out, "ntasks", service.ntasks);
    write_set(out, "nodes", service.nodes);
    if (service.cpus_per_task)
        asp_strbuf_add(out, "cpus user=0 total=%" PRIu32 "\n",
                       service.cpus_per_task);
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
        if (!takes(words[i], &all))
            rc = asp_errf(err, EINVAL, "\"%.80s\" is not understood", words[i]);
    if (rc < 0 || (all.request.ghosts == 0 && !all.offload && !all.thread))
        goto free;
    apply_exclusive(&all);
    apply_tres(&all);
    if (all.offload)
        answer_offload(&all, &out);
    else if (all.thread)
        answer_thread(&all.request, &out);
    else
        rc = answer_ghosts(&all.request, &out, err);
    if (rc == 0 && out.cut)
        rc = asp_errf(err, ENOSPC, "no room for the answer");
free:
    free(all.alloc_cpus);
    free(all.part_cpus);
    return rc;
}
