/* SPDX-License-Identifier: BSD-3-Clause */
/* What slurmstepd knows about its step, from user_init to exit. Tasks inherit
 * a copy when they are forked. */
#ifndef ASPEN_SPANK_PLUGIN_STEP_H
#define ASPEN_SPANK_PLUGIN_STEP_H

#include "agent.h"
#include "answer.h"
#include "counts.h"
#include "filter.h"
#include "settings.h"
#include "common/base/request_spec.h"

#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>

enum asps_step_kind {
    ASPS_STEP_NONE,   /* Aspen has nothing to do here */
    ASPS_STEP_SCRIPT, /* a batch script or shell in a grown allocation */
    ASPS_STEP_TASKS,  /* srun asked for Aspen */
    ASPS_STEP_FAIL,   /* the tasks must not run; said why already */
};

enum { ASPS_REASON_MAX = 200 };

struct asps_step {
    enum asps_step_kind kind;
    struct asps_settings settings;
    struct asps_grown grown;     /* ASPS_STEP_SCRIPT */
    struct asps_cpus cpus;       /* also of a step */
    char text[ASP_SPEC_MAX + 1]; /* canonical request */
    struct asp_request_spec spec;
    uint32_t job, id; /* job.id names the step */
    char nodename[64];
    uint32_t nnodes, node;   /* of the step, index of this one */
    uint32_t ntasks, nlocal; /* of the step, of this node */
    uint32_t ranks_world[ASP_TASKS_MAX];
    uint32_t ranks_user[ASP_TASKS_MAX];
    bool has_ranks_user;
    int board_fd; /* -1: none (yet, or mode off) */
    struct asps_agent agent;
    void *answer_bytes;           /* owned; NULL: no answer */
    struct asps_answer answer;    /* valid with answer_bytes */
    char reason[ASPS_REASON_MAX]; /* why degraded; "" when not */
};

/* Local tasks from here on are ghosts. */
static inline uint32_t asps_step_users(const struct asps_step *step)
{
    return step->nlocal - step->spec.ghosts;
}

#endif
