/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts as hydra reads them, and its assignment of ranks to them: each host
 * gets as many ranks as it has cores, and when all are full, again. Ghosts are
 * the last ranks of each host, so hydra is told an assignment that has them
 * there. */
#ifndef ASPEN_TOOLS_RUN_HOSTS_H
#define ASPEN_TOOLS_RUN_HOSTS_H

#include "common/base/err.h"
#include "common/layout/layout.h"

#include <stdbool.h>
#include <stdint.h>

struct aspt_host {
    char name[ASP_NAME_MAX];
    uint32_t cores; /* ranks per turn, 1 or more */
};

struct aspt_hosts {
    struct aspt_host *list; /* owned */
    uint32_t n;
};

/* Add those of "a:2,b". Returns 0, or -1 with errno EINVAL, ENOMEM. */
int aspt_hosts_add_list(struct aspt_hosts *hosts, const char *text,
                        struct asp_err *err);

/* Add those of a host file: a host, or "host:2", on each line; "#" begins a
 * comment. Other settings of a host are refused: they could not be passed on.
 * Returns 0, or -1 with errno EINVAL, or that of fopen(). */
int aspt_hosts_add_file(struct aspt_hosts *hosts, const char *path,
                        struct asp_err *err);

/* Add those of a Slurm allocation.
 *   names   "n[1-2]"
 *   counts  tasks of each, "4(x2)" */
int aspt_hosts_add_slurm(struct aspt_hosts *hosts, const char *names,
                         const char *counts, struct asp_err *err);

/* Cores of all, as hydra starts that many ranks without -n. */
uint32_t aspt_hosts_cores(const struct aspt_hosts *hosts);

/* Does a host stand at two places, so that hydra starts two proxies on it, and
 * its ranks are those of two nodes? */
bool aspt_hosts_twice(const struct aspt_hosts *hosts);

void aspt_hosts_clear(struct aspt_hosts *hosts);

/* An assignment. Texts are in the forms of Slurm, for common/plan/step_ranks.h.
 */
struct aspt_assignment {
    uint32_t nnodes;
    uint32_t users_most; /* of the fullest node */
    uint32_t ntasks;
    bool moved;   /* users come to other hosts than without ghosts */
    char *counts; /* "4(x2),3", ghosts included; owned */
    char distribution[24];
    char *names; /* "a,b"; owned */
    char *hosts; /* for -hosts: "a:4,b:3"; owned */
};

/* Deal users and ghosts.
 *   users   ranks of the program, 1 or more
 *   ghosts  for each host that gets a user
 *   out_p   aspt_assignment_clear() by the caller
 * Returns 0, or -1 with errno EINVAL (too many), ENOMEM. */
int aspt_hosts_deal(const struct aspt_hosts *hosts, uint32_t users,
                    uint32_t ghosts, struct aspt_assignment *out_p,
                    struct asp_err *err);

void aspt_assignment_clear(struct aspt_assignment *assignment);

/* How many ranks each part of an MPMD command starts, so that it has its users:
 * a ghost belongs to the part of the rank before it.
 *   users   of each part; their sum is that of the assignment
 *   ranks   out: as many numbers
 * Returns 0, or -1 with errno. */
int aspt_assignment_split(const struct aspt_assignment *assignment,
                          uint32_t ghosts, const uint32_t *users,
                          uint32_t nparts, uint32_t *ranks,
                          struct asp_err *err);

#endif
