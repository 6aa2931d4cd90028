/* SPDX-License-Identifier: BSD-3-Clause */
/* srun's options, its environment, sinfo and scontrol -> words for common/expand. */
#include "config.h"

#include "slurm.h"

#include "common/base/slurm_rules.h"
#include "common/base/words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODES_LIMIT_MS = 5000, /* as cli_filter.lua; a controller that is away */
    VERSION_LIMIT_MS = 5000,
    OUTPUT_BYTES = 65536,
    WORDS_MAX = 32, /* variables and what is known of nodes */
};

/* The variable that srun reads in place of an option. */
static const struct {
    const char *option, *name;
} variables[] = {
    /* of two, the second counts */
    {"ntasks", "SLURM_NPROCS"},
    {"ntasks", "SLURM_NTASKS"},
    {"nodes", "SLURM_JOB_NUM_NODES"},
    {"nodes", "SLURM_NNODES"},
    {"ntasks-per-node", "SLURM_NTASKS_PER_NODE"},
    {"cpus-per-task", "SLURM_CPUS_PER_TASK"}, /* ASP_SLURM_STEP_READS_CPUS */
    {"cpus-per-task", "SRUN_CPUS_PER_TASK"},
    {"distribution", "SLURM_DISTRIBUTION"},
    {"overcommit", "SLURM_OVERCOMMIT"},
    {"ntasks-per-gpu", "SLURM_NTASKS_PER_GPU"},
    {"ntasks-per-tres", "SLURM_NTASKS_PER_TRES"},
    {"threads-per-core", "SLURM_THREADS_PER_CORE"},
    {"hint", "SLURM_HINT"},
    {"exclusive", "SLURM_EXCLUSIVE"},
    {"exact", "SLURM_EXACT"},
    {"cpus-per-gpu", "SLURM_CPUS_PER_GPU"},
    {"gpus-per-task", "SLURM_GPUS_PER_TASK"},
    {"tres-per-task", "SLURM_TRES_PER_TASK"},
    {"container", "SLURM_CONTAINER"},
    {"container-id", "SLURM_CONTAINER_ID"},
};

__attribute__((format(printf, 2, 3))) static int add(
    struct aspt_slurm_words *words, const char *fmt, ...)
{
    va_list args;
    int rc;

    if (words->n == words->max)
        return -1;
    va_start(args, fmt);
    rc = vasprintf(&words->words[words->n], fmt, args);
    va_end(args);
    if (rc < 0)
        return -1;
    words->n++;
    return 0;
}

/* ---- options ----------------------------------------------------------------------- */

/* "24.11.5", which rules of counting depend on; "" where srun does not say. */
static void find_release(const char *srun, char *release, size_t size)
{
    static const char *const version[] = {"--version", NULL};
    char text[256];
    const char *number;
    int status;

    release[0] = '\0';
    if (aspt_child_output(srun, version, VERSION_LIMIT_MS, text, sizeof(text),
                          &status) < 0)
        return;
    number = strpbrk(text, "0123456789");
    if (number)
        snprintf(release, size, "%.*s", (int) strspn(number, "0123456789."),
                 number);
}

static uint32_t release_number(const char *release)
{
    uint32_t number = 0;

    return asp_slurm_release_parse(release, &number) == 0 ? number : 0;
}

/* A flag has no value, but words do. */
static const char *value_of(const struct aspt_srun_option *option)
{
    if (option->value)
        return option->value;
    return strcmp(option->name, "exclusive") == 0 ? "exclusive" : "set";
}

/* Options of the command line, each as it was given last. */
static int add_options(const struct aspt_srun *srun,
                       struct aspt_slurm_words *words)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < srun->noptions; i++) {
        const struct aspt_srun_option *option = &srun->options[i];

        if (aspt_srun_find(srun, option->name) == option)
            rc = add(words, "--%s=%s", option->name, value_of(option));
    }
    return rc;
}

