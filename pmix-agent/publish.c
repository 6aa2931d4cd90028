/* SPDX-License-Identifier: BSD-3-Clause */
/* Plan -> PMIx server -> answer. Called by main.c and explain.c. */
#include "config.h"

#include "publish.h"

#include "memory_limit.h"
#include "serve.h"
#include "tmpdir.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Written before the server starts, read by aspa_publish_abandon(). */
static char tmpdir_path[PATH_MAX];

/* Start the server in a directory that lives no longer than its start. */
static int start_server(const struct asp_node_plan *plan, const char *tmp_base,
                        struct asp_err *err)
{
    char path[PATH_MAX] = "";
    int rc;

    if (aspa_memory_limit(plan->layout, plan->text, err) < 0 ||
        aspa_tmpdir_make(tmp_base, plan->layout->job, plan->layout->node, path,
                         sizeof(path), err) < 0)
        return -1;
    memcpy(tmpdir_path, path, sizeof(path));
    rc = aspa_serve_start(plan->layout, plan->text, path, err);
    aspa_tmpdir_remove(path);
    tmpdir_path[0] = '\0';
    return rc;
}

void aspa_publish_abandon(void)
{
    if (tmpdir_path[0] != '\0')
        rmdir(tmpdir_path);
}

/* What the runtime needs to hand the layout to a server that started the step:
 * the program that does it. */
static int add_pmix_put(struct aspa_env *env, struct asp_err *err)
{
    char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 16);
    char *slash;

    if (len < 0)
        return asp_errf(err, errno, "/proc/self/exe: %m");
    path[len] = '\0';
    slash = strrchr(path, '/');
    if (slash != NULL)
        strcpy(slash + 1, "aspen-pmix-put");
    return aspa_env_add(env, "ASPEN_PICK", path, err);
}

/* What all tasks of the node get. */
static int add_shared(struct aspa_answer *answer, struct aspa_env *env,
                      const struct asp_node_plan *plan, bool pmix,
                      struct asp_err *err)
{
    if (aspa_env_add(env, "ASPEN_LAYOUT", plan->text, err) < 0)
        return -1;
    /* For the plugin, which decides what a task preloads. */
    if (plan->layout->knobs.heap == ASP_HEAP_SHARED &&
        aspa_env_add(env, "ASPEN_HEAP", "shared", err) < 0)
        return -1;
    if (pmix && add_pmix_put(env, err) < 0)
        return -1;
    return aspa_answer_share(answer, env, err);
}

static int add_task(struct aspa_answer *answer, struct aspa_env *env,
                    const struct asp_node_plan *plan, uint32_t p, bool pmix,
                    struct asp_err *err)
{
    const struct asp_layout_task *task = &plan->layout->tasks[p];
    bool bind = plan->layout->bound && asp_cpuset_count(&task->cpus) > 0;
    char local[16];

    aspa_env_reset(env);
    snprintf(local, sizeof(local), "%u", (unsigned) p);
    if (aspa_env_add(env, "ASPEN_LOCAL", local, err) < 0 ||
        aspa_env_add(env, "ASPEN_ROLE", asp_role_name(task->role), err) < 0)
        return -1;
    if (pmix && aspa_serve_env(p, env, err) < 0)
        return -1;
    return aspa_answer_add(answer, task->role, bind ? &task->cpus : NULL, env,
                           err);
}

static int add_tasks(struct aspa_answer *answer,
                     const struct asp_node_plan *plan, bool pmix,
                     struct asp_err *err)
{
    struct aspa_env env = {0};
    int rc;

    aspa_answer_reset(answer);
    rc = add_shared(answer, &env, plan, pmix, err);
    for (uint32_t p = 0; p < plan->layout->ntasks && rc == 0; p++)
        rc = add_task(answer, &env, plan, p, pmix, err);
    aspa_env_clear(&env);
    return rc;
}

/* Add a remark to the plan's own. */
static void remark(char *message, size_t size, const struct asp_node_plan *plan,
                   const char *text, const char *reason)
{
    snprintf(message, size, "%s%s%s: %.400s", plan->note,
             plan->note[0] != '\0' ? "; " : "", text, reason);
}

/* Without PMIx if the answer cannot take what leads to it. */
static int fill_answer(const struct asp_node_plan *plan, bool pmix,
                       char *message, size_t size, struct aspa_answer *answer,
                       struct asp_err *err)
{
    char reason[ASP_ERR_TEXT_MAX + ASP_ERR_PLACE_MAX];

    if (pmix) {
        if (add_tasks(answer, plan, true, err) == 0)
            return 0;
        remark(message, size, plan, "no PMIx keys on this node",
               asp_err_print(err, reason, sizeof(reason)));
    }
    return add_tasks(answer, plan, false, err);
}

int aspa_publish(const struct asp_node_plan *plan, const char *tmp_base,
                 struct aspa_answer *answer, struct asp_err *err)
{
    char message[2 * ASP_ERR_TEXT_MAX]; /* the wire cuts it to fit */
    char reason[ASP_ERR_TEXT_MAX + ASP_ERR_PLACE_MAX];
    bool pmix = tmp_base != NULL && plan->pmix;

    snprintf(message, sizeof(message), "%s", plan->note);
    if (pmix && start_server(plan, tmp_base, err) < 0) {
        pmix = false;
        remark(message, sizeof(message), plan, "no PMIx keys on this node",
               asp_err_print(err, reason, sizeof(reason)));
    }
    if (fill_answer(plan, pmix, message, sizeof(message), answer, err) < 0)
        return -1;
    return aspa_answer_finish(answer, ASP_ANSWER_OK, message, err);
}

int aspa_publish_failure(struct aspa_answer *answer, bool require,
                         const struct asp_err *why, struct asp_err *err)
{
    char reason[ASP_ERR_TEXT_MAX + ASP_ERR_PLACE_MAX];

    aspa_answer_reset(answer);
    return aspa_answer_finish(answer,
                              require ? ASP_ANSWER_REFUSE : ASP_ANSWER_PLAIN,
                              asp_err_print(why, reason, sizeof(reason)), err);
}
