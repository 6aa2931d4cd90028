/* SPDX-License-Identifier: BSD-3-Clause */
/* The request: what the plugin tells the agent about this node of the step.
 * Text form and keys: common/agent_wire.h. */
#ifndef ASPEN_PMIX_AGENT_REQUEST_H
#define ASPEN_PMIX_AGENT_REQUEST_H

#include "common/agent_wire.h"
#include "common/base/err.h"
#include "common/layout/layout.h"

#include <stddef.h>
#include <stdint.h>

/* Strings point into the text that was parsed, or to ""; none is NULL. */
struct aspa_request {
    char *text;      /* owned */
    const char *job; /* "12.0" */
    const char *nodename;
    const char *tasks_per_node; /* "3(x2),2", users and ghosts */
    const char *distribution;   /* as Slurm names it, "" = block */
    const char *nodelist;
    const char *step_cpus;        /* OS list; "" = not known */
    const char *step_cores;       /* Slurm's core numbers; "" = not known */
    const char *cpu_bind;         /* as Slurm names its kind; "" = not given */
    const char *threads_per_core; /* that the user wants; likewise */
    const char *spec;             /* canonical --async-progress text */
    const char *site_policy;      /* path; "" = built-in defaults */
    const char *partition;
    const char *account;
    const char *qos;
    const char *user;
    const char *program;
    uint32_t cpus_grown; /* 1: each task has a core more for offload */
    const char *prefix;
    uint32_t timeout_ms; /* how long the plugin waits; 0 = not known */
    uint32_t version;
    uint32_t uid;
    uint32_t nnodes;
    uint32_t node;   /* index of this node */
    uint32_t ntasks; /* of the step, users and ghosts */
    uint32_t nlocal; /* tasks of this node */
    uint32_t plane_size;
    uint32_t nranks;               /* == nlocal */
    uint32_t ranks[ASP_TASKS_MAX]; /* world rank of each local task */
};

/* Read a request from fd until its "end" line.
 *   timeout_ms  for the whole request
 *   text_p      owned by the caller, free(); NUL-terminated; untouched on
 *               failure
 * Returns 0, or -1 with errno EMSGSIZE (longer than ASP_REQUEST_MAX),
 * ETIMEDOUT, EPIPE (end of file before "end"), EINVAL (a NUL byte), or
 * read()'s.  Threads: reentrant. */
int aspa_request_read(int fd, int timeout_ms, char **text_p,
                      struct asp_err *err);

/* Parse a request. Every value is checked: the agent trusts the plugin no
 * more than it has to.
 *   text     owned by *out_p on success, by the caller on failure
 * Returns 0, or -1 with errno EINVAL (line named in err) or EPROTO (other
 * version).  Threads: reentrant. */
int aspa_request_parse(char *text, struct aspa_request *out_p,
                       struct asp_err *err);

/* Frees what the request owns; takes NULL. */
void aspa_request_clear(struct aspa_request *request);

#endif
