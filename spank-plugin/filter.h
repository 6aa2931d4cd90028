/* SPDX-License-Identifier: BSD-3-Clause */
/* How srun, sbatch and salloc learn whether cli_filter.lua grew the request.
 *
 * Lua runs in the same process after the options are read, and can neither
 * set environment variables nor call us. So we leave it a file that only this
 * process sees: an anonymous memfd, named to Lua in ASPEN_FILTER as
 * /proc/self/fd/N. It writes one line into it, we read the line afterwards. */
#ifndef ASPEN_SPANK_PLUGIN_FILTER_H
#define ASPEN_SPANK_PLUGIN_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The canonical request and the report, from srun to the nodes. The prefix
 * SLURM is what survives every --export. */
#define ASPS_REQUEST_ENV "SLURM_ASPEN_REQUEST"
#define ASPS_REPORT_ENV  "SLURM_ASPEN_REPORT"

#define ASPS_FILTER_ENV "ASPEN_FILTER"

enum { ASPS_REFUSAL_MAX = 1024, ASPS_FACTS_MAX = 8, ASPS_FACT_MAX = 512 };

/* From an allocation that was grown to the sruns inside it; the name that
 * Slurm makes of spank_job_control_setenv(ASPS_GROWN_CONTROL). */
#define ASPS_GROWN_CONTROL "ASPEN_GROWN"
#define ASPS_GROWN_ENV     "SLURM_SPANK_" ASPS_GROWN_CONTROL

/* What a growth was. */
struct asps_grown {
    uint32_t users;  /* tasks that the user asked for */
    uint32_t ghosts; /* added on each node */
    uint32_t nodes;
    uint32_t tasks;    /* users + ghosts * nodes */
    uint32_t per_node; /* new --ntasks-per-node; 0: not set */
    uint32_t plane;    /* the user's, where it is wider now by the ghosts of a
                          node; 0: as the user has it */
};

/* The same for the CPUs of a task, which offload threads need one core more of:
 * from an allocation to its sruns, and from srun to the nodes. */
#define ASPS_CPUS_CONTROL "ASPEN_CPUS"
#define ASPS_HAD_CPUS_ENV "SLURM_SPANK_" ASPS_CPUS_CONTROL
#define ASPS_CPUS_ENV     "SLURM_ASPEN_CPUS"

/* From srun to the nodes: tasks were added for ghosts. Without ghosts they
 * would run the program, as ranks that nobody asked for. */
#define ASPS_ADDED_ENV "SLURM_ASPEN_ADDED"

struct asps_cpus {
    uint32_t user;  /* -c as the user gave it; 0: not given */
    uint32_t total; /* -c as Slurm has it; 0: as the user gave it */
};

/* What Lua needs to know. */
struct asps_filter_request {
    const char *command; /* the aspen command */
    const char *site_policy;
    const char *progress; /* options in force; "" when not given */
    const char *policy;
    const char *release; /* of the Slurm that runs, "24.11.5"; "" not known */
};

/* Make the file if there is none yet, and publish the request; NULL: Aspen is
 * not wanted. Failing is as if no filter were installed. */
void asps_filter_publish(const struct asps_filter_request *request);

/* Set variable to the file that this plugin was loaded from (mute_stderr.c). */
void asps_filter_name_plugin(const char *variable);

/* What Lua wrote. */
struct asps_filter_answer {
    bool is_grown;
    struct asps_grown grown; /* if it is */
    struct asps_cpus cpus;
    char refusal[ASPS_REFUSAL_MAX]; /* why the counts are impossible, or "" */
    int nfacts;                     /* about the job, which SPANK cannot see: */
    char facts[ASPS_FACTS_MAX][ASPS_FACT_MAX]; /* "--partition=NAME", ... */
};

/* Read what Lua wrote, close the file, and take back what was published. */
void asps_filter_read(struct asps_filter_answer *out_p);

/* "users=6 ghosts=1 nodes=2 tasks=8 per_node=0", and " plane=2" if it is set.
 * parse returns 0, or -1 with errno EINVAL (form, or numbers that do not add
 * up). */
int asps_grown_parse(const char *text, struct asps_grown *out_p);
int asps_grown_print(const struct asps_grown *grown, char *buf, size_t size);

/* "user=4 total=5", in the same way; *out_p is zeroed on failure. */
int asps_cpus_parse(const char *text, struct asps_cpus *out_p);
int asps_cpus_print(const struct asps_cpus *cpus, char *buf, size_t size);

#endif
