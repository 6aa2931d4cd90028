/* SPDX-License-Identifier: BSD-3-Clause */
/* Counting: what to ask Slurm for so that every node gets just G ghost tasks
 * more than the user's, every task a core more for its offload thread, or every
 * node cores more for progress threads. Pure functions; `aspen explain --extra`
 * feeds them and cli_filter.lua applies their result. docs/design/counting.md
 * has the cases.
 *
 * The users of each node are n over N, as even as can be; the ghosts are the
 * last tasks of each node. So a result is right only if every node gets its
 * users plus G, and where that cannot be had the answer is a refusal. */
#ifndef ASPEN_COMMON_EXPAND_EXPAND_H
#define ASPEN_COMMON_EXPAND_EXPAND_H

#include "common/base/err.h"
#include "common/base/limits.h"
#include "common/base/slurm_rules.h"

#include <stdbool.h>
#include <stdint.h>

enum asp_expand_dist {
    ASP_EXPAND_BLOCK, /* and whatever Slurm's default is */
    ASP_EXPAND_CYCLIC,
    ASP_EXPAND_PLANE,
    ASP_EXPAND_ARBITRARY,
};

/* A request as the user wrote it; 0 (or NULL) is "not given". */
struct asp_expand_request {
    uint32_t ghosts;    /* per node, 1..ASP_GHOSTS_MAX */
    uint32_t ntasks;    /* -n */
    uint32_t nodes_min; /* -N */
    uint32_t nodes_max;
    uint32_t nodelist_count; /* nodes named with -w */
    uint32_t ntasks_per_node;
    uint32_t cpus_per_task; /* -c */
    uint32_t node_cpus;     /* of a typical node, to guess -N */
    uint32_t max_cpus;      /* of the largest node */
    enum asp_expand_dist dist;
    uint32_t plane_size;
    bool overcommit;            /* CPUs are no limit */
    bool multi_prog;            /* a program per task id */
    bool stream_of;             /* stdin, stdout or stderr of one task id */
    bool container;             /* Slurm fixes what runs in it */
    bool per_device;            /* --ntasks-per-gpu and the like decide -n */
    bool device_each;           /* --gpus-per-task and the like */
    bool per_part;              /* --ntasks-per-socket, --ntasks-per-core */
    bool share;                 /* placement.share=yes */
    bool node_info;             /* so does -B without -n */
    uint32_t mincpus;           /* --mincpus */
    const uint32_t *alloc_cpus; /* by node of the allocation srun is in */
    uint32_t alloc_nnodes;
    /* What only asp_expand_cpus() asks for. */
    const uint32_t *part_cpus; /* by node of the partition */
    uint32_t part_nnodes;
    uint32_t threads;       /* CPUs of a core of these nodes */
    uint32_t threads_asked; /* --threads-per-core, --hint, -B */
    bool alloc_asked;       /* alloc_cpus counts only those threads */
    bool sibling;           /* placement.smt=use: a thread will do */
    bool srun;              /* not sbatch, salloc */
    bool exact;             /* srun --exact, --exclusive: CPUs are counted */
    bool whole_nodes;       /* the job gets all CPUs of its nodes */
    bool exclusive;         /* --exclusive, of a job: so it does, too */
    bool per_gpu;           /* --cpus-per-gpu decides -c */
    bool tres_cpus;         /* --tres-per-task does */
    bool no_plugin;         /* salloc and sbatch know no --async-progress */
    uint32_t service;       /* what asp_expand_service() adds, cores per node */
    uint32_t had_user;      /* what the allocation was grown from, */
    uint32_t had_total;     /* and to; 0: it was not */
    uint32_t slurm;         /* its release (common/base/slurm_rules.h) */
};

/* What to ask for instead; 0 is "leave it as it is". */
struct asp_expand_result {
    uint32_t users; /* tasks that the user gets */
    uint32_t nodes; /* always set: the number is fixed now */
    uint32_t tasks; /* users + ghosts * nodes; always set */
    uint32_t ntasks_per_node;
    uint32_t mincpus; /* CPUs that each node must have for us */
    uint32_t plane_size;
    bool narrowed; /* -N was a range, or a guess */
    bool block;    /* -m block instead of planes */
};

/* Returns 0, or -1 with errno EINVAL (absurd request) or ERANGE (impossible),
 * and the numbers and advice in err; *out_p is untouched then.
 * Threads: reentrant.  Cost: O(tasks), allocates O(nodes). */
int asp_expand_tasks(const struct asp_expand_request *request,
                     struct asp_expand_result *out_p, struct asp_err *err);

/* What to ask for so that each task has a core for its offload thread; 0 is
 * "leave it as it is". */
struct asp_expand_cpus {
    uint32_t cpus_per_task;
    uint32_t ntasks; /* set where -c would change Slurm's default */
    uint32_t nodes;
    uint32_t user;  /* -c as the user gave it; 0: not given */
    uint32_t total; /* and as the tasks have it; 0: the thread's core comes out
                       of what was asked for */
};

/* Nothing is refused: where there is no room for one core more, the thread
 * takes one of the user's. Threads: reentrant.  Cost: O(nodes). */
void asp_expand_cpus(const struct asp_expand_request *request,
                     struct asp_expand_cpus *out_p);

/* What to ask for so that each node has cores for its progress threads; 0 is
 * "leave it as it is". */
struct asp_expand_service {
    uint32_t mincpus;
    uint32_t nodes;
    uint32_t cpus_per_task; /* where --mincpus adds none */
    uint32_t ntasks;        /* with it: -c would change Slurm's default */
};

/* Nothing is refused: where nothing is added, the threads take a core that the
 * step has to spare, or share those of the ranks. Threads: reentrant.  Cost:
 * O(nodes). */
void asp_expand_service(const struct asp_expand_request *request,
                        struct asp_expand_service *out_p);

/* Number of names in a Slurm node list: "n[1-3,7],login" is 5.
 * Returns 0 with errno EINVAL when text is no such list or names more than
 * ASP_NODES_MAX. */
uint32_t asp_expand_nodelist_count(const char *text);

/* The whole of `aspen explain --extra WORD...`: each word is --key=value, an
 * option that the user gave Slurm, as cli_filter sees it (one that does not
 * change the counts is ignored), or key=value: one that stands in for an
 * option (ntasks, nodes, ...), or
 * spec (canonical request), alloc-cpus ("4(x2)"), part-cpus, node-cpus,
 * max-cpus, node-threads, whole-nodes, alloc-asked, type (srun, ...), had-cpus
 * (4+5), slurm (24.11.5), tres-env (tres-per-task is the environment's, not an
 * option), plugin (no). Writes lines for cli_filter.lua into buf:
 *     set OPTION VALUE      ask Slurm for this
 *     grown users=6 ghosts=1 nodes=2 tasks=8 per_node=4
 *     cpus user=4 total=5   each task has a core for its offload thread
 *     refuse TEXT           impossible; nothing is set
 * and nothing at all when no mode is asked for that wants CPUs.
 * Returns 0 also for a refusal, or -1 with errno EINVAL (a word that is not
 * understood), ENOSPC, ENOMEM. Threads: reentrant. */
int asp_expand_words(int nwords, const char *const words[], char *buf,
                     size_t size, struct asp_err *err);

#endif
