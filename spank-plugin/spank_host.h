/* SPDX-License-Identifier: BSD-3-Clause */
/* A SPANK host for unit tests: what Slurm's functions do, on a step that the
 * test describes. Nothing here is installed. */
#ifndef ASPEN_SPANK_PLUGIN_SPANK_HOST_H
#define ASPEN_SPANK_PLUGIN_SPANK_HOST_H

#include <slurm/spank.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { HOST_ENV_MAX = 128, HOST_LOG_MAX = 16384, HOST_OPTIONS_MAX = 8 };

struct spank_host {
    enum spank_context context;
    uid_t uid;
    gid_t gid;
    gid_t gids[4];
    int ngids;
    uint32_t job, step, nnodes, node, ntasks, nlocal;
    uint32_t ranks[64];
    int task;                    /* S_TASK_ID */
    int exit_status;             /* S_TASK_EXIT_STATUS */
    char *argv[3];               /* S_JOB_ARGV: "./app", "argument" */
    char *env[HOST_ENV_MAX + 1]; /* owned strings */
    char *control[HOST_ENV_MAX + 1];
    char log[HOST_LOG_MAX]; /* everything logged, a line each */
    struct spank_option options[HOST_OPTIONS_MAX];
    int noptions;
    char release[16]; /* S_SLURM_VERSION */
};

/* The one host, whose functions the plugin calls. */
extern struct spank_host host;

/* Forget everything. */
void host_reset(void);

/* As Slurm does when task_init is over, if a hook put another program in place
 * of "./app": exec it. */
void host_exec(void);

void host_setenv(const char *name, const char *value);
const char *host_getenv(const char *name);
const char *host_control(const char *name);

/* Call a registered option's callback, as a command line does. */
int host_option(const char *name, const char *arg, int remote);

#endif
