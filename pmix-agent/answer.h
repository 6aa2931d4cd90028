/* SPDX-License-Identifier: BSD-3-Clause */
/* The answer: one framed block of bytes for the plugin, common/agent_wire.h.
 * The environment of a task is built first, then the task is added. */
#ifndef ASPEN_PMIX_AGENT_ANSWER_H
#define ASPEN_PMIX_AGENT_ANSWER_H

#include "common/agent_wire.h"
#include "common/base/cpuset.h"
#include "common/base/err.h"
#include "common/layout/layout.h"

#include <stddef.h>
#include <stdint.h>

/* NUL-terminated "NAME=value" strings, one after the other. */
struct aspa_env {
    char *bytes; /* owned */
    size_t used;
    size_t size;
};

struct aspa_answer {
    char *bytes; /* owned; starts with struct asp_answer */
    size_t used;
    size_t size;
    uint32_t ntasks;
    uint32_t shared_bytes;
};

/* Add NAME=value. Returns 0, or -1 with errno ENOMEM, EMSGSIZE (more than
 * ASP_ANSWER_ENV_MAX in all), EINVAL (no name). */
int aspa_env_add(struct aspa_env *env, const char *name, const char *value,
                 struct asp_err *err);

/* Empty it but keep its memory; aspa_env_clear() gives the memory back. */
void aspa_env_reset(struct aspa_env *env);
void aspa_env_clear(struct aspa_env *env);

/* What all tasks get; before the first of them.
 *   env   copied
 * Returns 0, or -1 with errno ENOMEM. */
int aspa_answer_share(struct aspa_answer *answer, const struct aspa_env *env,
                      struct asp_err *err);

/* Add the next local task.
 *   cpus  NULL: leave the task where Slurm put it
 *   env   copied
 * Returns 0, or -1 with errno ENOMEM, EMSGSIZE (more than ASP_ANSWER_MAX in
 * all); the answer is as before then. */
int aspa_answer_add(struct aspa_answer *answer, enum asp_role role,
                    const struct asp_cpuset *cpus, const struct aspa_env *env,
                    struct asp_err *err);

/* Write the header, now that all tasks are in. message is cut to fit, without
 * line ends. Returns 0, or -1 with errno ENOMEM. */
int aspa_answer_finish(struct aspa_answer *answer,
                       enum asp_answer_status status, const char *message,
                       struct asp_err *err);

/* Write it all to fd, waiting at most timeout_ms for a slow reader.
 * Returns 0, or -1 with errno ETIMEDOUT or write()'s. */
int aspa_answer_write(const struct aspa_answer *answer, int fd, int timeout_ms,
                      struct asp_err *err);

/* Drop all tasks and what they share: what is left can only say why. */
void aspa_answer_reset(struct aspa_answer *answer);
void aspa_answer_clear(struct aspa_answer *answer);

#endif
