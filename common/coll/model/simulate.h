/* SPDX-License-Identifier: BSD-3-Clause */
/* What a set of schedules costs on a machine: LogGP with two classes of links.
 * Integers of picoseconds, so that all ranks of a job compute the same; a time
 * that an int64_t does not hold is INT64_MAX, which is 106 days.
 *
 * A rank has a processor, which does one thing at a time in the order in which
 * things become ready (at once: by rank, then by step). Ready means: the needs
 * have ended, and for a RECV that the message is there; nothing waits for a
 * receiver. Of a message of n bytes between ranks of class c:
 *
 *   send      the processor is busy for o
 *   out port  then busy for g + n G, one message after the other; the last byte
 *             leaves, and the SEND ends, n G after the port took it up
 *   flight    the first byte is there L after the port took it up
 *   in port   then busy for g + n G in the same way; the message is there n G
 *             after that took it up
 *   receive   the processor is busy for o, then the RECV ends
 *
 * Inside a node each rank has ports of its own; the ports between nodes are
 * shared by the ranks of a node, since a network adapter is. COPY takes n times
 * copy, REDUCE n times reduce, of the processor.
 *
 * One message of n bytes so takes o + L + n G + o, as in LogGP (Alexandrov et
 * al., SPAA 1995), and k of them to k ranks of other nodes L + 2 o + (k - 1)
 * max(o, g + n G) + n G. */
#ifndef ASPEN_COMMON_COLL_MODEL_SIMULATE_H
#define ASPEN_COMMON_COLL_MODEL_SIMULATE_H

#include "common/coll/build/index.h"

#include <stdint.h>

/* Sum and product of times, which stay at INT64_MAX where they would be more:
 * constants of a table may be so large that what moves slowly ends never. */
static inline int64_t asp_coll_ps_add(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline int64_t asp_coll_ps_times(int64_t each, size_t n)
{
    int64_t product;

    return __builtin_mul_overflow(each, n, &product) ? INT64_MAX : product;
}

struct asp_coll_link {
    int64_t latency;  /* L, ps */
    int64_t overhead; /* o, ps, at each end */
    int64_t gap;      /* g, ps, between messages of a port */
    int64_t byte;     /* G, ps per byte */
};

struct asp_coll_machine {
    const char *name;
    const char *source; /* of the numbers */
    struct asp_coll_link inside, between;
    int64_t copy;   /* ps per byte */
    int64_t reduce; /* ps per byte */
};

/* The built-in sets; the last has no name. common/coll/model/machines.c. */
extern const struct asp_coll_machine asp_coll_machines[];

/* NULL with errno EINVAL when there is none of that name. */
const struct asp_coll_machine *asp_coll_machine_find(const char *name);

struct asp_coll_cost {
    int64_t time; /* ps, until the last rank has ended */
    uint64_t messages;
    uint64_t bytes;
    uint64_t messages_between; /* those between nodes */
    uint64_t bytes_between;
    uint32_t rounds; /* messages in the longest chain of messages */
};

/* Do two sets of schedules send alike: as many messages and bytes, inside nodes
 * and between them, in as many rounds? */
static inline bool asp_coll_sends_alike(const struct asp_coll_cost *a,
                                        const struct asp_coll_cost *b)
{
    return a->messages == b->messages && a->bytes == b->bytes &&
           a->messages_between == b->messages_between &&
           a->bytes_between == b->bytes_between && a->rounds == b->rounds;
}

/* Steps of all ranks together that are simulated: 2^24 need 2 GiB. */
#define ASP_COLL_SIMULATE_STEPS (UINT64_C(1) << 24)

/* Simulate the schedules of all ranks, which begin at 0.
 *   node   node[rank], below ranks; NULL: all on one
 *   limit  ps; errno ETIME when it takes longer
 * Returns 0, or -1 with errno ENOMEM, ETIME, EDEADLK (some step never got
 * ready), E2BIG (more than ASP_COLL_SIMULATE_STEPS). Threads: reentrant.  Cost:
 * O(steps log steps), about 0.2 us a step. */
int asp_coll_simulate(const struct asp_coll_machine *machine,
                      const uint32_t *node, uint32_t ranks,
                      const struct asp_coll_schedule *schedules, int64_t limit,
                      struct asp_coll_cost *cost_p);

/* Build and simulate a configuration. alltoallv, and other problems that differ
 * between ranks: nproblems = ranks. Errors are also those of asp_coll_build().
 */
int asp_coll_predict(const struct asp_coll_machine *machine,
                     const struct asp_coll_config *config,
                     const struct asp_coll_problem *problems,
                     uint32_t nproblems, struct asp_coll_cost *cost_p,
                     struct asp_err *err);

/* The same, given up early.
 *   limit      ps; errno ETIME when the configuration takes longer
 *   max_steps  of all ranks; errno E2BIG when there are more */
int asp_coll_predict_within(const struct asp_coll_machine *machine,
                            const struct asp_coll_config *config,
                            const struct asp_coll_problem *problems,
                            uint32_t nproblems, int64_t limit,
                            uint64_t max_steps, struct asp_coll_cost *cost_p,
                            struct asp_err *err);

#endif
