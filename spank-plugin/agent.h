/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent as slurmstepd's child: start it as the user, ask it once, and see
 * that it is gone at the end. */
#ifndef ASPEN_SPANK_PLUGIN_AGENT_H
#define ASPEN_SPANK_PLUGIN_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct asps_agent {
    pid_t pid;     /* 0: none */
    int pid_fd;    /* -1: a kernel without pidfd */
    int life_fd;   /* its stdin: it leaves when this closes */
    int answer_fd; /* its stdout */
    int hold_fd;   /* reading end of its stdin, so that no write can raise
                      SIGPIPE; closed once the request is written */
};

/* Who the agent is to be. */
struct asps_user {
    uid_t uid;
    gid_t gid;
    const gid_t *gids; /* supplementary groups, borrowed */
    int ngids;
};

#define ASPS_AGENT_NONE                                                        \
    {                                                                          \
        .pid_fd = -1, .life_fd = -1, .answer_fd = -1, .hold_fd = -1            \
    }

/* Fork and exec the agent as the user, for good.
 *   path     of the program
 *   agent_p  untouched on failure
 * Returns 0, or -1 with errno of pipe or fork. That exec failed shows only in
 * the missing answer. Leaves umask, directory, signals of the caller alone. */
int asps_agent_start(const char *path, const struct asps_user *user,
                     struct asps_agent *agent_p);

/* Write the request and read the answer, waiting at most timeout_ms in all.
 *   answer_p  owned by the caller, free(); untouched on failure
 *   why       on failure, what happened, for the user
 * Returns 0, or -1. The answer's length is what its header says, its contents
 * are not checked. */
int asps_agent_ask(struct asps_agent *agent, const char *request,
                   size_t request_bytes, int timeout_ms, void **answer_p,
                   size_t *answer_bytes_p, char *why, size_t why_bytes);

/* Has it ended? Does not wait. */
bool asps_agent_gone(struct asps_agent *agent);

/* Close its pipe, wait for it at most grace_ms, then kill it. Takes an agent
 * that was never started. */
void asps_agent_stop(struct asps_agent *agent, int grace_ms);

/* In a task, after fork: close the descriptors that are the parent's. */
void asps_agent_forget(struct asps_agent *agent);

#endif
