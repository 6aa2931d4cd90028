/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps that a processor or a port has to serve one after the other: when the
 * last of them can have ended. A part of bound.h. Private to common/coll. */
#ifndef ASPEN_COMMON_COLL_MODEL_BUSY_PERIOD_H
#define ASPEN_COMMON_COLL_MODEL_BUSY_PERIOD_H

#include "common/coll/schedule/nodes.h"
#include "common/coll/model/simulate.h"

enum asp_coll_mark_state { ASP_COLL_UNKNOWN, ASP_COLL_OPEN, ASP_COLL_KNOWN };

/* A step: when things happen to it at the earliest, in ps; all 0 until it is
 * KNOWN. */
struct asp_coll_mark {
    int64_t ready; /* it wants the processor */
    int64_t cpu;   /* that has done its part */
    int64_t port;  /* SEND: the port takes it up; RECV: its first byte comes */
    int64_t end;
    int64_t free[2]; /* SEND: the port inside, between, is free again */
    uint32_t before; /* a step that gets ready at the same time, and is first */
    uint32_t partner_visited, partner; /* of a RECV */
    uint32_t next;                     /* what it waits for: looked at so far */
    uint8_t state;                     /* enum asp_coll_mark_state */
    bool asked;                        /* for its partner */
};

/* A rank that was built. */
struct asp_coll_visited {
    uint32_t rank;
    struct asp_coll_schedule s;
    struct asp_coll_mark *marks; /* by step */
    int64_t shift; /* from the last RECV to its partner's place in its list */
};

struct asp_coll_item; /* private */

struct asp_coll_busy_periods {
    const struct asp_coll_machine *machine;
    const struct asp_coll_nodes *nodes;
    struct asp_coll_item *items; /* memory that is used again */
    uint32_t nitems, capacity;
};

/* Does a message of this rank go to another node? */
bool asp_coll_crosses(const struct asp_coll_busy_periods *busy, uint32_t rank,
                      const struct asp_coll_step *step);

const struct asp_coll_link *asp_coll_link_of(
    const struct asp_coll_busy_periods *busy, bool between);

/* What a step takes of the processor, ps. */
int64_t asp_coll_work(const struct asp_coll_busy_periods *busy, uint32_t rank,
                      const struct asp_coll_step *step);

/* When what a step needs can have ended, that a rank is done, and that all is
 * through the ports of a node, ps. Memory that is short makes it less. */
int64_t asp_coll_busy_needs(struct asp_coll_busy_periods *busy,
                            const struct asp_coll_visited *visited,
                            const struct asp_coll_step *step);
int64_t asp_coll_busy_rank(struct asp_coll_busy_periods *busy,
                           const struct asp_coll_visited *visited);
int64_t asp_coll_busy_node(struct asp_coll_busy_periods *busy,
                           const struct asp_coll_visited *visits,
                           uint32_t nvisits, uint32_t node);

void asp_coll_busy_destroy(struct asp_coll_busy_periods *busy);

#endif