static int add_variables(const struct aspt_srun *srun, uint32_t release,
                         struct aspt_slurm_words *words)
{
    bool reads_cpus = asp_slurm_has(release, ASP_SLURM_STEP_READS_CPUS);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(variables) / sizeof(variables[0]);
         i++) {
        const char *option = variables[i].option, *name = variables[i].name;
        const char *value = asp_variable(name);

        if (!value || aspt_srun_find(srun, option) ||
            (!reads_cpus && strcmp(name, "SLURM_CPUS_PER_TASK") == 0))
            continue;
        if (strcmp(option, "tres-per-task") == 0)
            rc = add(words, "tres-env=yes");
        if (rc == 0)
            rc = add(words, "%s=%s", option, value);
    }
    return rc;
}

static int add_counts(const struct aspt_srun *srun,
                      struct aspt_slurm_words *words)
{
    char release[32];
    int rc;

    find_release(srun->command, release, sizeof(release));
    rc = add(words, "type=srun");
    if (rc == 0)
        rc = add(words, "plugin=no");
    if (rc == 0 && release_number(release))
        rc = add(words, "slurm=%s", release);
    if (rc == 0)
        rc = add_options(srun, words);
    if (rc == 0)
        rc = add_variables(srun, release_number(release), words);
    if (rc == 0 && asp_variable("SLURM_HOSTFILE") &&
        !aspt_srun_find(srun, "nodelist"))
        rc = add(words, "distribution=arbitrary");
    return rc;
}

/* ---- nodes -------------------------------------------------------------------------- */

/* What the nodes of a partition are: CPUs of its most common kind, and of its
 * largest; all of them; threads of a core; do jobs get whole ones? */
struct nodes {
    unsigned typical, most, largest, threads;
    bool whole;
    char all[4096];
};

/* A line of sinfo. */
struct kind {
    char name[128]; /* of the partition; "*" at the end: the default one */
    unsigned count, cpus, sockets, cores;
    char share[64];
};

static void take_kind(const struct kind *kind, struct nodes *nodes)
{
    unsigned cores = kind->sockets * kind->cores;
    unsigned threads = cores ? kind->cpus / cores : 1;
    size_t used = strlen(nodes->all);

    if (kind->cpus > nodes->largest)
        nodes->largest = kind->cpus;
    if (threads > nodes->threads)
        nodes->threads = threads;
    nodes->whole = strcmp(kind->share, "EXCLUSIVE") == 0;
    snprintf(nodes->all + used, sizeof(nodes->all) - used, "%s%u(x%u)",
             used ? "," : "", kind->cpus, kind->count);
    if (kind->count > nodes->most) {
        nodes->most = kind->count;
        nodes->typical = kind->cpus;
    }
}

/* Do jobs of the partition get whole nodes, where sinfo does not say so? Of
 * several partitions the first stands for all. */
static bool gives_whole_nodes(const char *partition)
{
    char name[128], *text = malloc(OUTPUT_BYTES);
    const char *args[] = {"-o", "show", "partition", name, NULL};
    bool whole = false;
    int status;

    snprintf(name, sizeof(name), "%.*s", (int) strcspn(partition, ","),
             partition);
    if (text && aspt_child_output("scontrol", args, NODES_LIMIT_MS, text,
                                  OUTPUT_BYTES, &status) == 0)
        whole = status == 0 && strstr(text, " Exclusive=NODE ");
    free(text);
    return whole;
}

/* Ask for the partition, or for all and take the default one's lines.
 *   name  in: "", or as asked for; out: its name */
