/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout: which task of this step does what, and on which CPUs. The plan
 * makes it, the agent publishes it, the runtime obeys it.
 *
 * A layout describes one node in full (its tasks and their CPUs) and the other
 * nodes as far as everybody needs them (which world ranks sit where, and how
 * many of them are ghosts). Ghosts are the last local tasks of each node, so
 * roles follow from the rank lists and ghosts_per_node alone.
 *
 * docs/design/layout.md explains the wire form. */
#ifndef ASPEN_COMMON_LAYOUT_LAYOUT_H
#define ASPEN_COMMON_LAYOUT_LAYOUT_H

#include "common/base/cpuset.h"
#include "common/base/err.h"
#include "common/base/knobs.h"
#include "common/base/limits.h"
#include "common/rules/objrule.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    ASP_LAYOUT_VERSION = 1,
    ASP_LAYOUT_TEXT_MAX = 96 * 1024, /* fits one environment string (128 KiB) */
};

enum asp_role { ASP_ROLE_USER, ASP_ROLE_GHOST };

/* One task of this node. */
struct asp_layout_task {
    uint32_t rank_world; /* Slurm's global task id = rank in MPI's world */
    uint32_t rank_user;  /* what the program sees; ghosts ASP_RANK_NONE */
    uint32_t ghost;      /* user: rank_world of its main ghost, else NONE */
    enum asp_role role;
    int numa;               /* logical NUMA domain, -1 unknown */
    int cpu_helper_os;      /* helper thread's CPU (offload), -1 none */
    struct asp_cpuset cpus; /* OS indexes; empty: not planned */
};

/* A node's world ranks, ascending; the last ghosts_per_node are ghosts. */
struct asp_layout_node {
    char name[ASP_NAME_MAX]; /* "" when not known */
    uint32_t ntasks;
    uint32_t *ranks_world; /* ntasks of them, owned */
};

struct asp_layout {
    uint32_t version;
    char job[ASP_NAME_MAX]; /* "1234.0" */
    enum asp_mode mode;
    uint32_t ghosts_per_node;
    bool bound;                 /* are the CPU sets enforced? */
    char reason[ASP_VALUE_MAX]; /* why not bound, or why degraded; "" */
    char policy_digest[ASP_NAME_MAX];
    uint32_t size_world; /* users + ghosts of the step */
    uint32_t nnodes;
    uint32_t node;                 /* index of this node, degraded or not */
    struct asp_layout_node *nodes; /* nnodes, owned; NULL when degraded */
    uint32_t ntasks;               /* tasks of this node */
    struct asp_layout_task *tasks; /* ntasks, by local task id, owned */
    struct asp_cpuset service;     /* service CPUs of this node (thread mode) */
    struct asp_knobs knobs;        /* as resolved */
    struct asp_objrules rules[ASP_OBJ_KINDS]; /* for single objects */
};

/* A degraded layout is what the plugin writes by itself when the agent is
 * lost: nodes == NULL, tasks carry roles only (ranks ASP_RANK_NONE), reason
 * says what happened; and in mode off, which has no agent. Roles must hold even
 * then: a ghost task that ran the user's program would change the program's
 * answer. */
static inline bool asp_layout_degraded(const struct asp_layout *layout)
{
    return layout->nodes == NULL;
}

/* Names as users write them: "ghost", "user". Return NULL / -1 if unknown. */
const char *asp_mode_name(enum asp_mode mode);
int asp_mode_parse(const char *text, enum asp_mode *out_p);
const char *asp_role_name(enum asp_role role);

/* Does each user get an offload thread: in mode offload, or beside ghosts? */
bool asp_layout_offloads(const struct asp_layout *layout);

/* Do ghosts carry the messages of some communicator, or may they: by the knob
 * p2p or a rule? Never beside offload threads. */
bool asp_layout_carries(const struct asp_layout *layout);

/* Has this task of this node CPUs on which no other of its tasks runs? */
bool asp_layout_alone(const struct asp_layout *layout, uint32_t rank_world);

/* Role of a world rank anywhere in the step, and the user rank of a user.
 * *rank_user_p may be NULL. Returns 0, or -1 with errno ENOENT (degraded
 * layout, or no such rank). Cost: O(size_world). */
int asp_layout_role(const struct asp_layout *layout, uint32_t rank_world,
                    enum asp_role *role_p, uint32_t *rank_user_p);

/* Encode to the text form. Returns its length (without the NUL), or -1 with
 * errno ENOSPC. Threads: reentrant. */
int asp_layout_encode(const struct asp_layout *layout, char *buf, size_t size,
                      struct asp_err *err);

/* Decode the text form; every field is checked, unknown fields are refused.
 * Installations may differ in their knobs: one that is not known is left out,
 * and one that is missing, or has a value that is none, has its default.
 *   out_p    owned by the caller, asp_layout_destroy(); untouched on failure
 * Returns 0, or -1 with errno EINVAL (text), EPROTO (other version), ENOMEM. */
int asp_layout_decode(const char *text, size_t len, struct asp_layout **out_p,
                      struct asp_err *err);

/* Takes NULL; keeps errno. */
void asp_layout_destroy(struct asp_layout *layout);

#endif
