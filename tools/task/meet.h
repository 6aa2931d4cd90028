/* SPDX-License-Identifier: BSD-3-Clause */
/* The tasks of a node come together, once, before the program starts. They have
 * no parent of ours in common, so the first of them leads: the others tell it
 * their CPUs, and get what was decided, with the board (common/board.h).
 *
 *   leader     bind ------ gather: all, or time is up --- decide --- answer
 *                            ^                                          |
 *   follower   connect --- hello (local id, CPUs) --- wait ----------- act
 *
 * The meeting place is a socket in the abstract namespace, named by the user,
 * the launcher's process on this node (the parent of all of them) and its start
 * (names.h): it is gone with its last process, whatever ends it. Both sides ask
 * the kernel whose process the other is, and believe none but the user's own.
 */
#ifndef ASPEN_TOOLS_TASK_MEET_H
#define ASPEN_TOOLS_TASK_MEET_H

#include "common/base/cpuset.h"
#include "common/base/err.h"
#include "common/base/limits.h"

#include <stdint.h>

/* What the tasks of the node are to do. */
enum aspt_outcome {
    ASPT_WITH_LAYOUT, /* roles, and the text is the layout */
    ASPT_PLAIN,       /* the program runs without Aspen */
    ASPT_GIVE_UP,     /* the step fails; it has been said why */
};

struct aspt_decision {
    enum aspt_outcome verdict;
    char *text; /* the layout; owned; NULL: none */
    int board;  /* descriptor, close-on-exec; -1: none */
};

/* How long tasks of one node may start after each other, in milliseconds. Slow
 * file systems and full machines take seconds; a task that comes later than
 * this has failed. The others wait a little longer for the leader. */
enum { ASPT_GATHER_MS = 60000, ASPT_FOLLOW_MS = 75000 };

/* The leader's end. */
struct aspt_meeting {
    int socket;
    uint32_t nlocal;
    int *guests;            /* by local id; -1: none; owned */
    struct asp_cpuset cpus; /* of all tasks that came, the leader's included */
};

/* Wait for the other tasks of this node.
 *   meeting  aspt_meet_close() by the caller, also after failure
 *   cpus     the leader's own
 * Returns 0, or -1 with errno ETIMEDOUT (and how many came in err), ENOMEM, or
 * that of aspt_names_listen(). */
int aspt_meet_gather(struct aspt_meeting *meeting, uint32_t nlocal,
                     const struct asp_cpuset *cpus, int timeout_ms,
                     struct asp_err *err);

/* Tell all that came. Who is gone again is left out. */
void aspt_meet_answer(const struct aspt_meeting *meeting,
                      const struct aspt_decision *decision);

/* Close everything; followers without an answer see that. */
void aspt_meet_close(struct aspt_meeting *meeting);

/* A follower: say hello and wait for the decision, which is the caller's then.
 * Returns 0, or -1 with errno ETIMEDOUT, ECONNRESET (the leader is gone),
 * EPROTO, ENOMEM. */
int aspt_meet_follow(uint32_t local, const struct asp_cpuset *cpus,
                     int timeout_ms, struct aspt_decision *out_p,
                     struct asp_err *err);

#endif
