/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by stepd.c once per node and step. Everything that comes from the
 * step's environment is copied as text for the agent to judge; a value that
 * would break the form of the request is left out. */
#include "config.h"

#include "request.h"

#include "common/agent_wire.h"
#include "common/base/strbuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 16384, NODES_MAX = 32768, NAME_MAX_BYTES = 256 };

static void put_text(struct asp_strbuf *out, const char *key, const char *value,
                     size_t max)
{
    if (strlen(value) > max)
        return;
    for (const char *c = value; *c; c++)
        if ((unsigned char) *c < ' ' || *c == 127)
            return;
    asp_strbuf_add(out, "%s %s\n", key, value);
}

/* A variable of the step's environment; absent or too long: nothing. */
static void put_env(struct asp_strbuf *out, spank_t spank, const char *key,
                    const char *name, size_t max)
{
    char *value = malloc(max + 1);

    if (value != NULL &&
        spank_getenv(spank, name, value, (int) max + 1) == ESPANK_SUCCESS)
        put_text(out, key, value, max);
    free(value);
}

static void put_program(struct asp_strbuf *out, spank_t spank)
{
    char **argv = NULL;
    int argc = 0;

    if (spank_get_item(spank, S_JOB_ARGV, &argc, &argv) == ESPANK_SUCCESS &&
        argc > 0 && argv != NULL && argv[0] != NULL)
        put_text(out, "program", argv[0], 4095);
}

/* Slurm's own numbers of cores: which CPUs those are is for the agent. */
static void put_cores(struct asp_strbuf *out, spank_t spank)
{
    char *cores = NULL;

    if (spank_get_item(spank, S_STEP_ALLOC_CORES, &cores) == ESPANK_SUCCESS &&
        cores != NULL && *cores != '\0')
        put_text(out, "step_cores", cores, 8191);
}

int asps_request_tasks_per_node(spank_t spank, const struct asps_step *step,
                                char *buf, size_t size)
{
    if (spank_getenv(spank, "SLURM_STEP_TASKS_PER_NODE", buf, (int) size) ==
            ESPANK_SUCCESS ||
        spank_getenv(spank, "SLURM_TASKS_PER_NODE", buf, (int) size) ==
            ESPANK_SUCCESS)
        return 0;
    if (step->nnodes != 1)
        return -1;
    snprintf(buf, size, "%" PRIu32, step->nlocal);
    return 0;
}

static void put_counts(struct asp_strbuf *out, spank_t spank,
                       const struct asps_step *step)
{
    char *list = malloc(LIST_MAX);

    asp_strbuf_add(out, "nnodes %" PRIu32 "\nnode %" PRIu32 "\n", step->nnodes,
                   step->node);
    asp_strbuf_add(out, "ntasks %" PRIu32 "\nlocal %" PRIu32 "\nranks ",
                   step->ntasks, step->nlocal);
    for (uint32_t i = 0; i < step->nlocal; i++)
        asp_strbuf_add(out, "%s%" PRIu32, i ? "," : "", step->ranks_world[i]);
    asp_strbuf_add(out, "\n");
    if (list != NULL &&
        asps_request_tasks_per_node(spank, step, list, LIST_MAX) == 0)
        put_text(out, "tasks_per_node", list, LIST_MAX - 1);
    free(list);
}

int asps_request_write(spank_t spank, const struct asps_step *step, uid_t uid,
                       char *buf, size_t size)
{
    struct asp_strbuf out = asp_strbuf_on(buf, size);

    asp_strbuf_add(&out, "version %d\njob %" PRIu32 ".%" PRIu32 "\nuid %u\n",
                   ASP_WIRE_VERSION, step->job, step->id, (unsigned) uid);
    put_text(&out, "nodename", step->nodename, sizeof(step->nodename));
    put_counts(&out, spank, step);
    put_env(&out, spank, "distribution", "SLURM_DISTRIBUTION", 64);
    put_env(&out, spank, "plane_size", "SLURM_DIST_PLANESIZE", 9);
    put_env(&out, spank, "nodelist", "SLURM_STEP_NODELIST", NODES_MAX);
    put_cores(&out, spank);
    put_env(&out, spank, "cpu_bind", "SLURM_CPU_BIND_TYPE", 64);
    put_env(&out, spank, "threads_per_core", "SLURM_THREADS_PER_CORE", 5);
    put_text(&out, "spec", step->text, ASP_SPEC_MAX);
    put_text(&out, "site_policy", step->settings.policy, 4095);
    put_env(&out, spank, "partition", "SLURM_JOB_PARTITION",
            NAME_MAX_BYTES - 1);
    put_env(&out, spank, "account", "SLURM_JOB_ACCOUNT", NAME_MAX_BYTES - 1);
    put_env(&out, spank, "qos", "SLURM_JOB_QOS", NAME_MAX_BYTES - 1);
    put_env(&out, spank, "user", "SLURM_JOB_USER", NAME_MAX_BYTES - 1);
    put_program(&out, spank);
    if (step->cpus.total)
        asp_strbuf_add(&out, "cpus_grown 1\n");
    put_text(&out, "prefix", ASPEN_PREFIX, 4095);
    asp_strbuf_add(&out, "timeout_ms %d\n", step->settings.agent_timeout_ms);
    asp_strbuf_add(&out, "end\n");
    return asp_strbuf_end(&out);
}