static void look_at_nodes(char name[128], struct nodes *out)
{
    const char *args[] = {
        "-h", "-e", "-o", "%P %D %c %X %Y %h", *name ? "-p" : NULL, name, NULL};
    bool asked = *name != '\0';
    char *text = malloc(OUTPUT_BYTES), *line, *save = NULL;
    struct kind kind;
    int status;

    *out = (struct nodes){.threads = 1};
    if (!text ||
        aspt_child_output("sinfo", args, NODES_LIMIT_MS, text, OUTPUT_BYTES,
                          &status) < 0 ||
        status != 0) {
        free(text);
        return;
    }
    for (line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        size_t len;

        if (sscanf(line, "%127s %u %u %u %u %63s", kind.name, &kind.count,
                   &kind.cpus, &kind.sockets, &kind.cores, kind.share) != 6)
            continue;
        len = strlen(kind.name);
        if (!asked && kind.name[len - 1] != '*')
            continue;
        if (!asked)
            snprintf(name, 128, "%.*s", (int) len - 1, kind.name);
        take_kind(&kind, out);
    }
    free(text);
    if (out->typical && !out->whole)
        out->whole = gives_whole_nodes(name);
}

/* For a job that srun makes. */
static int add_nodes(struct aspt_slurm_words *words)
{
    struct nodes nodes;

    look_at_nodes(words->partition, &nodes);
    if (!nodes.typical)
        return 0;
    return add(words, "node-cpus=%u", nodes.typical) < 0 ||
                   add(words, "max-cpus=%u", nodes.largest) < 0 ||
                   add(words, "part-cpus=%s", nodes.all) < 0 ||
                   add(words, "node-threads=%u", nodes.threads) < 0 ||
                   add(words, "whole-nodes=%s", nodes.whole ? "yes" : "no") < 0
               ? -1
               : 0;
}

/* For a step of an allocation. */
static int add_allocation(struct aspt_slurm_words *words)
{
    const char *cpus = asp_variable("SLURM_JOB_CPUS_PER_NODE");
    struct nodes nodes;

    look_at_nodes(words->partition, &nodes);
    if (asp_variable("SLURM_HINT") || asp_variable("SLURM_THREADS_PER_CORE"))
        if (add(words, "alloc-asked=yes") < 0)
            return -1;
    if (cpus && add(words, "alloc-cpus=%s", cpus) < 0)
        return -1;
    return add(words, "node-threads=%u", nodes.threads);
}

static const char *option_or(const struct aspt_srun *srun, const char *name,
                             const char *twin)
{
    const struct aspt_srun_option *option = aspt_srun_find(srun, name);

    return option && option->value ? option->value : asp_variable(twin);
}

static int fill(const struct aspt_srun *srun, struct aspt_slurm_words *words)
{
    bool allocated = asp_variable("SLURM_JOB_ID") != NULL;
    const char *partition = option_or(srun, "partition", "SLURM_PARTITION");

    if (allocated && asp_variable("SLURM_JOB_PARTITION"))
        partition = asp_variable("SLURM_JOB_PARTITION");
    snprintf(words->partition, sizeof(words->partition), "%s",
             partition ? partition : "");
    if (add_counts(srun, words) < 0 ||
        (allocated ? add_allocation(words) : add_nodes(words)) < 0)
        return -1;
    words->facts = (struct asp_facts){
        .partition = words->partition[0] ? words->partition : NULL,
        .account = allocated ? asp_variable("SLURM_JOB_ACCOUNT")
                             : option_or(srun, "account", "SLURM_ACCOUNT"),
        .qos = allocated ? asp_variable("SLURM_JOB_QOS")
                         : option_or(srun, "qos", "SLURM_QOS"),
        .program = srun->program[0],
    };
    return 0;
}

int aspt_slurm_describe(const struct aspt_srun *srun,
                        struct aspt_slurm_words *out_p, struct asp_err *err)
{
    *out_p = (struct aspt_slurm_words){.n = 0};
    /* One more, for the request. */
    out_p->max = WORDS_MAX + (int) srun->noptions;
    out_p->words = calloc((size_t) out_p->max + 1, sizeof(*out_p->words));
    if (!out_p->words || fill(srun, out_p) < 0)
        return asp_errf(err, ENOMEM, "out of memory");
    return 0;
}
