/* SPDX-License-Identifier: BSD-3-Clause */
/* Checking the agent's answer. The agent is the user's process: whatever it
 * says may be hostile, and slurmstepd is root. */
#ifndef ASPEN_SPANK_PLUGIN_ANSWER_H
#define ASPEN_SPANK_PLUGIN_ANSWER_H

#include "common/agent_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One task, borrowed from the answer's bytes. */
struct asps_answer_task {
    bool bind;
    uint64_t cpus[ASP_ANSWER_CPU_WORDS];
    const char *env; /* NAME=value strings, each NUL-terminated */
    size_t env_bytes;
    const char *shared; /* the same, of all tasks */
    size_t shared_bytes;
};

struct asps_answer {
    enum asp_answer_status status;
    char message[sizeof(((struct asp_answer *) NULL)->message)]; /* printable */
    uint32_t ntasks; /* that of the request, or 0: it says nothing of tasks */
    struct asps_answer_task *tasks; /* owned */
};

/* Check every count, length, role and name.
 *   bytes   borrowed; out_p points into it
 *   ntasks  local tasks; the last `ghosts` must be ghosts
 *   why     on failure, what is wrong
 * Returns 0, or -1 with errno EPROTO or ENOMEM; *out_p is untouched on
 * failure. Cost: O(bytes). */
int asps_answer_parse(const void *bytes, size_t len, uint32_t ntasks,
                      uint32_t ghosts, struct asps_answer *out_p, char *why,
                      size_t why_bytes);

void asps_answer_clear(struct asps_answer *answer);

/* Value of a variable that a task gets; NULL if it is not there. */
const char *asps_answer_getenv(const struct asps_answer_task *task,
                               const char *name);

#endif
