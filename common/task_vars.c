/* SPDX-License-Identifier: BSD-3-Clause */
/* Rewrites the variables of a table; see task_vars.h. Called in tasks, as the
 * user. */
#include "task_vars.h"

#include "common/base/limits.h"
#include "common/base/strbuf.h"
#include "common/base/taskmap.h"
#include "common/base/tres.h"
#include "common/base/words.h"
#include "common/board.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 16384, TRES_MAX = 1024 };

enum kind {
    USERS,      /* tasks of the step */
    USERS_HERE, /* of this node */
    PER_NODE,   /* "4" */
    EACH_NODE,  /* "4(x2)" */
    RANK,       /* of this task */
    RANKS_HERE, /* of the node's tasks, "0,1" */
};

static const struct variable {
    const char *name;
    enum kind kind;
    bool slurm; /* set by Slurm, else by MPICH's mpiexec */
} variables[] = {
    {"SLURM_NTASKS", USERS, true},
    {"SLURM_NPROCS", USERS, true},
    {"SLURM_STEP_NUM_TASKS", USERS, true},
    {"SLURM_TASKS_PER_NODE", EACH_NODE, true},
    {"SLURM_STEP_TASKS_PER_NODE", EACH_NODE, true},
    {"SLURM_NTASKS_PER_NODE", PER_NODE, true},
    {"SLURM_PROCID", RANK, true},
    {"SLURM_GTIDS", RANKS_HERE, true},
    {"MPI_LOCALNRANKS", USERS_HERE, false},
};

void asp_task_vars_number(const struct asp_environment *env, const char *name,
                          uint32_t value)
{
    char text[16];

    snprintf(text, sizeof(text), "%" PRIu32, value);
    env->set(env->owner, name, text);
}

/* The value for users in the place of old, into buf. Returns whether there is
 * one. */
static bool count_users(const struct asp_task_counts *counts, enum kind kind,
                        const char *old, char buf[LIST_MAX])
{
    uint32_t users = counts->nlocal - counts->ghosts, per_node;
    struct asp_strbuf text = asp_strbuf_on(buf, LIST_MAX);

    switch (kind) {
    case USERS:
        asp_strbuf_add(&text, "%" PRIu32,
                       counts->ntasks - counts->ghosts * counts->nnodes);
        return true;
    case USERS_HERE:
        asp_strbuf_add(&text, "%" PRIu32, users);
        return true;
    case PER_NODE:
        if (asp_parse_number(old, ASP_RANKS_MAX, &per_node) < 0 ||
            per_node <= counts->ghosts)
            return false;
        asp_strbuf_add(&text, "%" PRIu32, per_node - counts->ghosts);
        return true;
    case EACH_NODE:
        return asp_counts_less(old, counts->ghosts, buf, LIST_MAX) > 0;
    case RANK:
        if (counts->ranks_user)
            asp_strbuf_add(&text, "%" PRIu32,
                           counts->ranks_user[counts->local]);
        break;
    case RANKS_HERE:
        for (uint32_t i = 0; counts->ranks_user && i < users; i++)
            asp_strbuf_add(&text, "%s%" PRIu32, i ? "," : "",
                           counts->ranks_user[i]);
        break;
    }
    return text.len > 0 && !text.cut;
}

void asp_task_vars_renumber(const struct asp_environment *env,
                            const struct asp_task_counts *counts, bool slurm)
{
    char *old = malloc(LIST_MAX), *new = malloc(LIST_MAX);

    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const struct variable *variable = &variables[i];
        char kept[64];

        if (!old || !new || variable->slurm != slurm ||
            !env->get(env->owner, variable->name, old, LIST_MAX) ||
            !count_users(counts, variable->kind, old, new))
            continue;
        snprintf(kept, sizeof(kept), "ASPEN_%s",
                 strchr(variable->name, '_') + 1);
        env->set(env->owner, kept, old);
        env->set(env->owner, variable->name, new);
    }
    free(old);
    free(new);
}

/* The same of what Slurm also writes -c into, from 23.11 on. */
static void count_tres(const struct asp_environment *env, uint32_t user,
                       uint32_t total)
{
    static const char name[] = "SLURM_TRES_PER_TASK";
    char old[TRES_MAX], new[TRES_MAX];
    bool others;

    if (!env->get(env->owner, name, old, sizeof(old)) ||
        asp_tres_cpus(old, &others) != total ||
        asp_tres_set_cpus(old, user, new, sizeof(new)) < 0)
        return;
    if (new[0] != '\0')
        env->set(env->owner, name, new);
    else
        env->unset(env->owner, name);
}

bool asp_task_vars_cpus(const struct asp_environment *env, uint32_t user,
                        uint32_t total)
{
    static const char name[] = "SLURM_CPUS_PER_TASK";
    uint32_t said;
    char text[64];

    if (total == 0 || !env->get(env->owner, name, text, sizeof(text)) ||
        asp_parse_number(text, ASP_RANKS_MAX, &said) < 0 || said != total)
        return false;
    count_tres(env, user, total);
    if (user)
        asp_task_vars_number(env, name, user);
    else
        env->unset(env->owner, name);
    return true;
}

bool asp_is_of_loader(const char *variable)
{
    if (asp_after(variable, "LD_LIBRARY_PATH="))
        return false;
    return asp_after(variable, "LD_") ||
           asp_after(variable, "GLIBC_TUNABLES=") ||
           asp_after(variable, "MALLOC_");
}

void asp_task_vars_clear(const struct asp_environment *env)
{
    static const char *const ours[] = {"ASPEN_LAYOUT", "ASPEN_ROLE",
                                       "ASPEN_LOCAL", ASP_BOARD_FD_ENV};

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        env->unset(env->owner, ours[i]);
}
