/* SPDX-License-Identifier: BSD-3-Clause */
/* aspen-task: one for each task of a job that `aspen run` started, in the place
 * of the program, which it becomes at the end; or a ghost. Runs as the user.
 *
 *   place (who am I) -> meet (the node's tasks) -> decide (the first of them)
 *     -> env, binding -> exec
 *
 * A ghost's task never runs the program, whatever goes wrong: it would be a
 * rank more than the user asked for, and change the program's answer. */
#ifndef ASPEN_TOOLS_TASK_TASK_H
#define ASPEN_TOOLS_TASK_TASK_H

#include "arguments.h"
#include "meet.h"
#include "place.h"

#include "common/base/request_spec.h"

#include <limits.h>
#include <stdbool.h>

struct aspt_task {
    struct aspt_task_arguments arguments;
    struct aspt_place place;
    struct asp_request_spec spec;
};

/* Is this task of the node a ghost? */
static inline bool aspt_task_is_ghost(const struct aspt_task *task)
{
    return task->place.local + task->spec.ghosts >= task->place.nlocal;
}

/* Say something once for the node, as "aspen: ...". tools/task/main.c. */
void aspt_task_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* In the first task of the node: plan, and make the board. Says on stderr what
 * the user should hear.
 *   meeting  that all came to; NULL: they did not, for the reason in why
 *   out_p    its text and board are the caller's
 * tools/task/decide.c. */
void aspt_task_decide(const struct aspt_task *task,
                      const struct aspt_meeting *meeting, const char *why,
                      struct aspt_decision *out_p);

/* The layout of mode off, for the record: roles and ranks. NULL with errno. */
char *aspt_task_observe(const struct aspt_task *task);

/* Set up this process and its environment for what it becomes.
 *   decision  ASPT_WITH_LAYOUT
 * Returns 0, or -1 with errno and err. tools/task/env.c. */
int aspt_task_enter(const struct aspt_task *task,
                    const struct aspt_decision *decision, struct asp_err *err);

/* The same for a program that runs without Aspen after all. */
void aspt_task_clear(void);

#endif
