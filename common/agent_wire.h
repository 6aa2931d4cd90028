/* SPDX-License-Identifier: BSD-3-Clause */
/* What passes between the plugin (root) and the agent (the job's user) over
 * two pipes. Header only, plain C: the plugin links nothing.
 *
 * Request (plugin -> agent's stdin): text, one "key value\n" per line, ended by
 * "end\n"; at most ASP_REQUEST_MAX bytes, so it fits a pipe and the writer
 * never waits. Keys: version, job, uid, nnodes, node (index), nodename, ntasks
 * (of the step), local (number of local tasks), ranks (global ids of the local
 * tasks, comma list), tasks_per_node ("3(x2),2", as Slurm writes it),
 * distribution, plane_size, nodelist, step_cpus (OS list, may be empty),
 * step_cores (Slurm's list of the step's cores, counted by socket then core;
 * may be absent), cpu_bind and threads_per_core (of Slurm's options of these
 * names, where they were given), spec (canonical request), site_policy (path),
 * partition, account, qos, user, program, cpus_grown, prefix, timeout_ms (how
 * long the plugin waits for the answer; may be absent).
 *
 * Answer (agent's stdout -> plugin): one struct asp_answer and shared_bytes of
 * NUL-terminated "NAME=value" strings for all tasks, then for each local task a
 * struct asp_answer_task and env_bytes of such strings for it alone. What is
 * the same in all of them, the layout above all, is there once, so that it fits
 * for any number of tasks. Host byte order: both ends run on one machine. The
 * reader checks every count and length before use and takes nothing beyond
 * ASP_ANSWER_MAX bytes. */
#ifndef ASPEN_COMMON_AGENT_WIRE_H
#define ASPEN_COMMON_AGENT_WIRE_H

#include <stdint.h>

#define ASP_ANSWER_MAGIC UINT32_C(0x41505341) /* "ASPA" */

enum {
    ASP_WIRE_VERSION = 2,
    ASP_REQUEST_MAX = 60 * 1024,
    ASP_ANSWER_MAX = 4 * 1024 * 1024,
    ASP_ANSWER_ENV_MAX = 256 * 1024, /* of one task, and shared */
    ASP_ANSWER_CPU_WORDS = 16,       /* 1024 CPUs, as struct asp_cpuset */
};

enum asp_answer_status {
    ASP_ANSWER_OK = 0,
    ASP_ANSWER_PLAIN = 1,  /* run without Aspen; message says why */
    ASP_ANSWER_REFUSE = 2, /* the request cannot be honoured and says require */
};

struct asp_answer {
    uint32_t magic;
    uint32_t version;
    uint32_t status;       /* enum asp_answer_status */
    uint32_t ntasks;       /* must equal the number of local tasks */
    uint32_t total_bytes;  /* of the whole answer, this header included */
    uint32_t shared_bytes; /* of the environment that all tasks get */
    char message[496];     /* for the user's stderr, NUL-terminated; "" */
};

struct asp_answer_task {
    uint32_t role; /* 0 user, 1 ghost */
    uint32_t bind; /* 1: apply cpus with sched_setaffinity */
    uint64_t cpus[ASP_ANSWER_CPU_WORDS];
    uint32_t env_bytes;
    uint32_t reserved; /* 0 */
};

#endif
